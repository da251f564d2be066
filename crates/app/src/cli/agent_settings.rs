//! The commands that change the kill switch and the policy of an agent.

use clap::{Args, ValueEnum};

use super::ServerArgs;

/// The state of a kill switch or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum OnOff {
    On,
    Off,
}

/// The arguments of `kill-switch`. Without a change, the current settings are shown.
#[derive(Debug, Args)]
pub struct KillSwitchArgs {
    /// The agent
    pub agent: String,
    /// Switch it on or off
    pub state: Option<OnOff>,
    /// How many calls to compare (2 to 500)
    #[arg(long, value_name = "CALLS")]
    pub window: Option<u64>,
    /// The score that must be exceeded
    #[arg(long, value_name = "SCORE", value_parser = finite)]
    pub threshold: Option<f64>,
    /// What to do when it fires: deactivate, block or observe
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// What counts as a repetition: adaptive or literal
    #[arg(long, value_name = "COUNTING")]
    pub counting: Option<String>,
    /// Create the agent if it has not called yet
    #[arg(long)]
    pub create: bool,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Parses a finite number: JSON has no others.
fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "must be a number".to_owned())
}

/// The arguments of `policy`. Without a change, the current policy is shown; `none` removes a
/// limit.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// The agent, or * for all that have no policy of their own
    pub agent: String,
    /// The most it may spend in a day, in dollars; none for no limit
    #[arg(long, value_name = "USD")]
    pub budget_daily: Option<String>,
    /// The most it may spend in a week (from Monday), in dollars
    #[arg(long, value_name = "USD")]
    pub budget_weekly: Option<String>,
    /// The most it may spend in a month, in dollars
    #[arg(long, value_name = "USD")]
    pub budget_monthly: Option<String>,
    /// The most it may spend in one conversation, in dollars
    #[arg(long, value_name = "USD")]
    pub budget_conversation: Option<String>,
    /// The time zone of its days and hours, like Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// When it may call, like "mon-fri 09:00-18:00" (repeatable; replaces all)
    #[arg(long, value_name = "HOURS")]
    pub hours: Vec<String>,
    /// The most calls and tokens per minute, like openai=60 or *=60,100000 (repeatable; replaces
    /// all)
    #[arg(long = "rate", value_name = "PROVIDER=RATES")]
    pub rates: Vec<String>,
    /// Replace the model asked for, like openai/*=gpt-5-mini (repeatable; replaces all)
    #[arg(long = "model", value_name = "PROVIDER/MODEL=USE")]
    pub models: Vec<String>,
    /// Go back to the default policy; with *, to the configured one
    #[arg(long, conflicts_with_all = ["budget_daily", "budget_weekly", "budget_monthly", "budget_conversation", "time_zone", "hours", "rates", "models"])]
    pub reset: bool,
    /// Create the agent if it has not called yet
    #[arg(long)]
    pub create: bool,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}
