//! The arguments of commands about agent keys and groups.

use clap::{Args, Subcommand};

use super::ServerArgs;

/// The arguments of `keys`.
#[derive(Debug, Args)]
pub struct KeysArgs {
    /// What to do; without it, the keys are listed.
    #[command(subcommand)]
    pub command: Option<KeysCommand>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What `keys` can do.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// List the agent keys
    List(ServerArgs),
    /// Make an agent key and print it, once
    Create(CreateKeyArgs),
    /// Revoke an agent key: the next call with it is refused
    Revoke(RevokeKeyArgs),
}

/// The arguments of `keys create`.
#[derive(Debug, Args)]
pub struct CreateKeyArgs {
    /// The agent that its holder is, or a pattern such as bot-* or team-a/* (/ stands for . : or @)
    pub agent: String,
    /// A name for people
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// It is refused from the end of this day (UTC) on, like 2026-12-24, or from this time on (RFC
    /// 3339)
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `keys revoke`.
#[derive(Debug, Args)]
pub struct RevokeKeyArgs {
    /// The key's id, as `keys` lists it
    pub id: String,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}
