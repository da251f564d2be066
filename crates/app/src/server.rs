//! The whole server, wired together: store, guard, recorder, proxy, dashboard and their two
//! listeners. `start` and `demo` run the same one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use alerts::{Alerts, MailServers};
use anyhow::{Context, anyhow};
use control::{Control, Token};
use guard::{Guard, GuardConfig};
use model::{AgentKeys, AllowedHosts, Clock, Failures, KeyRequirement, Provider, Providers, RecorderHandle, Usage};
use proxy::{Proxy, ProxyConfig};
use secrecy::{ExposeSecret, SecretString};
use store::{ClaimDirectory, Recorder, RecordingFile, Store, StoreConfig, Unpriced};
use tokio::task::JoinHandle;
use web::{Drills, Mail, Names, OpeningWords, SessionStorage, TestMails, Warnings, Web};

use crate::clock_watch;
use crate::commands::drill;
use crate::config::Config;
use crate::data_dir::{Addresses, DataDir, repair_mode};
use crate::evidence_keeper::EvidenceKeeper;
use crate::key_uses;
use crate::listen::{InheritedSockets, Listener};
use crate::listeners;
use crate::recording::{self, Recording};
use crate::tls::Tls;

/// How many events may wait for the disk before further ones are dropped and counted.
const RECORDER_CAPACITY: usize = 65_536;
/// Pages and API answers are short; live streams would never end by themselves.
const DASHBOARD_GRACE: Duration = Duration::from_millis(500);
/// How long the recorder may take to bring the rest to disk.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(30);

/// A running server.
#[derive(Debug)]
pub struct Server {
    addresses: Addresses,
    token: SecretString,
    kills_new_agents: bool,
    draining: Arc<AtomicBool>,
    proxy: Listener,
    dashboard: Listener,
    alerts: Alerts,
    evidence: Option<EvidenceKeeper>,
    tls_watch: Option<JoinHandle<()>>,
    clock_watch: JoinHandle<()>,
    restoring: JoinHandle<()>,
    control: Control,
    key_uses: JoinHandle<()>,
    recorder: Recorder,
    recorder_task: JoinHandle<()>,
    data_dir: Arc<DataDir>,
}

impl Server {
    /// Starts everything. When this returns, both listeners accept.
    pub async fn start(config: &Config) -> anyhow::Result<Server> {
        Server::start_on(config, InheritedSockets::default()).await
    }

