//! The program `agentgazer`: command line, configuration, wiring, the built-in provider and the
//! demo. All rules are in the other crates.

mod agent_tokens;
pub mod allocator;
mod atomic_file;
pub mod cli;
mod client;
pub mod commands;
pub mod config;
mod data_dir;
mod demo;
mod drill;
pub mod exit;
mod listen;
mod log;
mod policy_text;
mod print;
mod replay;
mod runtime;
mod server;
mod signals;
mod text;
mod tls;

#[doc(hidden)]
pub use replay::check_replay_line;
pub use server::Server;
