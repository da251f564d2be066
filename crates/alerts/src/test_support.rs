#![allow(clippy::unwrap_used, clippy::expect_used)]
//! A store with its writer and a manual clock, for tests.

use std::collections::HashSet;

use model::{
    AgentId, AlertRule, CallId, Channel, ChannelId, ChannelKind, ChannelSettings, Clock, Condition, Epoch, Event,
    EventType, Incident, IncidentId, IncidentState, Kill, KillSwitch, RecorderHandle, RuleId, RuleScope, Score, Stuck,
    Timestamp,
};
use store::{
    AlertChange, Change, DeliveryFilter, DeliveryRow, Grouping, Notice, PageRequest, PostgresConfig, Recorder, Store,
    StoreConfig,
};

/// The secret of every webhook.
pub(crate) const SECRET: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

pub(crate) struct TestStore {
    pub(crate) store: Store,
    pub(crate) recorder: Recorder,
    pub(crate) handle: RecorderHandle,
    pub(crate) clock: Clock,
    pub(crate) _directory: tempfile::TempDir,
}

impl TestStore {
    pub(crate) async fn new(clock: Clock, grouping: Grouping) -> TestStore {
        let directory = tempfile::tempdir().unwrap();
        let mut config = StoreConfig::new(directory.path().join("data"), directory.path().join("key"));
        (config.clock, config.grouping) = (clock, grouping);
        TestStore::open(config, "", directory).await
    }

    /// One of several servers on the PostgreSQL database at `url`, with a shared key file.
    pub(crate) async fn shared(url: &str, name: &str, key_file: &std::path::Path) -> TestStore {
        let directory = tempfile::tempdir().unwrap();
        let mut config = StoreConfig::new(directory.path().join("data"), key_file);
        config.postgres = Some(PostgresConfig::new(url.into(), None).unwrap());
        (config.shared, config.grouping) =
            (true, Grouping { window: std::time::Duration::ZERO, ..Grouping::default() });
        TestStore::open(config, name, directory).await
    }

    async fn open(config: StoreConfig, name: &str, directory: tempfile::TempDir) -> TestStore {
        let clock = config.clock.clone();
        let store = Store::open(config).await.unwrap().with_writer(name);
        let (handle, inbox) = RecorderHandle::new(10_000);
        let (recorder, _) = Recorder::start(store.clone(), inbox);
        TestStore { store, recorder, handle, clock, _directory: directory }
    }

    pub(crate) async fn change(&self, change: AlertChange) {
        self.recorder.change(Change::Alerts(change)).await.unwrap();
    }

    pub(crate) async fn webhook(&self, name: &str, url: &str) -> ChannelId {
        let settings = ChannelSettings::Webhook { url: url.to_owned(), secret: SECRET.into() };
        let channel = Channel {
            id: ChannelId::new(),
            kind: ChannelKind::Webhook,
            name: name.to_owned(),
            enabled: true,
            disabled_reason: None,
            created_at: self.clock.now(),
            settings: Some(settings),
        };
        let id = channel.id;
        self.change(AlertChange::PutChannel { channel: channel.into() }).await;
        id
    }

    pub(crate) async fn rule(&self, scope: &str, condition: Condition) -> AlertRule {
        let rule = AlertRule {
            id: RuleId::new(),
            scope: RuleScope::parse(scope).unwrap(),
            condition,
            channels: Vec::new(),
            cooldown_minutes: 15,
            repeat_minutes: None,
            notify_recovery: true,
            enabled: true,
            created_at: self.clock.now(),
        };
        self.change(AlertChange::PutRule { rule: rule.clone().into() }).await;
        rule
    }

    /// Records calls of an agent, each with a status, now.
    pub(crate) async fn calls(&self, agent: &str, statuses: &[u16]) {
        let events = statuses.iter().map(|status| Event { status: Some(*status), ..self.call(agent) });
        self.record(events.collect()).await;
    }

    /// Records one call that cost this many billionths of a dollar.
    pub(crate) async fn spend(&self, agent: &str, nanos: i64) {
        let cost = Some(model::NanoUsd::new(nanos));
        let (provider, model) = (Some("openai".to_owned()), Some("gpt-4o".to_owned()));
        self.record(vec![Event { status: Some(200), cost, provider, model, ..self.call(agent) }]).await;
    }

    fn call(&self, agent: &str) -> Event {
        let (id, agent, now) = (CallId::at(self.clock.now()), AgentId::parse(agent).unwrap(), self.clock.now());
        Event::new(id, agent, Epoch(0), EventType::LlmCall, now)
    }

    async fn record(&self, events: Vec<Event>) {
        let mut notices = self.recorder.subscribe();
        let mut missing = HashSet::new();
        for event in events {
            missing.insert(event.id);
            self.handle.event(event);
        }
        while !missing.is_empty() {
            if let Notice::Event(event) = notices.recv().await.unwrap() {
                missing.remove(&event.id);
            }
        }
    }

    /// Kills an agent now.
    pub(crate) async fn kill(&self, agent: &str) -> IncidentId {
        let (agent, at) = (AgentId::parse(agent).unwrap(), self.clock.now());
        let kill = Kill {
            incident: IncidentId::at(at),
            agent: agent.clone(),
            epoch: Epoch(0),
            at,
            score: Score { value: 13.0, ..Score::default() },
            kill_switch: KillSwitch { enabled: true, ..KillSwitch::default() },
            matches: Vec::new(),
            stuck: Stuck::default(),
            window: Vec::new(),
        };
        let id = kill.incident;
        let incident = Incident {
            kill,
            state: IncidentState::Open,
            provider: "openai".to_owned(),
            model: None,
            conversation: None,
            evidence: Vec::new(),
        };
        let event = Event::new(CallId::new(), agent, Epoch(0), EventType::KillSwitch, at);
        assert!(self.handle.kill(incident, event).wait().await);
        id
    }

    /// The history, oldest first.
    pub(crate) async fn history(&self) -> Vec<DeliveryRow> {
        let page = PageRequest { limit: 500, cursor: None };
        let mut items = self.store.deliveries(&DeliveryFilter::default(), &page).await.unwrap().items;
        items.reverse();
        items
    }

    /// The type and agent of every alert that was queued, oldest first.
    pub(crate) async fn sent_alerts(&self) -> Vec<String> {
        let name = |row: &DeliveryRow| row.agent.as_ref().map(AgentId::to_string).unwrap_or_default();
        self.history().await.iter().map(|row| format!("{} {}", row.alert_type.as_str(), name(row))).collect()
    }
}

/// A clock in the middle of a minute.
pub(crate) fn clock() -> Clock {
    Clock::manual(Timestamp::from_millis(1_700_000_010_000))
}
