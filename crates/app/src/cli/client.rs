//! The commands that talk to a running server.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::OnOff;

/// Which server a command talks to.
#[derive(Debug, Default, Args)]
pub struct ServerArgs {
    /// The server's dashboard address [env: AGENTGAZER_URL] [default: the server running on this
    /// data directory]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// A PEM file with the authorities to trust at an https address [env: AGENTGAZER_CA] [default:
    /// those of this machine]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// The server's token [env: AGENTGAZER_TOKEN] [default: the one in the data directory]
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// The server's data directory [env: AGENTGAZER_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The server's configuration file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// An agent and the server that knows it.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// The agent
    pub agent: String,
    /// Why, for the audit log
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `incidents`.
#[derive(Debug, Args)]
pub struct IncidentsArgs {
    /// Show this incident with its evidence
    pub id: Option<String>,
    /// Only incidents of this agent
    #[arg(long, value_name = "AGENT", conflicts_with = "id")]
    pub agent: Option<String>,
    /// Say whether it was a loop
    #[arg(long, value_name = "ANSWER", requires = "id")]
    pub feedback: Option<FeedbackArg>,
    /// Delete it with its evidence; the agent stays as it is
    #[arg(long, requires = "id", conflicts_with = "feedback")]
    pub delete: bool,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The feedback on an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FeedbackArg {
    Loop,
    FalseAlarm,
}

/// The kind of an exemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ExemptArg {
    Prompt,
    ToolCall,
}

/// The arguments of `exemptions`. Without a change, the current ones are listed.
#[derive(Debug, Args)]
pub struct ExemptionsArgs {
    /// The agent
    pub agent: String,
    /// Create an exemption from this incident, which was a false alarm
    #[arg(long, value_name = "INCIDENT", requires_all = ["what", "until"])]
    pub incident: Option<String>,
    /// What should no longer count: the stopped call's prompt or its tool calls
    #[arg(long, value_name = "WHAT", requires = "incident")]
    pub what: Option<ExemptArg>,
    /// Until the end of this day (UTC), like 2026-12-24, or until this time (RFC 3339)
    #[arg(long, value_name = "WHEN", requires = "incident")]
    pub until: Option<String>,
    /// End this exemption
    #[arg(long, value_name = "EXEMPTION", conflicts_with = "incident")]
    pub revoke: Option<String>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `alerts`.
#[derive(Debug, Args)]
pub struct AlertsArgs {
    /// What to do; without it, channels and rules are listed.
    #[command(subcommand)]
    pub command: Option<AlertsCommand>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The grouping of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CostsBy {
    Model,
    Provider,
    Agent,
    Conversation,
    Time,
}

/// The arguments of `costs`.
#[derive(Debug, Args)]
pub struct CostsArgs {
    /// What to group costs by
    #[arg(long, value_enum, default_value = "model")]
    pub by: CostsBy,
    /// How far back, in hours or days, like 24h or 7d
    #[arg(long, value_name = "RANGE", default_value = "24h")]
    pub since: String,
    /// Only calls of this agent
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What can be done with alerts.
#[derive(Debug, Subcommand)]
pub enum AlertsCommand {
    /// List the channels and rules
    List(ServerArgs),
    /// Add a channel: every kill is announced there
    Add(AddChannelArgs),
    /// Change a channel; settings that are not given stay as they are
    Change(ChangeChannelArgs),
    /// Delete a channel, and the rules that name no other channel
    Delete {
        /// The channel, by name or id
        channel: String,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Add a rule for an agent, a group of agents or all agents
    AddRule(AddRuleArgs),
    /// Delete a rule
    DeleteRule {
        /// The rule, by id
        rule: String,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Send a test through a channel and show the result
    Test {
        /// The channel, by name or id
        channel: String,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// The target of a channel. The fields depend on its kind.
#[derive(Debug, Args)]
pub struct ChannelTarget {
    /// The address of a webhook, Slack or Discord channel
    #[arg(long, value_name = "URL")]
    pub address: Option<String>,
    /// A recipient of mails (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    pub to: Vec<String>,
    /// The token of a Telegram bot
    #[arg(long, value_name = "TOKEN")]
    pub bot_token: Option<String>,
    /// The Telegram chat
    #[arg(long, value_name = "CHAT")]
    pub chat_id: Option<String>,
}

/// The arguments of `alerts add`.
#[derive(Debug, Args)]
pub struct AddChannelArgs {
    /// webhook, email, slack, discord or telegram
    pub kind: String,
    /// A display name
    pub name: String,
    /// The target.
    #[command(flatten)]
    pub target: ChannelTarget,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `alerts add-rule`. The server checks which of them a type takes.
#[derive(Debug, Args)]
pub struct AddRuleArgs {
    /// kill_switch, agent_down, error_rate or budget
    #[arg(value_name = "TYPE")]
    pub rule_type: String,
    /// The agent, or @ and the name of a group [default: all agents]
    #[arg(long, value_name = "AGENT", default_value = "*", hide_default_value = true)]
    pub agent: String,
    /// A channel by name or id (repeatable) [default: every channel]
    #[arg(long, value_name = "CHANNEL")]
    pub channel: Vec<String>,
    /// Over how many minutes calls are counted, or how long an agent is silent
    #[arg(long, value_name = "MINUTES")]
    pub minutes: Option<u32>,
    /// How many of the calls fail, or how much of the budget is spent
    #[arg(long, value_name = "PERCENT")]
    pub percent: Option<f64>,
    /// How much is spent in the period, in US dollars
    #[arg(long, value_name = "USD", requires = "period")]
    pub amount: Option<f64>,
    /// day, week or month
    #[arg(long, value_name = "PERIOD", requires = "amount")]
    pub period: Option<String>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `alerts change`.
#[derive(Debug, Args)]
pub struct ChangeChannelArgs {
    /// The channel, by name or id
    pub channel: String,
    /// Switch it on or off
    pub state: Option<OnOff>,
    /// A new name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The target.
    #[command(flatten)]
    pub target: ChannelTarget,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `drill`.
#[derive(Debug, Args)]
pub struct DrillArgs {
    /// The server's proxy address [default: the server running on this data directory]
    #[arg(long, value_name = "URL")]
    pub proxy_url: Option<String>,
    /// The certificate to show to a proxy with tls.client_ca, in PEM
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub client_cert: Option<PathBuf>,
    /// The key of that certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub client_key: Option<PathBuf>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `top`.
#[derive(Debug, Args)]
pub struct TopArgs {
    /// Print a table and exit
    #[arg(long)]
    pub once: bool,
    /// How far back, in hours or days, like 1h or 7d
    #[arg(long, value_name = "RANGE", default_value = "1h")]
    pub since: String,
    /// Seconds between refreshes
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    pub interval: u16,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `token`.
#[derive(Debug, Args)]
pub struct TokenArgs {
    /// The server's data directory [env: AGENTGAZER_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The server's configuration file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
