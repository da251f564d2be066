//! The dashboard in a real browser, over the real binary with real traffic. Needs Debian's chromium
//! and chromium-driver.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod agent_access;
mod agent_page;
mod axe;
mod connection;
mod default_policy;
mod driver;
mod evidence;
mod false_alarm;
mod finding;
mod foreign_page;
mod getting_in;
mod headline;
mod hostile;
mod journey;
mod keyboard;
mod layout;
mod looks;
mod people;
mod policy;
mod scene;
mod screenshots;
mod start;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the integration tests, which use all of it")]
mod support;
mod telling;
mod weight;
mod what_if;
