//! Databases that the contract runs against, and what its cases share.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use model::{
    ActivatedBy, AgentId, CallId, Clock, Epoch, Event, EventType, Evidence, Incident, IncidentId, IncidentState, Kill,
    KillSwitch, Matched, RecorderHandle, Score, SignalCounts, Stuck, Timestamp, WindowKind,
};
use store::{Change, Changed, Notice, PageRequest, PostgresConfig, Recorder, Store, StoreConfig, StoreError};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::postgres_server::PostgresServer;

/// The time of all cases.
pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A kind of database.
pub(crate) trait Backend {
    /// A new, empty database.
    async fn create(&self) -> Server;
}

/// SQLite in a directory of its own.
pub(crate) struct Sqlite;

impl Backend for Sqlite {
    async fn create(&self) -> Server {
        let directory = tempfile::tempdir().unwrap();
        let mut config = StoreConfig::new(directory.path().join("data"), directory.path().join("key"));
        config.clock = Clock::manual(NOON);
        Server::start(config, directory, "").await
    }
}

/// A database of its own on a PostgreSQL that all cases of the process share.
pub(crate) struct Postgres;

static SERVER: LazyLock<PostgresServer> = LazyLock::new(PostgresServer::start);

impl Backend for Postgres {
    async fn create(&self) -> Server {
        let url = tokio::task::spawn_blocking(|| SERVER.create_database()).await.unwrap();
        Postgres::open(&url).await
    }
}

impl Postgres {
    /// The server that all cases share.
    pub(crate) fn shared() -> &'static PostgresServer {
        &SERVER
    }

    /// The database at `url`.
    pub(crate) async fn open(url: &str) -> Server {
        let directory = tempfile::tempdir().unwrap();
        Server::start(Postgres::config(url, &directory), directory, "").await
    }

    /// Several servers on a new database.
    pub(crate) async fn open_shared<const N: usize>(names: [&str; N]) -> [Server; N] {
        let url = tokio::task::spawn_blocking(|| SERVER.create_database()).await.unwrap();
        let mut servers = Vec::new();
        let key = Arc::new(tempfile::tempdir().unwrap());
        for name in names {
            let directory = tempfile::tempdir().unwrap();
            let mut config = Postgres::config(&url, &directory);
            (config.shared, config.key_file) = (true, key.path().join("key"));
            servers.push(Server { _key: Some(Arc::clone(&key)), ..Server::start(config, directory, name).await });
        }
        servers.try_into().ok().unwrap()
    }

    /// Ends every lease, as if its time were over.
    pub(crate) async fn end_leases(database: &str) {
        let database = database.to_owned();
        let statement = "update deliveries set leased_until = 0";
        tokio::task::spawn_blocking(move || SERVER.execute(&database, statement)).await.unwrap();
    }

    fn config(url: &str, directory: &TempDir) -> StoreConfig {
        let mut config = StoreConfig::new(directory.path().join("data"), directory.path().join("key"));
        config.clock = Clock::manual(NOON);
        config.postgres = Some(PostgresConfig::new(url.into(), None).unwrap());
        config
    }
}

/// A store with its writer.
pub(crate) struct Server {
    pub(crate) store: Store,
    pub(crate) recorder: Recorder,
    pub(crate) handle: RecorderHandle,
    writer: JoinHandle<()>,
    pub(crate) config: StoreConfig,
    directory: TempDir,
    /// The folder of the key file that several servers share.
    _key: Option<Arc<TempDir>>,
}

impl Server {
    pub(crate) async fn start(config: StoreConfig, directory: TempDir, writer: &str) -> Server {
        let store = Store::open(config.clone()).await.unwrap().with_writer(writer);
        let (handle, inbox) = RecorderHandle::new(10_000);
        let (recorder, writer) = Recorder::start(store.clone(), inbox);
        Server { store, recorder, handle, writer, config, directory, _key: None }
    }

