//! The dashboard in a real browser, over the real binary with real traffic. Needs Debian's chromium
//! and chromium-driver.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod access;
mod agents;
mod appearance;
mod driver;
mod journeys;
mod keyboard;
mod scene;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the integration tests, which use all of it")]
mod support;
