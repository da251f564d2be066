//! The configuration: defaults, then the TOML file, then the environment, then flags. Each layer is
//! first read as text (`layer`), then put in its place (`setting`); all mistakes are told together
//! and nothing starts.

mod access;
mod alerting;
mod contradictions;
mod environment;
mod file;
mod jwt;
mod layer;
mod price_file;
mod setting;
mod value;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use model::{AgentId, KillSwitch, Policy, Provider, RequireKey};
use secrecy::SecretString;
use store::{PostgresConfig, Retention};
use web::Access;
use wire::{Price, Prices, RefusalStatus};

pub use alerting::Alerting;
pub use jwt::JwtSettings;
pub use layer::{Entry, Mistake, Mistakes, Origin};

use crate::commands::DRILL_MODEL;
pub use crate::tls::TlsConfig;

/// The configuration as it is meant.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address both listeners are on.
    pub bind: IpAddr,
    /// The port of dashboard and API; 0 picks a free one.
    pub port: u16,
    /// The port of the proxy; 0 picks a free one.
    pub proxy_port: u16,
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// What holds the data.
    pub database: Database,
    /// The file with the key that encrypts provider keys, if it is not in the data directory.
    pub key_file: Option<PathBuf>,
    /// Where to write the addresses once both listeners accept.
    pub ready_file: Option<PathBuf>,
    /// Variables `AGENTGAZER_…` that are no settings, to be told: one may be a typo.
    pub ignored_variables: Vec<String>,
    /// The token, if the operator set one.
    pub token: Option<SecretString>,
    /// The files that both listeners encrypt with.
    pub tls: TlsConfig,
    /// The reverse proxies in front, and whom they log in.
    pub access: Access,
    /// Whose tokens name agents.
    pub jwt: JwtSettings,
    /// More names that may stand in `Host`.
    pub allow_hosts: Vec<String>,
    /// The origins of the web pages that may call through the proxy.
    pub allow_origins: Vec<proxy::Origin>,
    /// When calls need an agent key.
    pub require_key: RequireKey,
    /// Whether everybody who reaches the proxy may use the stored provider keys.
    pub allow_open_relay: bool,
    /// Providers that are added or pointed elsewhere.
    pub providers: Vec<Provider>,
    /// The status of the standard inactive response, and of calls that a spent budget or the hours
    /// refuse.
    pub refusal_status: RefusalStatuses,
    /// How long calls in flight may take to finish when the server is stopped.
    pub drain: Duration,
    /// How many bytes the bodies of the calls in the windows may take in memory.
    pub evidence_budget: usize,
    /// Whether those bodies are also on disk, so that a restart does not lose them.
    pub keep_evidence_on_disk: bool,
    /// Whose requests and responses are recorded.
    pub recording: RecordingConfig,
    /// The kill switch of agents not yet seen.
    pub kill_switch: KillSwitch,
    /// The policy of agents that have none of their own.
    pub policy: Policy,
    /// How long things are kept.
    pub retention: Retention,
    /// How large the database may become, in bytes; `None`: as large as the disk.
    pub max_size: Option<u64>,
    /// What calls cost.
    pub prices: Arc<Prices>,
    /// How people are told.
    pub alerts: Alerting,
    /// By provider, whether streams that would not report their usage are asked to.
    pub include_usage: HashMap<String, bool>,
    /// Limits of the data path.
    pub limits: Limits,
    /// What is logged and how.
    pub log: Log,
}

/// What holds the data.
#[derive(Clone, Debug, Default)]
pub struct Database {
    /// The address of a PostgreSQL server; `None`: the file in the data directory.
    pub url: Option<SecretString>,
    /// The file with the password, if it is not in the address.
    pub password_file: Option<PathBuf>,
}

/// The status of refusals as it is configured: for all formats at once, or for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct RefusalStatuses {
    /// For all formats that have none of their own.
    pub all: Option<StatusCode>,
    /// For callers of this format only.
    pub openai: Option<StatusCode>,
    /// For callers of this format only.
    pub anthropic: Option<StatusCode>,
    /// For callers of this format only.
    pub gemini: Option<StatusCode>,
    /// For callers of this format only.
    pub ollama: Option<StatusCode>,
}

impl RefusalStatuses {
    /// The status for each format. What is set for one format overrides what is set for all.
    pub fn by_format(&self) -> RefusalStatus {
        let base = self.all.map_or_else(RefusalStatus::default, RefusalStatus::all);
        RefusalStatus {
            openai: self.openai.unwrap_or(base.openai),
            anthropic: self.anthropic.unwrap_or(base.anthropic),
            gemini: self.gemini.unwrap_or(base.gemini),
            ollama: self.ollama.unwrap_or(base.ollama),
        }
    }
}

