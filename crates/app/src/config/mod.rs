//! The configuration: defaults, then the TOML file, then the environment, then flags. Each layer is
//! first read as text (`layer`), then parsed (`setting`); all mistakes are reported together, and
//! the server does not start with any.

mod contradictions;
mod environment;
mod file;
mod layer;
mod load;
mod price_file;
mod resolve;
mod sections;
mod setting;
mod value;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{KillSwitch, Policy, Provider, RequireKey};
use secrecy::SecretString;
use store::{PostgresConfig, Retention};
use web::Access;
use wire::{Price, Prices};

pub use layer::{Entry, Mistake, Mistakes, Origin};
pub(crate) use load::{load, load_for_server};
pub use resolve::{Sources, count_mistakes, resolve};
pub use sections::{
    Alerting, Database, Engine, JwtSettings, Limits, Log, LogFormat, OidcSettings, RecordingConfig, RefusalStatuses,
    SharedConfig,
};

use crate::drill;
pub use crate::tls::TlsConfig;

/// The resolved configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address of both listeners.
    pub bind: IpAddr,
    /// The port of dashboard and API; 0 picks a free one.
    pub port: u16,
    /// The port of the proxy; 0 picks a free one.
    pub proxy_port: u16,
    /// The data directory.
    pub data_dir: PathBuf,
    /// The database.
    pub database: Database,
    /// What replicas share.
    pub shared: SharedConfig,
    /// The file with the key that encrypts provider keys, if it is not in the data directory.
    pub key_file: Option<PathBuf>,
    /// The file for the addresses, written once both listeners accept.
    pub ready_file: Option<PathBuf>,
    /// Unknown variables `AGENTGAZER_…`, to be reported: one may be a typo.
    pub ignored_variables: Vec<String>,
    /// The token, if the operator set one.
    pub token: Option<SecretString>,
    /// The TLS files of both listeners.
    pub tls: TlsConfig,
    /// The reverse proxies in front, and the logins that they vouch for.
    pub access: Access,
    /// The tokens that name agents.
    pub jwt: JwtSettings,
    /// The identity provider for logins.
    pub oidc: OidcSettings,
    /// Further names allowed in `Host`.
    pub allow_hosts: Vec<String>,
    /// The origins of the web pages that may call through the proxy.
    pub allow_origins: Vec<proxy::Origin>,
    /// When calls need an agent key.
    pub require_key: RequireKey,
    /// Whether everyone who reaches the proxy may use the stored provider keys.
    pub allow_open_relay: bool,
    /// Providers that are added or changed.
    pub providers: Vec<Provider>,
    /// The status of refusals because of an inactive agent, a spent budget or the hours.
    pub refusal_status: RefusalStatuses,
    /// How long calls in flight may take to finish when the server is stopped.
    pub drain: Duration,
    /// The memory for the bodies of the calls in the windows, in bytes.
    pub evidence_budget: usize,
    /// Whether those bodies are also on disk, so that a restart does not lose them.
    pub keep_evidence_on_disk: bool,
    /// The agents whose requests and responses are recorded.
    pub recording: RecordingConfig,
    /// The kill switch of new agents.
    pub kill_switch: KillSwitch,
    /// The policy of agents that have none of their own.
    pub policy: Policy,
    /// How long data is kept.
    pub retention: Retention,
    /// The largest size of the database in bytes; `None` for no limit.
    pub max_size: Option<u64>,
    /// The price list.
    pub prices: Arc<Prices>,
    /// Settings of alerts.
    pub alerts: Alerting,
    /// Whether streams that would not report their usage are asked to, by provider.
    pub include_usage: HashMap<String, bool>,
    /// Limits of the data path.
    pub limits: Limits,
    /// What is logged and how.
    pub log: Log,
}

impl Config {
    /// The defaults, with the data directory `data_dir`.
    pub fn new(data_dir: PathBuf) -> Config {
        Config {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 18_880,
            proxy_port: 18_900,
            data_dir,
            database: Database::default(),
            shared: SharedConfig::default(),
            key_file: None,
            ready_file: None,
            ignored_variables: Vec::new(),
            token: None,
            tls: TlsConfig::default(),
            access: Access::default(),
            jwt: JwtSettings::default(),
            oidc: OidcSettings::default(),
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
            kill_switch: guard::GuardConfig::default().defaults,
            policy: Policy::default(),
            retention: Retention::default(),
            max_size: Some(20 << 30),
            prices: Arc::new(prices()),
            alerts: Alerting::default(),
            include_usage: HashMap::new(),
            limits: Limits::default(),
            log: Log::default(),
        }
    }

    /// The file with the key that encrypts provider keys.
    pub fn key_file(&self) -> PathBuf {
        self.key_file.clone().unwrap_or_else(|| self.data_dir.join("agentgazer.key"))
    }

    /// The PostgreSQL server; `None` for the file in the data directory.
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

/// The built-in prices. The drill's model is under a vendor's name: a drill's provider has a new
/// name each time, and counts as a gateway.
fn prices() -> Prices {
    let mut prices = Prices::builtin();
    prices.put("openai", drill::MODEL, Price::default());
    prices
}

/// The platform's directory for user data, according to the environment; `None` without a home
/// directory.
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