    /// Starts everything, on sockets that were handed over where there are some.
    pub(crate) async fn start_on(config: &Config, mut sockets: InheritedSockets) -> anyhow::Result<Server> {
        // Ports first: a port that is taken is the likeliest mistake, and clients that connect
        // early wait in the queue.
        let proxy_socket = listeners::open_socket(config, &mut sockets, "proxy").await?;
        let web_socket = listeners::open_socket(config, &mut sockets, "dashboard").await?;
        sockets.ensure_all_taken()?;
        let tls = config.tls.files().map(Tls::load).transpose().map_err(|mistake| anyhow!("{mistake}"))?;
        let data_dir = Arc::new(DataDir::open(&config.data_dir)?);
        repair_mode(&config.key_file(), 0o600)?;
        let (token, known) = token(config, &data_dir)?;
        let scheme = config.tls.scheme();
        let addresses = Addresses {
            proxy: listeners::url(&proxy_socket, scheme)?,
            dashboard: listeners::url(&web_socket, scheme)?,
            certificate: config.tls.certificate.as_deref().and_then(|path| std::path::absolute(path).ok()),
        };

        let key_requirement = KeyRequirement {
            require: config.require_key,
            is_exposed: !proxy_socket.local_addr()?.ip().is_loopback(),
            allow_open_relay: config.allow_open_relay,
        };
        let parts = Parts::build(config, &data_dir, key_requirement).await?;
        let draining = Arc::new(AtomicBool::new(false));
        let proxy = parts.proxy(config);
        let mut web = parts.web(config, known, &addresses, Arc::clone(&draining));
        let control = web.control.clone();
        web.control.load_people().await?;
        web.detection_failures = proxy.detection_failures();
        web.sessions = data_dir.sessions();
        web.is_https = tls.is_some();
        web.warnings = tls.as_ref().map(warnings_of).unwrap_or_default();
        web.drills = drill::for_dashboard(addresses.clone());
        let recordings = recording::open(config).await;
        web.recording = recording::for_dashboard(config, recordings.clone());
        let words = proxy.clone();
        web.opening_words = OpeningWords::new(move |call| words.opening_words(call));
        let recording = recordings.map(|file| parts.recording(config, file));
        let evidence = EvidenceKeeper::start(config, &parts.guard, &proxy, recording).await;
        let alerts = config.alerts.config(&addresses.dashboard, &config.policy)?;
        web.mail.tests = test_mails(MailServers::new(&alerts, parts.store.clone()));
        let alerts = Alerts::start(alerts, parts.store.clone(), parts.recorder.clone(), Clock::System);
        let proxy = listeners::start_proxy(proxy_socket, config, tls.as_ref(), proxy);
        let dashboard = listeners::start_dashboard(web_socket, config, tls.as_ref(), web);
        // The other commands need it, the server does not: a full disk is no reason not to start.
        if let Err(error) = data_dir.write_addresses(&addresses) {
            tracing::warn!("other commands do not find this server without --url: {error:#}");
        }
        if let Some(path) = &config.ready_file {
            addresses.write(path)?;
        }
        let kills_new_agents = parts.guard.defaults().enabled;
        Ok(Server {
            addresses,
            token,
            kills_new_agents,
            draining,
            proxy,
            dashboard,
            alerts,
            evidence,
            tls_watch: tls.map(|tls| tls.watch()),
            clock_watch: clock_watch::start(Clock::System, Arc::clone(&parts.guard)),
            restoring: parts.restore_older_agents(config),
            key_uses: key_uses::start(control.clone()),
            control,
            recorder: parts.recorder,
            recorder_task: parts.recorder_task,
            data_dir,
        })
    }

    /// Where agents call.
    pub fn proxy_url(&self) -> &str {
        &self.addresses.proxy
    }

    /// Where people and programs look.
    pub fn dashboard_url(&self) -> &str {
        &self.addresses.dashboard
    }

    /// Where both are, and what commands trust there.
    pub(crate) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// What the dashboard and the API ask for.
    pub fn token(&self) -> &SecretString {
        &self.token
    }

    /// Whether agents not yet seen have their kill switch on.
    pub fn kills_new_agents(&self) -> bool {
        self.kills_new_agents
    }

    /// Whether calls need an agent key, and there is none yet.
    pub fn lacks_agent_keys(&self) -> bool {
        self.control.requires_key() && self.control.agent_keys().is_empty()
    }

    /// A link to `path` of the dashboard that logs in. The token is in the fragment, which browsers
    /// never send.
    pub fn login_link(&self, path: &str) -> String {
        format!("{}{path}#token={}", self.addresses.dashboard, self.token.expose_secret())
    }

    /// Stops: readiness goes down, no new calls, those in flight may finish for `drain`, everything
    /// is on disk.
    pub async fn stop(self, drain: Duration) -> anyhow::Result<()> {
        // The dashboard stays up while calls finish: it is what says that we are not ready.
        self.draining.store(true, Ordering::SeqCst);
        self.dashboard.announce_stop();
        if !self.proxy.stop(drain).await {
            tracing::warn!(drain = ?drain, "calls that did not finish in time were cut");
        }
        // Before the dashboard stops: the recorder ends with the last sender of events.
        self.key_uses.abort();
        self.control.store_key_uses().await;
        if let Some(evidence) = self.evidence {
            evidence.stop().await;
        }
        self.dashboard.stop(DASHBOARD_GRACE).await;
        self.alerts.stop().await;
        self.tls_watch.iter().for_each(JoinHandle::abort);
        self.clock_watch.abort();
        self.restoring.abort();
        let flushed = tokio::time::timeout(FLUSH_TIMEOUT, self.recorder.stop()).await;
        self.data_dir.forget_addresses();
        anyhow::ensure!(flushed.unwrap_or(false), "not everything could be written to disk; the log says what is lost");
        self.recorder_task.await.context("the recorder failed")
    }
}