/// Whose requests and responses are recorded, and for how long.
#[derive(Clone, Debug)]
pub struct RecordingConfig {
    /// The agents.
    pub agents: Vec<AgentId>,
    /// Whether all agents are recorded.
    pub all: bool,
    /// How long a call is kept.
    pub keep: Duration,
    /// How many bytes all of them may take, compressed.
    pub max_size: u64,
}

impl Default for RecordingConfig {
    fn default() -> Self {
        RecordingConfig {
            agents: Vec::new(),
            all: false,
            keep: Duration::from_secs(7 * 24 * 60 * 60),
            max_size: 1 << 30,
        }
    }
}

impl RecordingConfig {
    /// Whether anything is recorded.
    pub fn is_on(&self) -> bool {
        self.all || !self.agents.is_empty()
    }

    /// Whether this agent is recorded.
    pub fn includes(&self, agent: &AgentId) -> bool {
        self.all || self.agents.contains(agent)
    }
}

/// Limits of the data path.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest request body, in bytes.
    pub max_request_body: usize,
    /// How much memory request bodies in flight may take together, in bytes.
    pub bodies_in_flight: usize,
    /// The largest request head, in bytes.
    pub max_header_size: usize,
    /// How many connections each listener holds at once.
    pub max_connections: usize,
    /// How long a client may take to send a request's head.
    pub header_timeout: Duration,
    /// How long a connection to a provider may take.
    pub connect_timeout: Duration,
    /// How long a provider may take until its response begins.
    pub first_byte_timeout: Duration,
    /// How long either side may be silent inside a body.
    pub idle_timeout: Duration,
    /// How long a kill waits for the disk before its call is refused all the same.
    pub kill_commit_timeout: Duration,
    /// How many agents have their windows in memory.
    pub max_agents: usize,
    /// How many conversations of one agent have a window.
    pub max_conversations: usize,
}

/// What is logged and how.
#[derive(Clone, Debug)]
pub struct Log {
    /// How a line looks.
    pub format: LogFormat,
    /// A level, or a filter like `info,proxy=debug`.
    pub level: String,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs: one JSON object per line.
    Json,
}

impl LogFormat {
    /// Reads the word.
    pub fn parse(word: &str) -> Option<LogFormat> {
        match word {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        }
    }
}

impl Config {
    /// The defaults, with everything kept in `data_dir`.
    pub fn new(data_dir: PathBuf) -> Config {
        let guard = guard::GuardConfig::default();
        Config {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 18_880,
            proxy_port: 18_900,
            data_dir,
            database: Database::default(),
            key_file: None,
            ready_file: None,
            ignored_variables: Vec::new(),
            token: None,
            tls: TlsConfig::default(),
            access: Access::default(),
            jwt: JwtSettings::default(),
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            require_key: RequireKey::default(),
            allow_open_relay: false,
            providers: Vec::new(),
            refusal_status: RefusalStatuses::default(),
            drain: Duration::from_secs(30),
            evidence_budget: 256 << 20,
            keep_evidence_on_disk: true,
            recording: RecordingConfig::default(),
            kill_switch: guard.defaults,
            policy: Policy::default(),
            retention: Retention::default(),
            max_size: Some(20 << 30),
            prices: Arc::new(prices()),
            alerts: Alerting::default(),
            include_usage: HashMap::new(),
            limits: Limits {
                max_request_body: 32 << 20,
                bodies_in_flight: 1 << 30,
                max_header_size: 64 << 10,
                max_connections: 10_000,
                header_timeout: Duration::from_secs(10),
                connect_timeout: Duration::from_secs(5),
                first_byte_timeout: Duration::from_secs(120),
                idle_timeout: Duration::from_secs(300),
                kill_commit_timeout: Duration::from_secs(5),
                max_agents: guard.max_agents,
                max_conversations: guard.max_conversations,
            },
            log: Log { format: LogFormat::Text, level: "info".to_owned() },
        }
    }

    /// The file with the key that encrypts provider keys.
    pub fn key_file(&self) -> PathBuf {
        self.key_file.clone().unwrap_or_else(|| self.data_dir.join("agentgazer.key"))
    }

    /// The server that holds the data; `None`: the file in the data directory does.
    pub fn postgres(&self) -> anyhow::Result<Option<PostgresConfig>> {
        let Database { url, password_file } = &self.database;
        let Some(url) = url else { return Ok(None) };
        let server = PostgresConfig::new(url.clone(), password_file.clone());
        server.map(Some).map_err(|why| anyhow::anyhow!("database: {why}"))
    }

