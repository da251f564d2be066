//! The commands that run a server, and its settings as flags.

use std::path::PathBuf;

use clap::Args;

use crate::config::Entry;

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
    /// The directory of all data [default: the user's data directory]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The database: sqlite, or a server like postgres://user@host/database [default: sqlite]
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// The token for dashboard and API; better set as AGENTGAZER_TOKEN [default: generated at the
    /// first start]
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Another host name to answer to (repeatable)
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,
    /// The origin of a web page that may call through the proxy, like `https://app.example`
    /// (repeatable)
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub allow_origins: Vec<String>,
    /// Point a provider elsewhere (NAME=URL) or add one (NAME=FORMAT+URL) (repeatable)
    #[arg(long = "provider", value_name = "NAME=URL")]
    pub providers: Vec<String>,
    /// The status of calls refused because the agent is inactive, a budget is spent or the hour is
    /// not allowed [default: 400, for the format anthropic 403]
    #[arg(long, value_name = "STATUS")]
    pub refusal_status: Option<String>,
    /// How long calls in flight may take to finish after SIGTERM [default: 30s]
    #[arg(long, value_name = "DURATION")]
    pub drain: Option<String>,
    /// Write both addresses to this file once both listeners accept
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<String>,
    /// The file with the key that encrypts provider keys and channels [default: agentgazer.key in
    /// the data directory]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<String>,
    /// The format of log lines: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// What to log: a level, or a filter like info,proxy=debug [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// Allow alerts to private addresses, such as a receiver on this machine
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
    /// The settings of these flags, which are the highest layer.
    pub fn entries(&self) -> Vec<Entry> {
        let single = [
            ("--bind", "bind", &self.bind),
            ("--port", "port", &self.port),
            ("--proxy-port", "proxy_port", &self.proxy_port),
            ("--data-dir", "data_dir", &self.data_dir),
            ("--database", "database", &self.database),
            ("--token", "token", &self.token),
            ("--refusal-status", "refusal_status", &self.refusal_status),
            ("--drain", "drain", &self.drain),
            ("--ready-file", "ready_file", &self.ready_file),
            ("--key-file", "key_file", &self.key_file),
            ("--log-format", "log.format", &self.log_format),
            ("--log-level", "log.level", &self.log_level),
        ];
        let mut entries: Vec<Entry> = self.others.iter().map(|(key, value)| Entry::set(key, value)).collect();
        entries
            .extend(single.into_iter().filter_map(|(flag, key, value)| Some(Entry::flag(flag, key, value.as_ref()?))));
        entries.extend(self.providers.iter().map(|provider| Entry::flag("--provider", "providers", provider)));
        if self.allow_private_targets {
            entries.push(Entry::flag("--allow-private-targets", "allow_private_targets", "true"));
        }
        let lists = [
            ("--allow-host", "allow_hosts", &self.allow_hosts),
            ("--allow-origin", "proxy.allow_origins", &self.allow_origins),
        ];
        for (flag, key, values) in lists.into_iter().filter(|(.., values)| !values.is_empty()) {
            entries.push(Entry { values: values.clone(), ..Entry::flag(flag, key, "") });
        }
        entries
    }
}

/// The arguments of `demo`. It uses neither the ports nor the data of a server in use.
#[derive(Debug, Args)]
#[command(
    mut_arg("port", |arg| arg.help("The port of dashboard and API [default: any free one]")),
    mut_arg("proxy_port", |arg| arg.help("The port of the proxy [default: any free one]")),
    mut_arg("data_dir", |arg| arg.help("The directory of all data [default: a temporary directory, removed at the end]")),
    mut_arg("log_level", |arg| arg.help("What is logged: a level, or a filter like info,proxy=debug [default: warn]")),
)]
pub struct DemoArgs {
    /// Exit when the demo is over, with code 0 only if exactly the stuck agent was stopped
    #[arg(long)]
    pub once: bool,
    /// The server's settings; by default, free ports and a temporary data directory.
    #[command(flatten)]
    pub settings: SettingArgs,
}

/// The arguments of `move`.
#[derive(Debug, Args)]
pub struct MoveArgs {
    /// The source: sqlite: followed by a data directory, like sqlite:/var/lib/agentgazer
    #[arg(long, value_name = "SOURCE")]
    pub from: String,
    /// An empty database on a server, like postgres://user@host/database
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// The file with the password of the server
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
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
    /// The number of chunks of a streamed answer
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    pub chunks: usize,
    /// How many milliseconds to wait before each chunk
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub delay: u64,
    /// Answer with this error status
    #[arg(long, value_name = "STATUS")]
    pub status: Option<u16>,
    /// Break the connection after this many bytes of an answer
    #[arg(long, value_name = "BYTES", conflicts_with = "status")]
    pub die_after: Option<usize>,
    /// Stop sending after this many bytes of an answer, and keep the connection open
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["status", "die_after"])]
    pub stall_after: Option<usize>,
    /// Never begin to answer
    #[arg(long, conflicts_with_all = ["status", "die_after", "stall_after"])]
    pub stall: bool,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use crate::cli::{Cli, Command};

    #[test]
    fn the_help_of_the_demo_tells_its_own_defaults() {
        let mut program = Cli::command();
        let mut help = |command: &str| program.find_subcommand_mut(command).map(|it| it.render_help().to_string());
        let (Some(start), Some(demo)) = (help("start"), help("demo")) else { panic!("both have help") };
        for (of_start, of_demo) in [("18880", "any free one"), ("18900", "any free one"), ("user's data", "temporary")]
        {
            assert!(start.contains(of_start) && !demo.contains(of_start) && demo.contains(of_demo), "{demo}");
        }
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
