//! The real binary over real sockets, against the built-in provider.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod access;
mod agents;
mod cluster;
mod cluster_faults;
mod commands;
mod connections;
mod database;
mod lifecycle;
#[path = "../../../share/tests/contract/redis_server.rs"]
mod redis_server;
#[allow(dead_code, reason = "shared with the browser tests, which use the rest of it")]
mod support;

pub(crate) use database::faults;
pub(crate) use support::postgres_server;
