//! The command line as it is typed. What the settings mean is found out by `config`, together with the other layers.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::Entry;

/// The kill switch for AI agents: a proxy that stops an agent stuck in a loop.
#[derive(Debug, Parser)]
#[command(name = "agentgazer", version, about, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 failed, 2 mistake in arguments or configuration, 3 server not reachable, 4 not found, 5 refused.
Every setting can be made in agentgazer.toml, as AGENTGAZER_… in the environment, and as a flag, in rising order.";

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the proxy, the dashboard and the API
    Start(SettingArgs),
    /// See a kill in ten seconds: a real server, a built-in provider, three agents, one of them stuck
    Demo(DemoArgs),
    /// Run the detector over recorded conversations and say what it would have stopped
    Replay(ReplayArgs),
    /// Write what was recorded in the form that replay reads
    Export(ExportArgs),
    /// List the agents
    Agents(ServerArgs),
    /// List the incidents, show one with its evidence, say whether it was a loop, or delete it
    Incidents(IncidentsArgs),
    /// List, make or revoke what does not count for an agent
    Exemptions(ExemptionsArgs),
    /// Show what was spent, by model, provider, agent, conversation or time
    Costs(CostsArgs),
    /// Watch agents, calls, costs and scores live
    Top(TopArgs),
    /// Let an agent's calls through again
    Activate(AgentArgs),
    /// Refuse an agent's calls until it is activated
    Deactivate(AgentArgs),
    /// Show or change an agent's kill switch
    KillSwitch(KillSwitchArgs),
    /// List the channels and rules, or send a test through a channel
    Alerts(AlertsArgs),
    /// Rehearse a kill: a fake agent loops through the running server, and every channel is watched
    Drill(DrillArgs),
    /// Show or change what an agent may spend, when and how often it may call, and which models it gets
    Policy(Box<PolicyArgs>),
    /// Print the token that the dashboard and the API ask for
    Token(TokenArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Run the built-in provider alone
    #[command(hide = true)]
    Provider(ProviderArgs),
}

/// The settings of a server.
#[derive(Debug, Default, Args)]
pub struct SettingArgs {
    /// The configuration file [default: agentgazer.toml in the data directory]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<String>,
    /// The port of dashboard and API, 0 for any free one [default: 18880]
    #[arg(long, value_name = "PORT")]
    pub port: Option<String>,
    /// The port of the proxy, 0 for any free one [default: 18900]
    #[arg(long, value_name = "PORT")]
    pub proxy_port: Option<String>,
    /// Where everything is kept [default: the user's data directory]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The token for dashboard and API; better set as AGENTGAZER_TOKEN [default: made at the first start]
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Another host name to answer to (repeatable)
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,
    /// Point a provider elsewhere (NAME=URL) or add one (NAME=FORMAT+URL) (repeatable)
    #[arg(long = "provider", value_name = "NAME=URL")]
    pub providers: Vec<String>,
    /// The status of calls refused for an inactive agent, a spent budget or the hour [default: 400]
    #[arg(long, value_name = "STATUS")]
    pub refusal_status: Option<String>,
    /// How long calls in flight may take to finish after SIGTERM [default: 30s]
    #[arg(long, value_name = "DURATION")]
    pub drain: Option<String>,
    /// Write both addresses to this file once both listeners accept
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<String>,
    /// The file with the key that encrypts provider keys [default: agentgazer.key in the data directory]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<String>,
    /// How log lines look: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// What is logged: a level, or a filter like info,proxy=debug [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// Let alerts go to private addresses, such as a receiver on this machine
    #[arg(long)]
    pub allow_private_targets: bool,
    /// Any other setting by its key, like limits.idle_timeout=60s (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub others: Vec<(String, String)>,
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

impl SettingArgs {
    /// The settings made by these flags, as the highest layer.
    pub fn entries(&self) -> Vec<Entry> {
        let single = [
            ("--bind", "bind", &self.bind),
            ("--port", "port", &self.port),
            ("--proxy-port", "proxy_port", &self.proxy_port),
            ("--data-dir", "data_dir", &self.data_dir),
            ("--token", "token", &self.token),
            ("--refusal-status", "refusal_status", &self.refusal_status),
            ("--drain", "drain", &self.drain),
            ("--ready-file", "ready_file", &self.ready_file),
            ("--key-file", "key_file", &self.key_file),
            ("--log-format", "log.format", &self.log_format),
            ("--log-level", "log.level", &self.log_level),
        ];
        let mut entries: Vec<Entry> = self.others.iter().map(|(key, value)| Entry::flag("--set", key, value)).collect();
        entries
            .extend(single.into_iter().filter_map(|(flag, key, value)| Some(Entry::flag(flag, key, value.as_ref()?))));
        entries.extend(self.providers.iter().map(|provider| Entry::flag("--provider", "providers", provider)));
        if self.allow_private_targets {
            entries.push(Entry::flag("--allow-private-targets", "allow_private_targets", "true"));
        }
        if !self.allow_hosts.is_empty() {
            let mut hosts = Entry::flag("--allow-host", "allow_hosts", "");
            hosts.values.clone_from(&self.allow_hosts);
            entries.push(hosts);
        }
        entries
    }
}

/// The arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Exit after the story, with 0 only if exactly the stuck agent was stopped
    #[arg(long)]
    pub once: bool,
    /// The server's settings; ports are free ones and the data directory is a temporary one unless given.
    #[command(flatten)]
    pub settings: SettingArgs,
}

