//! The parts that both listeners share, built once from the configuration.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use control::{Control, Token};
use guard::{Guard, GuardConfig};
use identity::find_token;
use model::{AgentKeys, AllowedHosts, Clock, Failures, KeyRequirement, Provider, Providers, RecorderHandle, Usage};
use proxy::{OwnTokens, Proxy, ProxyConfig};
use store::{ChangeFeed, ClaimDirectory, Recorder, RecordingFile, Store, StoreConfig, Unpriced};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use web::{Drills, Mail, Names, OpeningWords, SessionStorage, TestMails, Warnings, Web};

use super::recording::{self, Recording};
use super::sharing::Sharing;
use super::{replica, standby};
use crate::config::{Config, Engine};
use crate::data_dir::{Addresses, DataDir};

/// How many events may wait for the disk before further ones are dropped and counted.
const RECORDER_CAPACITY: usize = 65_536;

/// The parts that both listeners share.
pub(super) struct Parts {
    pub(super) guard: Arc<Guard>,
    pub(super) store: Store,
    pub(super) recorder: Recorder,
    pub(super) recorder_task: JoinHandle<()>,
    handle: RecorderHandle,
    providers: Providers,
    configured: Vec<Provider>,
    agent_keys: AgentKeys,
    key_requirement: KeyRequirement,
    hosts: AllowedHosts,
    /// The changes of other servers on the same database, if it is shared.
    pub(super) feed: Option<ChangeFeed>,
    pub(super) sharing: Option<Sharing>,
    /// That of the engine, if replicas share one.
    pub(super) clock: Clock,
}

impl Parts {
    /// Opens the store and restores the guard from it, before any call is accepted.
    pub(super) async fn build(
        config: &Config,
        data_dir: &Arc<DataDir>,
        (key_requirement, dashboard): (KeyRequirement, &TcpListener),
    ) -> anyhow::Result<Parts> {
        let store_config = store_config(config, data_dir)?;
        let claim = standby::wait(&store_config, dashboard).await?;
        let share = Sharing::connect(config).await?;
        let clock = Sharing::clock(share.as_ref()).await?;
        let store = Store::open(StoreConfig { clock: clock.clone(), ..store_config }).await?.with_claim(claim);
        let store = if store.is_shared() { store.with_writer(&replica::new_id()?) } else { store };
        let feed = store.change_feed().await?;
        let sharing = share.map(|share| Sharing::new(share, config, &store));
        let guard = restore_guard(config, &store, &clock).await?;
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
            feed,
            sharing,
            clock,
        })
    }

    /// Restores the windows of agents that were not seen recently, while calls come in. Announces
    /// the end on `restored`.
    pub(super) fn restore_older_agents(&self, config: &Config, restored: oneshot::Sender<()>) -> JoinHandle<()> {
        let (guard, store) = (Arc::clone(&self.guard), self.store.clone());
        let (defaults, max_agents) = (self.guard.defaults(), config.limits.max_agents);
        tokio::spawn(async move {
            if let Err(error) = control::restore_older_agents(guard, store, defaults, max_agents).await {
                tracing::warn!("the windows of agents that were not seen recently are empty: {error}");
            }
            let _ = restored.send(());
        })
    }

    pub(super) fn proxy(&self, config: &Config, token: &Token) -> Proxy {
        let limits = &config.limits;
        let proxy_config = ProxyConfig {
            hosts: self.hosts.clone(),
            allow_origins: config.allow_origins.clone(),
            key_requirement: self.key_requirement,
            keys: self.agent_keys.clone(),
            own_tokens: own_tokens(config, token.clone()),
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
            shared: self.sharing.as_ref().map(|sharing| sharing.shared.clone()),
        };
        let guard = Arc::clone(&self.guard);
        Proxy::new(proxy_config, guard, self.providers.clone(), self.handle.clone(), self.clock.clone())
    }

    pub(super) fn recording(&self, config: &Config, file: RecordingFile) -> Recording {
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
            clock: self.clock.clone(),
        })
    }

    pub(super) fn web(&self, config: &Config, token: Token, addresses: &Addresses, draining: Arc<AtomicBool>) -> Web {
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
            clock: self.clock.clone(),
        }
    }
}

/// The guard with the agents of the store, which reads the kills of a lost database from it.
async fn restore_guard(config: &Config, store: &Store, clock: &Clock) -> anyhow::Result<Arc<Guard>> {
    let guard_config = GuardConfig {
        defaults: config.kill_switch,
        max_agents: config.limits.max_agents,
        max_conversations: config.limits.max_conversations,
    };
    let guard = Arc::new(control::restore_guard(guard_config, &config.policy, store, clock).await?);
    let inactive = Arc::clone(&guard);
    store.read_kills_from(move || inactive.inactive_agents());
    Ok(guard)
}

/// The configuration of the store.
fn store_config(config: &Config, data_dir: &Arc<DataDir>) -> anyhow::Result<StoreConfig> {
    let claimed = Arc::clone(data_dir);
    Ok(StoreConfig {
        data_dir: config.data_dir.clone(),
        postgres: config.postgres()?,
        shared: config.shared.engine != Engine::Off,
        key_file: config.key_file(),
        defaults: config.kill_switch,
        retention: config.retention,
        max_size: config.max_size,
        grouping: config.alerts.grouping(),
        unpriced: unpriced(config),
        clock: Clock::System,
        claim_directory: ClaimDirectory::new(move || claimed.claim_again().map_err(|error| format!("{error:#}"))),
    })
}

/// Refuses to start a proxy through which everyone who reaches it could use a stored provider key,
/// unless the operator allows it.
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

/// The tokens that no provider may get: the one of the first start, and those that name an agent.
fn own_tokens(config: &Config, first: Token) -> OwnTokens {
    let issuer = config.jwt.config().map(|jwt| jwt.issuer);
    let names_agent = move |text: &[u8]| {
        issuer.as_ref().is_some_and(|issuer| find_token(&String::from_utf8_lossy(text), issuer).is_some())
    };
    OwnTokens::new(move |text| first.is_in(text) || names_agent(text))
}

/// The amount that tokens of a model without a price count towards budgets, as configured.
fn unpriced(config: &Config) -> Unpriced {
    let prices = Arc::clone(&config.prices);
    Unpriced::new(move |provider, input, output| {
        let usage = Usage { input: Some(input), output: Some(output), ..Usage::default() };
        prices.counted(provider, "", &usage)
    })
}

/// The built-in providers, overridden by the operator's.
fn configured_providers(config: &Config) -> Vec<Provider> {
    let mut providers = wire::builtin_providers();
    for provider in &config.providers {
        providers.retain(|earlier| earlier.name != provider.name);
        providers.push(provider.clone());
    }
    providers
}
