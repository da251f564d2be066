//! Drives the guard as the proxy does: calls come, answers come back, people change things.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on should say where")]

mod counting;
mod driver;
mod exemptions;
mod exempts;
mod kill_switch;
mod memory;
mod model_check;
mod naive;
mod policies;
mod races;
mod restart;
mod retry_after;
mod scenarios;