/// The parts that both listeners share.
struct Parts {
    guard: Arc<Guard>,
    store: Store,
    recorder: Recorder,
    recorder_task: JoinHandle<()>,
    handle: RecorderHandle,
    providers: Providers,
    configured: Vec<Provider>,
    agent_keys: AgentKeys,
    key_requirement: KeyRequirement,
    hosts: AllowedHosts,
}

impl Parts {
    /// Opens the store and restores the guard from it, before any call is accepted.
    async fn build(config: &Config, data_dir: &Arc<DataDir>, key_requirement: KeyRequirement) -> anyhow::Result<Parts> {
        let claimed = Arc::clone(data_dir);
        let store = Store::open(StoreConfig {
            data_dir: config.data_dir.clone(),
            postgres: config.postgres()?,
            key_file: config.key_file(),
            defaults: config.kill_switch,
            retention: config.retention,
            max_size: config.max_size,
            grouping: config.alerts.grouping(),
            unpriced: unpriced(config),
            clock: Clock::System,
            claim_directory: ClaimDirectory::new(move || claimed.claim_again().map_err(|error| format!("{error:#}"))),
        })
        .await?;
        store.claim_writer().await?;
        let guard_config = GuardConfig {
            defaults: config.kill_switch,
            max_agents: config.limits.max_agents,
            max_conversations: config.limits.max_conversations,
        };
        let guard = control::restore_guard(guard_config, &config.policy, &store, &Clock::System).await?;
        let guard = Arc::new(guard);
        let inactive = Arc::clone(&guard);
        store.read_kills_from(move || inactive.inactive_agents());
        let configured = configured_providers(config);
        let stored = store.providers().await?;
        let providers = Providers::new(configured.iter().cloned().chain(stored));
        refuse_open_relay(key_requirement, &providers)?;
        let agent_keys = AgentKeys::new(store.agent_keys().await?);
        let (handle, inbox) = RecorderHandle::new(RECORDER_CAPACITY);
        let (recorder, recorder_task) = Recorder::start(store.clone(), inbox);
        Ok(Parts {
            guard,
            store,
            recorder,
            recorder_task,
            handle,
            providers,
            configured,
            agent_keys,
            key_requirement,
            hosts: AllowedHosts::new(config.bind, config.allow_hosts.iter().cloned()),
        })
    }

    /// Restores the windows of agents that were not seen recently, while calls already come in.
    fn restore_older_agents(&self, config: &Config) -> JoinHandle<()> {
        let (guard, store) = (Arc::clone(&self.guard), self.store.clone());
        let (defaults, max_agents) = (self.guard.defaults(), config.limits.max_agents);
        tokio::spawn(async move {
            if let Err(error) = control::restore_older_agents(guard, store, defaults, max_agents).await {
                tracing::warn!("the windows of agents that were not seen recently are empty: {error}");
            }
        })
    }

    fn proxy(&self, config: &Config) -> Proxy {
        let limits = &config.limits;
        let proxy_config = ProxyConfig {
            hosts: self.hosts.clone(),
            allow_origins: config.allow_origins.clone(),
            key_requirement: self.key_requirement,
            keys: self.agent_keys.clone(),
            refusal_status: config.refusal_status.by_format(),
            max_request_body: limits.max_request_body,
            bodies_in_flight: limits.bodies_in_flight,
            connect_timeout: limits.connect_timeout,
            first_byte_timeout: limits.first_byte_timeout,
            idle_timeout: limits.idle_timeout,
            evidence_budget: config.evidence_budget,
            copy_evidence: recording::may_record(config),
            kill_commit_timeout: limits.kill_commit_timeout,
            prices: Arc::clone(&config.prices),
            include_usage: config.include_usage.clone(),
        };
        let guard = Arc::clone(&self.guard);
        Proxy::new(proxy_config, guard, self.providers.clone(), self.handle.clone(), Clock::System)
    }

    fn recording(&self, config: &Config, file: RecordingFile) -> Recording {
        Recording::new(config.recording.clone(), file, self.store.clone(), self.recorder.clone())
    }

