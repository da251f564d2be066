//! The program `agentgazer`: command line, configuration, wiring, the built-in provider and the
//! demo. All rules live in the crates it puts together.

pub mod allocator;
pub mod cli;
mod client;
mod clock_watch;
pub mod commands;
pub mod config;
mod data_dir;
mod demo;
mod evidence_keeper;
pub mod exit;
mod jwt;
mod key_uses;
mod listen;
mod listeners;
mod log;
mod policy_text;
mod recorded_body;
mod recording;
mod replay;
mod server;
mod signals;
mod text;
mod tls;

#[doc(hidden)]
pub use replay::check_replay_line;
pub use server::Server;