/// The arguments of `replay`. Several values of a setting are compared side by side.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Recordings as JSON Lines, plain, .gz or .zst; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How many calls are looked at (2 to 500)
    #[arg(long, value_name = "CALLS", value_delimiter = ',', default_values_t = [20])]
    pub window: Vec<u64>,
    /// The score that must be exceeded
    #[arg(long, value_name = "SCORE", value_delimiter = ',', default_values_t = [10.0])]
    pub threshold: Vec<f64>,
    /// What counts as a repetition
    #[arg(long, value_name = "COUNTING", value_delimiter = ',', default_values_t = [CountingArg::Adaptive])]
    pub counting: Vec<CountingArg>,
    /// Also sum up two halves of the runs, told apart by a hash of their ids: rules that fit by chance fit one of them
    #[arg(long)]
    pub halves: bool,
    /// Print one JSON object per run, and a last one with the totals
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Only what this agent did
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// All scored calls as fingerprints, instead of the incidents with their bodies
    #[arg(long)]
    pub fingerprints: bool,
    /// The data directory [env: AGENTGAZER_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What counts as a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CountingArg {
    Adaptive,
    Literal,
}

impl CountingArg {
    /// The setting.
    pub fn counting(self) -> model::Counting {
        match self {
            CountingArg::Adaptive => model::Counting::Adaptive,
            CountingArg::Literal => model::Counting::Literal,
        }
    }
}

impl std::fmt::Display for CountingArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.counting().as_str())
    }
}

/// Which server a command talks to.
#[derive(Debug, Default, Args)]
pub struct ServerArgs {
    /// The server's dashboard address [env: AGENTGAZER_URL] [default: the one that was started on this data directory]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
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
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `incidents`.
#[derive(Debug, Args)]
pub struct IncidentsArgs {
    /// Show this one with its evidence
    pub id: Option<String>,
    /// Only those of this agent
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

/// What a person says of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FeedbackArg {
    Loop,
    FalseAlarm,
}

/// What kind of thing is not to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ExemptArg {
    Prompt,
    ToolCall,
}