    fn apply(&mut self, entry: &Entry, known: &[Provider]) -> Result<(), Mistake> {
        match setting::SETTINGS.iter().find(|setting| setting.key == entry.key) {
            Some(setting) => (setting.apply)(self, &entry.values, known).map_err(|message| Mistake::of(entry, message)),
            None => Err(Mistake::of(entry, "is no setting")),
        }
    }
}

/// The prices that are built in. That of a drill is under a vendor's name: a drill's provider has
/// another name each time, and is taken for a gateway.
fn prices() -> Prices {
    let mut prices = Prices::builtin();
    prices.put("openai", DRILL_MODEL, Price::default());
    prices
}

/// What the layers are made from.
pub struct Sources<'a> {
    /// The file given with `--config`.
    pub file: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(String, String)>,
    /// The settings made by flags.
    pub flags: Vec<Entry>,
    /// The providers that are known without configuration.
    pub known: &'a [Provider],
    /// The data directory that is used if nothing else is said.
    pub default_data_dir: PathBuf,
    /// Whether a server is started with it. A command may use the short token of an older server.
    pub for_server: bool,
}

/// Puts all layers together.
pub fn resolve(sources: Sources<'_>) -> Result<Config, Mistakes> {
    let (environment, ignored_variables) = environment::layer(sources.environment.iter().cloned());
    let mut mistakes = Vec::new();
    let above_file: Vec<Entry> = environment.into_iter().chain(sources.flags.iter().cloned()).collect();
    let mut entries = file_layer(&sources, &above_file, &mut mistakes);
    entries.extend(above_file);

    let mut config = Config { ignored_variables, ..Config::new(sources.default_data_dir) };
    for entry in &entries {
        if let Err(mistake) = config.apply(entry, sources.known) {
            mistakes.push(mistake);
        }
    }
    let contradictions = contradictions::mistakes(&config, &entries, &mistakes);
    mistakes.extend(contradictions);
    if sources.for_server {
        mistakes.extend(contradictions::short_token(&config, &entries, &mistakes));
        mistakes.extend(contradictions::unusable_tls(&config, &entries, &mistakes));
    }
    if mistakes.is_empty() { Ok(config) } else { Err(Mistakes(mistakes)) }
}

/// How many mistakes a configuration file with this text has. For the fuzzer.
#[doc(hidden)]
pub fn count_mistakes(text: &str) -> usize {
    let (entries, broken) = file::layer(Path::new("agentgazer.toml"), text);
    let mut config = Config::new(PathBuf::new());
    let wrong = entries.iter().filter(|entry| config.apply(entry, &[]).is_err()).count();
    broken.len() + wrong
}

/// The keys of mistakes that leave a part of the file unread, or all of it.
const UNREAD_FILE: [&str; 2] = [FILE, file::SYNTAX];
const FILE: &str = "config";

/// The file's entries: of the one that was named (which must exist), else of the one in the data
/// directory (which may).
fn file_layer(sources: &Sources<'_>, above: &[Entry], mistakes: &mut Vec<Mistake>) -> Vec<Entry> {
    let named = sources.file.clone().or_else(|| variable(sources, "AGENTGAZER_CONFIG").map(PathBuf::from));
    let path = named.clone().unwrap_or_else(|| {
        let said = above.iter().rfind(|entry| entry.key == "data_dir").and_then(|entry| entry.values.first());
        said.map_or(sources.default_data_dir.clone(), PathBuf::from).join("agentgazer.toml")
    });
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            mistakes.push(Mistake { key: FILE.to_owned(), origin: None, message });
            return Vec::new();
        }
    };
    let (entries, broken) = file::layer(&path, &text);
    mistakes.extend(broken);
    if named.is_none() {
        mistakes.extend(moves_itself(&entries));
    }
    entries
}

/// The file in the data directory cannot say where the data directory is.
fn moves_itself(entries: &[Entry]) -> Option<Mistake> {
    let entry = entries.iter().find(|entry| entry.key == "data_dir")?;
    Some(Mistake::of(
        entry,
        "cannot be set in the data directory's own file: use --config, AGENTGAZER_DATA_DIR or --data-dir",
    ))
}

fn variable(sources: &Sources<'_>, name: &str) -> Option<String> {
    sources.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
}

/// The platform's directory for a user's data, as far as the environment tells; `None` without a
/// home.
pub fn default_data_dir(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("HOME");
    let base = if cfg!(target_os = "macos") {
        home?.join("Library/Application Support")
    } else {
        absolute("XDG_DATA_HOME").or_else(|| home.map(|home| home.join(".local/share")))?
    };
    Some(base.join(Path::new("agentgazer")))
}

#[cfg(test)]
mod tests;
