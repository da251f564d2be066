//! The commands about certificates.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The arguments of `tls`.
#[derive(Debug, Args)]
pub struct TlsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: TlsCommand,
}

/// What can be done about certificates.
#[derive(Debug, Subcommand)]
pub enum TlsCommand {
    /// Create a local authority, a certificate for the server and one for an agent, for trying TLS
    /// on this machine
    Dev(TlsDevArgs),
}

/// The arguments of `tls dev`.
#[derive(Debug, Args)]
pub struct TlsDevArgs {
    /// Another name or address of the server, beside those of this machine (repeatable)
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Where to put the files [default: tls in the data directory]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The server's data directory [env: AGENTGAZER_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The server's configuration file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