    /// Stops the writer and opens the database again.
    pub(crate) async fn restart(self) -> Server {
        assert!(self.recorder.stop().await);
        self.writer.await.unwrap();
        Server::start(self.config, self.directory, "").await
    }

    /// Another writer on the same database.
    pub(crate) async fn second_writer(&self, name: &str) -> Server {
        Server::start(self.config.clone(), tempfile::tempdir().unwrap(), name).await
    }

    /// Records events and waits until they are written.
    pub(crate) async fn record(&self, events: &[Event]) {
        for events in events.chunks(500) {
            let mut notices = self.recorder.subscribe();
            let mut missing: HashSet<CallId> = events.iter().map(|event| event.id).collect();
            events.iter().for_each(|event| self.handle.event(event.clone()));
            while !missing.is_empty() {
                let notice = tokio::time::timeout(Duration::from_secs(30), notices.recv()).await;
                if let Notice::Event(event) = notice.expect("a notice in time").unwrap() {
                    missing.remove(&event.id);
                }
            }
        }
    }

    /// Kills an agent and waits until the kill is on disk.
    pub(crate) async fn kill(&self, agent: &str, epoch: u64) -> IncidentId {
        let incident = incident(agent, epoch);
        let id = incident.kill.incident;
        let mut event = call(agent, NOON);
        event.event_type = EventType::KillSwitch;
        event.epoch = Epoch(epoch);
        event.incident = Some(id);
        assert!(self.handle.kill(incident, event).wait().await);
        id
    }

    pub(crate) async fn change(&self, change: Change) -> Result<Changed, StoreError> {
        self.recorder.change(change).await
    }

    pub(crate) async fn activate(&self, agent: &str, epoch: u64) -> Result<Changed, StoreError> {
        self.change(Change::Activate { agent: id(agent), epoch: Epoch(epoch), by: ActivatedBy::Api, at: NOON }).await
    }

    pub(crate) async fn is_active(&self, agent: &str) -> bool {
        self.store.agent(&id(agent)).await.unwrap().unwrap().deactivation.is_none()
    }
}

pub(crate) fn id(agent: &str) -> AgentId {
    AgentId::parse(agent).unwrap()
}

pub(crate) fn page(limit: u32) -> PageRequest {
    PageRequest { limit, cursor: None }
}

pub(crate) fn call(agent: &str, at: Timestamp) -> Event {
    Event::new(CallId::at(at), id(agent), Epoch(0), EventType::LlmCall, at)
}

pub(crate) fn minutes_ago(minutes: i64) -> Timestamp {
    Timestamp::from_millis(NOON.as_millis() - minutes * 60_000)
}

pub(crate) fn incident(agent: &str, epoch: u64) -> Incident {
    let signals = SignalCounts { similar_prompts: 3, similar_responses: 2, repeated_tool_calls: 0 };
    let kill = Kill {
        incident: IncidentId::at(NOON),
        agent: id(agent),
        epoch: Epoch(epoch),
        at: NOON,
        score: Score { value: 7.0, signals, window: WindowKind::Conversation },
        kill_switch: KillSwitch { enabled: true, threshold: 5.0, ..KillSwitch::default() },
        matches: Vec::new(),
        stuck: Stuck::default(),
        window: Vec::new(),
    };
    let evidence = Evidence {
        call: CallId::new(),
        time: Some(NOON),
        matched: vec![Matched::Trigger],
        alike: Vec::new(),
        prompt: Some("go on".to_owned()),
        tool_calls: None,
        tool_results: None,
        response: None,
        request_body: Some("{\"ä\":1}".as_bytes().to_vec()),
        response_body: None,
        truncated: false,
        missing: None,
    };
    Incident {
        kill,
        state: IncidentState::Open,
        provider: "openai".to_owned(),
        model: Some("gpt-4o".to_owned()),
        conversation: None,
        evidence: vec![evidence],
    }
}
