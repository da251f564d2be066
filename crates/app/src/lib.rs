//! The program `agentgazer`: command line, configuration, wiring, the built-in provider and the
//! demo. All rules are in the other crates.

mod agent_tokens;
pub mod allocator;
pub mod cli;
mod client;
pub mod commands;
pub mod config;
mod data_dir;
mod demo;
pub mod exit;
mod listen;
mod log;
mod policy_text;
mod replay;
mod server;
mod signals;
mod text;
mod tls;

#[doc(hidden)]
pub use replay::check_replay_line;
pub use server::Server;
