//! The real binary over real sockets, against the built-in provider.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod agent_keys;
mod agent_tokens;
mod alerts;
mod behind_proxy;
mod cli;
mod cli_changes;
mod costs;
mod crash;
mod dashboard_flood;
mod demo;
mod export;
mod faults;
mod groups;
mod guesses;
mod half_close;
mod hostile;
mod kill_path;
mod lost_database;
mod panics;
mod people;
mod policies;
mod postgres;
#[path = "../../../store/tests/contract/postgres_server.rs"]
mod postgres_server;
mod replay;
mod restart;
mod restart_under_load;
mod scenarios;
mod settings;
mod start;
mod stream_memory;
#[allow(dead_code, reason = "shared with the browser tests, which use the rest of it")]
mod support;
mod tls;
