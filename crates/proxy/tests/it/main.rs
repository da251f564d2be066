//! Drives the proxy over real sockets, against a scripted provider.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may")]
#![allow(unreachable_pub, reason = "nothing of a test binary is reachable")]

mod accounting;
mod agent_keys;
mod client_forms;
mod costs;
mod faults;
mod formats;
mod framing;
mod groups;
mod identity;
mod kills;
mod pages;
mod policies;
mod provider;
mod provider_errors;
mod reading;
mod refusals;
mod rig;
