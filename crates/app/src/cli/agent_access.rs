//! The arguments of commands about agent keys and groups.

use clap::{Args, Subcommand};

use super::{OnOff, ServerArgs};

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
    /// Create an agent key and print it once
    Create(CreateKeyArgs),
    /// Revoke an agent key: the next call with it is refused
    Revoke(RevokeKeyArgs),
}

/// The arguments of `keys create`.
#[derive(Debug, Args)]
pub struct CreateKeyArgs {
    /// The agent it authenticates, or a pattern such as bot-* or team-a/* (/ stands for . : or @)
    pub agent: String,
    /// A display name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// When it expires: the end of a day (UTC), like 2026-12-24, or a time (RFC 3339)
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

/// The arguments of `labels`.
#[derive(Debug, Args)]
pub struct LabelsArgs {
    /// The agent
    pub agent: String,
    /// Its new labels, which replace the old ones; without any, its labels are shown
    #[arg(value_name = "LABEL", conflicts_with = "none")]
    pub labels: Vec<String>,
    /// Remove all its labels
    #[arg(long)]
    pub none: bool,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `groups`.
#[derive(Debug, Args)]
pub struct GroupsArgs {
    /// What to do; without it, the groups are listed.
    #[command(subcommand)]
    pub command: Option<GroupsCommand>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What `groups` can do.
#[derive(Debug, Subcommand)]
pub enum GroupsCommand {
    /// List the groups
    List(ServerArgs),
    /// Add or change a group; settings that are not given stay as they are
    Set(SetGroupArgs),
    /// Delete a group; its agents stay as they are
    Delete(GroupArgs),
    /// Refuse the calls of all agents of a group, also of new ones, until the group is activated
    Stop(SwitchGroupArgs),
    /// Let the calls of all agents of a group through again
    Activate(SwitchGroupArgs),
}

/// The arguments of `groups set`.
#[derive(Debug, Args)]
pub struct SetGroupArgs {
    /// The group
    pub name: String,
    /// An agent of the group, or a pattern such as team-a/* (repeatable)
    #[arg(long = "agent", value_name = "PATTERN")]
    pub agents: Vec<String>,
    /// Agents with this label are in the group (repeatable)
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// What its agents may spend together in a day, in US dollars
    #[arg(long, value_name = "USD")]
    pub budget_daily: Option<f64>,
    /// What its agents may spend together in a week
    #[arg(long, value_name = "USD")]
    pub budget_weekly: Option<f64>,
    /// What its agents may spend together in a month
    #[arg(long, value_name = "USD")]
    pub budget_monthly: Option<f64>,
    /// How often its agents may call together in a minute
    #[arg(long, value_name = "CALLS")]
    pub requests_per_minute: Option<u64>,
    /// Whether the kill switch of new agents of the group is on
    #[arg(long, value_name = "ON|OFF")]
    pub kill_switch: Option<OnOff>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `groups stop` and `groups activate`.
#[derive(Debug, Args)]
pub struct SwitchGroupArgs {
    /// The group
    pub name: String,
    /// Why, for the audit log
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// A group and the server that knows it.
#[derive(Debug, Args)]
pub struct GroupArgs {
    /// The group
    pub name: String,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}
