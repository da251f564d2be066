//! Drives the proxy over real sockets, against a scripted provider.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may")]
#![allow(unreachable_pub, reason = "nothing of a test binary is reachable")]

mod access;
mod accounting;
mod content;
mod kills;
mod limits;
mod support;
mod transport;

use support::{provider, test_proxy};
