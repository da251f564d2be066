//! The whole server, wired together: store, guard, recorder, proxy, dashboard and their two
//! listeners. `start` and `demo` run the same one.

mod clock_watch;
mod evidence_keeper;
mod key_uses;
mod listeners;
mod parts;
mod recording;
mod replica;
mod sharing;
mod standby;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use alerts::{Alerts, MailServers};
use anyhow::{Context, anyhow};
use control::{Control, Token};
use model::{Clock, KeyRequirement};
use proxy::Proxy;
use secrecy::{ExposeSecret, SecretString};
use store::{Recorder, Store};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use web::{OpeningWords, SessionStorage, TestMails, Warnings, Web};

use self::evidence_keeper::EvidenceKeeper;
use self::parts::Parts;
use self::replica::Replica;
use crate::config::Config;
use crate::data_dir::{Addresses, DataDir, repair_mode};
use crate::drill;
use crate::listen::{InheritedSockets, Listener};
use crate::tls::Tls;

/// Pages and API answers are short; live streams would never end on their own.
const DASHBOARD_GRACE: Duration = Duration::from_millis(500);
/// How long the recorder may take to write the rest to disk.
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
    replica: Option<Replica>,
    sharing: Option<sharing::Running>,
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

    /// Starts everything, on inherited sockets where there are some.
    pub(crate) async fn start_on(config: &Config, mut sockets: InheritedSockets) -> anyhow::Result<Server> {
        let sockets = Sockets::open(config, &mut sockets).await?;
        let tls = config.tls.files().map(Tls::load).transpose().map_err(|mistake| anyhow!("{mistake}"))?;
        let data_dir = Arc::new(DataDir::open(&config.data_dir)?);
        repair_mode(&config.key_file(), 0o600)?;
        let (token, known) = token(config, &data_dir)?;
        let addresses = sockets.addresses(config)?;
        let entrance = (sockets.key_requirement(config)?, &sockets.dashboard);
        let mut parts = Parts::build(config, &data_dir, entrance).await?;
        let draining = Arc::new(AtomicBool::new(false));
        let proxy = parts.proxy(config, &known);
        let mut web = parts.web(config, known, &addresses, Arc::clone(&draining));
        let control = web.control.clone();
        control.load_people().await?;
        let sharing = parts.sharing.as_ref().map(|sharing| sharing.start(&control, &proxy));
        web.sessions = session_storage(&parts.store, &data_dir);
        web.drills = drill::for_dashboard(addresses.clone());
        connect(&mut web, &proxy, tls.as_ref());
        web.access.oidc = config.oidc.login(config.alerts.allow_private_targets)?;
        web.warnings = sharing::add_warnings(web.warnings, parts.sharing.as_ref());
        let recordings = recording::open(config).await;
        web.recording = recording::for_dashboard(config, recordings.clone());
        let recording = recordings.map(|file| parts.recording(config, file));
        let (restored, older_agents) = oneshot::channel();
        let evidence = EvidenceKeeper::start((config, &data_dir), &parts.guard, &proxy, recording, older_agents).await;
        let alerts = start_alerts(config, &addresses.dashboard, &parts, &mut web)?;
        let replica =
            parts.feed.take().map(|feed| Replica::start(feed, &parts, (&control, &proxy), &addresses.dashboard));
        let clock_watch = clock_watch::start(proxy.clone());
        let proxy = listeners::start_proxy(sockets.proxy, config, tls.as_ref(), proxy);
        let dashboard = listeners::start_dashboard(sockets.dashboard, config, tls.as_ref(), web);
        publish(&addresses, config, &data_dir)?;
        Ok(Server {
            addresses,
            token,
            kills_new_agents: parts.guard.defaults().enabled,
            draining,
            proxy,
            dashboard,
            alerts,
            evidence,
            replica,
            sharing,
            tls_watch: tls.map(|tls| tls.watch()),
            clock_watch,
            restoring: parts.restore_older_agents(config, restored),
            key_uses: key_uses::start(control.clone()),
            control,
            recorder: parts.recorder,
            recorder_task: parts.recorder_task,
            data_dir,
        })
    }

    /// The address of the proxy.
    pub fn proxy_url(&self) -> &str {
        &self.addresses.proxy
    }

    /// The address of dashboard and API.
    pub fn dashboard_url(&self) -> &str {
        &self.addresses.dashboard
    }

    /// Both addresses, and the certificate that commands trust there.
    pub(crate) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// The token of dashboard and API.
    pub fn token(&self) -> &SecretString {
        &self.token
    }

    /// Whether the kill switch of new agents is on.
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

    /// Stops: readiness fails, no new calls are accepted, those in flight may finish for `drain`,
    /// and everything is written to disk.
    pub async fn stop(self, drain: Duration) -> anyhow::Result<()> {
        // The dashboard stays up while calls finish, because it reports that the server is not
        // ready.
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
        if let Some(replica) = self.replica {
            replica.stop().await;
        }
        if let Some(sharing) = self.sharing {
            sharing.stop().await;
        }
        self.tls_watch.iter().for_each(JoinHandle::abort);
        self.clock_watch.abort();
        self.restoring.abort();
        let flushed = tokio::time::timeout(FLUSH_TIMEOUT, self.recorder.stop()).await;
        self.data_dir.remove_addresses();
        anyhow::ensure!(flushed.unwrap_or(false), "not everything could be written to disk; the log says what is lost");
        self.recorder_task.await.context("the recorder failed")
    }
}