/// The arguments of `exemptions`. Without any change, those that hold are listed.
#[derive(Debug, Args)]
pub struct ExemptionsArgs {
    /// The agent
    pub agent: String,
    /// Make one from this incident, which was a false alarm
    #[arg(long, value_name = "INCIDENT", requires_all = ["what", "until"])]
    pub incident: Option<String>,
    /// What of the stopped call is not to count
    #[arg(long, value_name = "WHAT", requires = "incident")]
    pub what: Option<ExemptArg>,
    /// Until the end of this day (UTC), like 2026-12-24, or until this time (RFC 3339)
    #[arg(long, value_name = "WHEN", requires = "incident")]
    pub until: Option<String>,
    /// Let this one count again
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

/// What costs are added up by.
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
    /// What they are added up by
    #[arg(long, value_enum, default_value = "model")]
    pub by: CostsBy,
    /// So many hours or days until now, like 24h or 7d
    #[arg(long, value_name = "RANGE", default_value = "24h")]
    pub since: String,
    /// Only those of this agent
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
    /// Send a test through a channel and say what came of it
    Test {
        /// The channel, by name or id
        channel: String,
        /// Which server.
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// The arguments of `drill`.
#[derive(Debug, Args)]
pub struct DrillArgs {
    /// The server's proxy address [default: the one that was started on this data directory]
    #[arg(long, value_name = "URL")]
    pub proxy_url: Option<String>,
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
    /// So many hours or days until now, like 1h or 7d
    #[arg(long, value_name = "RANGE", default_value = "1h")]
    pub since: String,
    /// How many seconds from one look to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    pub interval: u16,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Whether a kill switch stops anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum OnOff {
    On,
    Off,
}

/// The arguments of `kill-switch`. Without any change, the present settings are shown.
#[derive(Debug, Args)]
pub struct KillSwitchArgs {
    /// The agent
    pub agent: String,
    /// Switch it on or off
    pub state: Option<OnOff>,
    /// How many calls are looked at (2 to 500)
    #[arg(long, value_name = "CALLS")]
    pub window: Option<u64>,
    /// The score that must be exceeded
    #[arg(long, value_name = "SCORE")]
    pub threshold: Option<f64>,
    /// What happens then: deactivate, block or observe
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// What counts as a repetition: adaptive or literal
    #[arg(long, value_name = "COUNTING")]
    pub counting: Option<String>,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The arguments of `policy`. Without any change, the present policy is shown; `none` takes a limit away.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// The agent, or * for all that have no policy of their own
    pub agent: String,
    /// The most it may spend in a day, in dollars
    #[arg(long, value_name = "USD")]
    pub budget_daily: Option<String>,
    /// In a week, from Monday on
    #[arg(long, value_name = "USD")]
    pub budget_weekly: Option<String>,
    /// In a month
    #[arg(long, value_name = "USD")]
    pub budget_monthly: Option<String>,
    /// In one conversation
    #[arg(long, value_name = "USD")]
    pub budget_conversation: Option<String>,
    /// Where its days begin and its hours are counted, like Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// When it may call, like "mon-fri 09:00-18:00" (repeatable; replaces all)
    #[arg(long, value_name = "HOURS")]
    pub hours: Vec<String>,
    /// Calls and tokens per minute, like openai=60 or *=60,100000 (repeatable; replaces all)
    #[arg(long = "rate", value_name = "PROVIDER=RATES")]
    pub rates: Vec<String>,
    /// Another model than the one that is asked for, like openai/*=gpt-5-mini (repeatable; replaces all)
    #[arg(long = "model", value_name = "PROVIDER/MODEL=USE")]
    pub models: Vec<String>,
    /// Back to the default policy, or with * to the configured one
    #[arg(long, conflicts_with_all = ["budget_daily", "budget_weekly", "budget_monthly", "budget_conversation", "time_zone", "hours", "rates", "models"])]
    pub reset: bool,
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

/// The arguments of `provider`: how the built-in provider answers.
#[derive(Debug, Args)]
pub struct ProviderArgs {
    /// The port, 0 for any free one
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Write the address to this file once it accepts, as {"provider":"http://…"}
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// Say this instead of the usual answer
    #[arg(long, value_name = "TEXT", conflicts_with = "echo")]
    pub text: Option<String>,
    /// Say what the user said
    #[arg(long)]
    pub echo: bool,
    /// In how many pieces a streamed answer comes
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    pub chunks: usize,
    /// How many milliseconds to wait before each piece
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub delay: u64,
    /// Answer with this error status
    #[arg(long, value_name = "STATUS")]
    pub status: Option<u16>,
    /// Break the connection after this many bytes of an answer
    #[arg(long, value_name = "BYTES", conflicts_with = "status")]
    pub die_after: Option<usize>,
    /// Fall silent after this many bytes of an answer
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["status", "die_after"])]
    pub stall_after: Option<usize>,
    /// Never begin to answer
    #[arg(long, conflicts_with_all = ["status", "die_after", "stall_after"])]
    pub stall: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn commands_are_read() {
        let check = |line: &str, good: bool| {
            assert_eq!(Cli::try_parse_from(line.split(' ')).is_ok(), good, "{line}");
        };
        check("agentgazer start", true);
        check("agentgazer start --port 0 --proxy-port 0 --provider a=http://x --provider b=http://y", true);
        check("agentgazer start --set limits.idle_timeout=9s", true);
        check("agentgazer start --set limits.idle_timeout", false);
        check("agentgazer demo --once", true);
        check("agentgazer agents --json", true);
        check("agentgazer incidents", true);
        check("agentgazer incidents 0190 --json", true);
        check("agentgazer incidents 0190 --feedback false-alarm", true);
        check("agentgazer incidents --feedback loop", false);
        check("agentgazer incidents 0190 --delete", true);
        check("agentgazer incidents --delete", false);
        check("agentgazer exemptions my-agent --json", true);
        check("agentgazer exemptions my-agent --incident 0190 --what tool-call --until 2026-12-24", true);
        check("agentgazer exemptions my-agent --incident 0190 --what prompt", false);
        check("agentgazer exemptions my-agent --what prompt --until 2026-12-24", false);
        check("agentgazer exemptions my-agent --revoke 0191", true);
        check("agentgazer activate", false);
        check("agentgazer activate my-agent --url http://127.0.0.1:1", true);
        check("agentgazer kill-switch my-agent", true);
        check("agentgazer kill-switch my-agent on --window 5 --threshold 2.5 --action block --counting literal", true);
        check("agentgazer kill-switch my-agent maybe", false);
        check("agentgazer alerts", true);
        check("agentgazer alerts list --json", true);
        check("agentgazer alerts test ops --data-dir x", true);
        check("agentgazer alerts test", false);
        check("agentgazer drill", true);
        check("agentgazer costs --by model --since 7d", true);
        check("agentgazer costs --by moon", false);
        check("agentgazer top --once --json", true);
        check("agentgazer policy my-agent", true);
        check("agentgazer policy my-agent --budget-daily 5 --rate openai=60 --rate *=100", true);
        check("agentgazer policy my-agent --reset", true);
        check("agentgazer policy my-agent --reset --budget-daily 5", false);
        check("agentgazer token", true);
        check("agentgazer completions bash", true);
        check("agentgazer provider --chunks 50", true);
        check("agentgazer", false);
        check("agentgazer replay", false);
        check("agentgazer replay runs.jsonl - --window 10,20 --threshold 5,10.5 --counting adaptive,literal", true);
        check("agentgazer replay runs.jsonl --counting some", false);
        check("agentgazer export --agent my-agent --fingerprints", true);
    }

    #[test]
    fn flags_are_the_highest_layer_and_know_their_name() {
        let line = "agentgazer start --set port=1 --port 2 --allow-host a --allow-host b --provider x=openai+http://x";
        let Ok(Cli { command: Command::Start(settings) }) = Cli::try_parse_from(line.split(' ')) else {
            panic!("{line}")
        };
        let said: Vec<_> =
            settings.entries().iter().map(|it| format!("{} {} {}", it.origin, it.key, it.values.join("|"))).collect();
        assert_eq!(
            said,
            ["--set port 1", "--port port 2", "--provider providers x=openai+http://x", "--allow-host allow_hosts a|b"]
        );
    }
}
