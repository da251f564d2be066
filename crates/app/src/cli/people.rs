//! The commands about people: users, API tokens and the audit log.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::ServerArgs;

/// A role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum RoleArg {
    Viewer,
    Operator,
    Admin,
}

/// The arguments of `users`.
#[derive(Debug, Args)]
pub struct UsersArgs {
    /// What to do; without it, users are listed.
    #[command(subcommand)]
    pub command: Option<UsersCommand>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What can be done with users.
#[derive(Debug, Subcommand)]
pub enum UsersCommand {
    /// List the users
    List(ServerArgs),
    /// Add a user; without --password-stdin a password is generated and printed once
    Add {
        /// The name to log in with
        name: String,
        /// What the user may do
        #[arg(long)]
        role: RoleArg,
        /// Limit an operator to a group of agents; may be repeated
        #[arg(long = "group", value_name = "GROUP")]
        groups: Vec<String>,
        /// Read the password from the standard input
        #[arg(long)]
        password_stdin: bool,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Change a user's role or password; either ends the user's sessions
    Change {
        /// The user, by name or id
        user: String,
        /// What the user may do
        #[arg(long)]
        role: Option<RoleArg>,
        /// Limit an operator to a group of agents; may be repeated
        #[arg(long = "group", value_name = "GROUP", conflicts_with = "all_agents")]
        groups: Vec<String>,
        /// Remove the limit to groups
        #[arg(long)]
        all_agents: bool,
        /// Read a new password from the standard input
        #[arg(long, conflicts_with = "new_password")]
        password_stdin: bool,
        /// Generate a new password and print it once
        #[arg(long)]
        new_password: bool,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Delete a user and end the user's sessions
    Delete {
        /// The user, by name or id
        user: String,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// The arguments of `tokens`.
#[derive(Debug, Args)]
pub struct TokensArgs {
    /// What to do; without it, API tokens are listed.
    #[command(subcommand)]
    pub command: Option<TokensCommand>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What can be done with API tokens.
#[derive(Debug, Subcommand)]
pub enum TokensCommand {
    /// List the API tokens
    List(ServerArgs),
    /// Create an API token and print it once
    Create {
        /// What the token is for
        name: String,
        /// The role it grants
        #[arg(long)]
        role: RoleArg,
        /// Limit an operator to a group of agents; may be repeated
        #[arg(long = "group", value_name = "GROUP")]
        groups: Vec<String>,
        /// When it expires: the end of a day (UTC), like 2026-12-24, or a time (RFC 3339)
        #[arg(long, visible_alias = "expires", value_name = "WHEN")]
        until: Option<String>,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Revoke an API token: it is refused from the next request on
    Revoke {
        /// The token, by name or id
        #[arg(value_name = "TOKEN")]
        which: String,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// The arguments of `audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// What to do; without it, the newest rows are listed.
    #[command(subcommand)]
    pub command: Option<AuditCommand>,
    /// Only by actors whose name contains this
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
    /// Only actions that begin with this, like agent. or agent.activate
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// Only targets that contain this, like agent:import-fixer
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Commands on the audit log in the data directory, which also work while the server runs.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that no row was changed, removed or inserted
    Verify {
        /// The head that an earlier check printed: finds a log that was emptied or replaced by an
        /// older copy
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// The data directory.
        #[command(flatten)]
        place: AuditFileArgs,
    },
    /// Write all rows as JSON lines, oldest first
    Export(AuditFileArgs),
}

/// The data directory of the audit log.
#[derive(Debug, Args)]
pub struct AuditFileArgs {
    /// The server's data directory [env: AGENTGAZER_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The server's configuration file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