/// Where sessions are stored, so that a restart logs no one out.
fn session_storage(store: &Store, data_dir: &DataDir) -> SessionStorage {
    if store.keeps_sessions() { SessionStorage::database(store.clone()) } else { data_dir.sessions() }
}

/// Starts to deliver alerts, and gives `web` its test mails.
fn start_alerts(config: &Config, dashboard: &str, parts: &Parts, web: &mut Web) -> anyhow::Result<Alerts> {
    let alerts = config.alerts.config(dashboard, &config.policy)?;
    web.mail.tests = test_mails(MailServers::new(&alerts, parts.store.clone()));
    Ok(Alerts::start(alerts, parts.store.clone(), parts.recorder.clone(), parts.clock.clone()))
}

/// Test mails of the dashboard and the API.
fn test_mails(servers: MailServers) -> TestMails {
    TestMails::new(move |to| {
        let servers = servers.clone();
        async move { servers.test(&to).await }
    })
}

/// The configured token, or the one in the data directory, which can be replaced while the server
/// runs.
fn token(config: &Config, data_dir: &Arc<DataDir>) -> anyhow::Result<(SecretString, Token)> {
    if let Some(token) = &config.token {
        return Ok((token.clone(), Token::configured(token.clone())));
    }
    let (token, keep) = (data_dir.token()?, data_dir.token_writer());
    if token.expose_secret().len() < Token::MIN_LENGTH {
        // Refusing it would keep a server from starting that ran before.
        tracing::warn!(
            "the token in the data directory has fewer than {} characters and can be guessed: replace it on the \
             Settings page, or delete its file and start again",
            Token::MIN_LENGTH
        );
    }
    Ok((token.clone(), Token::generated(token, keep)))
}

/// Problems with the certificate, for readiness; logged once.
fn warnings_of(tls: &Tls) -> Warnings {
    tls.log_warnings();
    let tls = tls.clone();
    Warnings::new(move || tls.warnings(Clock::System.now()))
}

/// The sockets of both listeners.
struct Sockets {
    proxy: TcpListener,
    dashboard: TcpListener,
}

impl Sockets {
    /// Opened first: a port in use is the most likely mistake, and clients that connect early wait
    /// in the queue.
    async fn open(config: &Config, inherited: &mut InheritedSockets) -> anyhow::Result<Sockets> {
        let proxy = listeners::open_socket(config, inherited, "proxy").await?;
        let dashboard = listeners::open_socket(config, inherited, "dashboard").await?;
        inherited.ensure_all_taken()?;
        Ok(Sockets { proxy, dashboard })
    }

    fn addresses(&self, config: &Config) -> anyhow::Result<Addresses> {
        let scheme = config.tls.scheme();
        Ok(Addresses {
            proxy: listeners::url(&self.proxy, scheme)?,
            dashboard: listeners::url(&self.dashboard, scheme)?,
            certificate: config.tls.certificate.as_deref().and_then(|path| std::path::absolute(path).ok()),
        })
    }

    fn key_requirement(&self, config: &Config) -> anyhow::Result<KeyRequirement> {
        Ok(KeyRequirement {
            require: config.require_key,
            // Through a reverse proxy on this machine, remote clients come from loopback.
            is_exposed: !self.proxy.local_addr()?.ip().is_loopback() || !config.access.proxies.is_empty(),
            allow_open_relay: config.allow_open_relay,
        })
    }
}

/// Gives the dashboard access to the proxy and to TLS.
fn connect(web: &mut Web, proxy: &Proxy, tls: Option<&Tls>) {
    let words = proxy.clone();
    web.opening_words = OpeningWords::new(move |call| words.opening_words(call));
    web.detection_failures = proxy.detection_failures();
    web.is_https = tls.is_some();
    web.warnings = tls.map(warnings_of).unwrap_or_default();
}

/// Writes the addresses for other commands, and the ready file.
fn publish(addresses: &Addresses, config: &Config, data_dir: &DataDir) -> anyhow::Result<()> {
    // Other commands need it, the server does not: a full disk must not keep it from starting.
    if let Err(error) = data_dir.write_addresses(addresses) {
        tracing::warn!("other commands do not find this server without --url: {error:#}");
    }
    if let Some(path) = &config.ready_file {
        addresses.write(path)?;
    }
    Ok(())
}
