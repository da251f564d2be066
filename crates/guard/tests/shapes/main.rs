//! Loops that people reported and look-alikes that detectors stopped by mistake, as the requests of
//! a client: real bodies, read by `wire`, judged with the default settings.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on should say where")]

mod asides;
mod batches;
mod client;
mod disguised;
mod healthy;
mod looks;
mod loops;
mod outcomes;
mod reworded;
mod tries;
mod visitors;
mod written;