    fn control(&self, config: &Config, token: Token) -> Control {
        Control::new(control::Parts {
            guard: Arc::clone(&self.guard),
            store: self.store.clone(),
            recorder: self.recorder.clone(),
            providers: self.providers.clone(),
            configured_providers: self.configured.clone(),
            agent_keys: self.agent_keys.clone(),
            key_requirement: self.key_requirement,
            configured_policy: config.policy.clone(),
            token,
            clock: Clock::System,
        })
    }

    fn web(&self, config: &Config, token: Token, addresses: &Addresses, draining: Arc<AtomicBool>) -> Web {
        Web {
            control: self.control(config, token.clone()),
            guard: Arc::clone(&self.guard),
            store: self.store.clone(),
            recorder: self.recorder.clone(),
            recorder_handle: self.handle.clone(),
            providers: self.providers.clone(),
            allow_private_targets: config.alerts.allow_private_targets,
            mail: Mail { configured: config.alerts.smtp.server(), tests: TestMails::default() },
            names: Names::System,
            proxy_url: addresses.proxy.clone(),
            public_url: config.alerts.public_url(&addresses.dashboard),
            token,
            sessions: SessionStorage::default(),
            drills: Drills::default(),
            is_https: false,
            access: config.access.clone(),
            warnings: Warnings::default(),
            recording: web::Recording::default(),
            opening_words: OpeningWords::default(),
            detection_failures: Failures::default(),
            hosts: self.hosts.clone(),
            draining,
            clock: Clock::System,
        }
    }
}

/// Refuses to start a proxy through which everybody who reaches it can spend a stored provider key,
/// unless the operator says so.
fn refuse_open_relay(requirement: KeyRequirement, providers: &Providers) -> anyhow::Result<()> {
    let providers = providers.all();
    let with_key = providers.iter().filter(|provider| control::has_key(provider));
    let names: Vec<&str> = with_key.map(|provider| provider.name.as_str()).collect();
    anyhow::ensure!(
        names.is_empty() || !requirement.refuses_provider_keys(),
        "proxy.require_key is \"never\" and other machines can reach the proxy, so each of them could use the stored key of \
         {}: set proxy.require_key to \"auto\" and give clients agent keys, or bind to 127.0.0.1; if everybody who reaches it \
         may use it, set proxy.allow_open_relay to true",
        names.join(", ")
    );
    Ok(())
}

/// Test mails of the dashboard and the API.
fn test_mails(servers: MailServers) -> TestMails {
    TestMails::new(move |to| {
        let servers = servers.clone();
        async move { servers.test(&to).await }
    })
}

/// The token that the operator set, else the one in the data directory, which can be replaced while
/// the server runs.
fn token(config: &Config, data_dir: &Arc<DataDir>) -> anyhow::Result<(SecretString, Token)> {
    if let Some(token) = &config.token {
        return Ok((token.clone(), Token::configured(token.clone())));
    }
    let (token, keep) = (data_dir.token()?, data_dir.keep_token());
    if token.expose_secret().len() < Token::MIN_LENGTH {
        // Refusing it would keep a server from starting that ran before.
        tracing::warn!(
            "the token in the data directory has fewer than {} characters and can be guessed: replace it on the \
             Settings page, or delete its file and start again",
            Token::MIN_LENGTH
        );
    }
    Ok((token.clone(), Token::kept(token, keep)))
}

/// What is wrong with the certificate, for readiness; told once in the log.
fn warnings_of(tls: &Tls) -> Warnings {
    tls.log_warnings();
    let tls = tls.clone();
    Warnings::new(move || tls.warnings(Clock::System.now()))
}

/// What tokens of a model without a price count towards budgets, as the configuration says.
fn unpriced(config: &Config) -> Unpriced {
    let prices = Arc::clone(&config.prices);
    Unpriced::new(move |provider, input, output| {
        let usage = Usage { input: Some(input), output: Some(output), ..Usage::default() };
        prices.counted(provider, "", &usage)
    })
}

/// The built-in providers with the operator's on top.
fn configured_providers(config: &Config) -> Vec<Provider> {
    let mut providers = wire::builtin_providers();
    for provider in &config.providers {
        providers.retain(|earlier| earlier.name != provider.name);
        providers.push(provider.clone());
    }
    providers
}
