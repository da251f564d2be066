//! The commands of the binary.

mod cli;
mod cli_changes;
mod demo;
mod export;
mod replay;
