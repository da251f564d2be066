//! The command line as it is typed. `config` resolves the settings together with the other layers.

mod agent_access;
mod agent_settings;
mod client;
mod people;
mod recordings;
mod settings;
mod tls;

use clap::{Parser, Subcommand};

pub use agent_access::{
    CreateKeyArgs, GroupArgs, GroupsArgs, GroupsCommand, KeysArgs, KeysCommand, LabelsArgs, RevokeKeyArgs,
    SetGroupArgs, SwitchGroupArgs,
};
pub use agent_settings::{KillSwitchArgs, OnOff, PolicyArgs};
pub use client::{
    AddChannelArgs, AddRuleArgs, AgentArgs, AlertsArgs, AlertsCommand, ChangeChannelArgs, ChannelTarget, CostsArgs,
    CostsBy, DrillArgs, ExemptArg, ExemptionsArgs, FeedbackArg, IncidentsArgs, ServerArgs, TokenArgs, TopArgs,
};
pub use people::{AuditArgs, AuditCommand, AuditFileArgs, RoleArg, TokensArgs, TokensCommand, UsersArgs, UsersCommand};
pub use recordings::{CountingArg, ExportArgs, ReplayArgs};
pub use settings::{DemoArgs, MoveArgs, ProviderArgs, SettingArgs};
pub use tls::{TlsArgs, TlsCommand, TlsDevArgs};

/// The kill switch for AI agents: a proxy that stops an agent stuck in a loop.
#[derive(Debug, Parser)]
#[command(name = "agentgazer", version, about, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 failed, 2 mistake in arguments or configuration, 3 server not reachable, 4 not found, 5 refused.
Settings come from agentgazer.toml, from AGENTGAZER_… in the environment and from flags; later ones win.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the proxy, the dashboard and the API
    Start(SettingArgs),
    /// See a kill in ten seconds: a real server, a built-in provider, three agents, one of them
    /// stuck
    Demo(DemoArgs),
    /// Run the detector over recorded conversations and say what it would have stopped
    Replay(ReplayArgs),
    /// Write recorded incidents or fingerprints in the format that replay reads
    Export(ExportArgs),
    /// Migrate the database before a server of this version starts
    Migrate(SettingArgs),
    /// Copy everything from a SQLite file to a PostgreSQL server, while no server runs
    Move(MoveArgs),
    /// List the agents
    Agents(ServerArgs),
    /// List the incidents, show one with its evidence, say whether it was a loop, or delete it
    Incidents(IncidentsArgs),
    /// List, create or revoke exemptions: prompts and tool calls that do not count towards an
    /// agent's score
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
    /// List the channels and rules; add, change, delete or test a channel
    Alerts(AlertsArgs),
    /// Rehearse a kill: a fake agent loops until the server stops it; shows which channels were
    /// reached
    Drill(DrillArgs),
    /// Show or change what an agent may spend, when and how often it may call, and which models it
    /// gets
    Policy(Box<PolicyArgs>),
    /// List, create or revoke agent keys, which identify an agent
    Keys(KeysArgs),
    /// List, set or delete groups of agents, which share budgets and rates; stop or activate one
    Groups(GroupsArgs),
    /// Show or set the labels of an agent, which put it into groups
    Labels(LabelsArgs),
    /// List, add, change or delete users
    Users(UsersArgs),
    /// List, create or revoke API tokens
    Tokens(TokensArgs),
    /// List who changed what, check that the log was not tampered with, or export it
    Audit(AuditArgs),
    /// Print the token that the dashboard and the API require
    Token(TokenArgs),
    /// Create certificates for trying TLS
    Tls(TlsArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Run the built-in provider alone
    #[command(hide = true)]
    Provider(ProviderArgs),
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
        check("agentgazer migrate --database postgres://a@b/c", true);
        check("agentgazer move --from sqlite:x --to postgres://a@b/c", true);
        check("agentgazer move --from sqlite:x", false);
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
        check("agentgazer kill-switch my-agent --threshold nan", false);
        check("agentgazer kill-switch my-agent --threshold 1e400", false);
        check("agentgazer alerts", true);
        check("agentgazer alerts list --json", true);
        check("agentgazer alerts test ops --data-dir x", true);
        check("agentgazer alerts test", false);
        check("agentgazer drill", true);
        check("agentgazer drill --client-cert a.pem --client-key b.pem", true);
        check("agentgazer drill --client-cert a.pem", false);
        check("agentgazer costs --by model --since 7d", true);
        check("agentgazer costs --by moon", false);
        check("agentgazer top --once --json", true);
        check("agentgazer policy my-agent", true);
        check("agentgazer policy my-agent --budget-daily 5 --rate openai=60 --rate *=100", true);
        check("agentgazer policy my-agent --reset", true);
        check("agentgazer policy my-agent --reset --budget-daily 5", false);
        check("agentgazer keys --json", true);
        check("agentgazer keys create team-a/* --name ci --expires 2026-12-24", true);
        check("agentgazer keys create", false);
        check("agentgazer keys revoke 0191 --data-dir x", true);
        check("agentgazer groups set team-a --agent team-a/* --agent x --budget-daily 5 --kill-switch on", true);
        check("agentgazer groups stop team-a --json", true);
        check("agentgazer groups stop", false);
        check("agentgazer groups set live --label production --label team=billing", true);
        check("agentgazer labels my-agent", true);
        check("agentgazer labels my-agent production team=billing --json", true);
        check("agentgazer labels my-agent --none", true);
        check("agentgazer labels my-agent production --none", false);
        check("agentgazer token", true);
        check("agentgazer tls dev --host gazer.test --host 10.0.0.7", true);
        check("agentgazer tls", false);
        check("agentgazer users", true);
        check("agentgazer users add ann --role operator", true);
        check("agentgazer users add ann --role king", false);
        check("agentgazer users change ann --new-password --password-stdin", false);
        check("agentgazer tokens create ci --role viewer --until 2026-12-24", true);
        check("agentgazer tokens revoke ci", true);
        check("agentgazer audit --action agent.", true);
        check("agentgazer audit verify --data-dir x", true);
        check("agentgazer audit export", true);
        check("agentgazer activate my-agent --reason fixed", true);
        check("agentgazer completions bash", true);
        check("agentgazer provider --chunks 50", true);
        check("agentgazer", false);
        check("agentgazer replay", false);
        check("agentgazer replay runs.jsonl - --window 10,20 --threshold 5,10.5 --counting adaptive,literal", true);
        check("agentgazer replay runs.jsonl --counting some", false);
        check("agentgazer export --agent my-agent --fingerprints", true);
    }
}
