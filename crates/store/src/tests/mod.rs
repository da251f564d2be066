//! The store on real SQLite files. Nothing here sleeps: every test waits for an acknowledgement or
//! a notice.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod alerts;
mod borders;
mod read;
mod sqlite;
mod stats;
mod write;

use std::collections::HashSet;
use std::time::Duration;

use model::{
    ActivatedBy, AgentId, CallId, Clock, ConversationId, Epoch, Event, EventType, Evidence, Fingerprint, Incident,
    IncidentId, IncidentState, Kill, KillCommit, KillSwitch, Matched, Outcome, RecorderHandle, Score, SignalCounts,
    Step, Stuck, TextHash, Timestamp, Turn, WindowKind,
};
use sqlx::Connection as _;
use tempfile::TempDir;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use crate::database::Connection;
use crate::tuning::Tuning;
use crate::{Change, Changed, Notice, PageRequest, Recorder, Store, StoreConfig, StoreError};

/// The moment at which tests happen.
const NOON: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A store with its writer, in a directory of its own.
struct Fixture {
    store: Store,
    recorder: Recorder,
    handle: RecorderHandle,
    writer: JoinHandle<()>,
    tuning: Tuning,
    directory: TempDir,
}

impl Fixture {
    async fn new() -> Fixture {
        Self::with(quick()).await
    }

    async fn with(tuning: Tuning) -> Fixture {
        Self::open(tempfile::tempdir().unwrap(), tuning).await
    }

    async fn open(directory: TempDir, tuning: Tuning) -> Fixture {
        let store = Store::open_tuned(config(&directory), tuning.clone()).await.unwrap();
        let (handle, inbox) = RecorderHandle::new(10_000);
        let (recorder, writer) = Recorder::start(store.clone(), inbox);
        Fixture { store, recorder, handle, writer, tuning, directory }
    }

    /// Ends the writer as a shutdown does and starts again on the same files.
    async fn restart(self) -> Fixture {
        self.recorder.stop().await;
        self.writer.await.unwrap();
        self.store.readers.close().await;
        Self::open(self.directory, self.tuning).await
    }

    /// Records `event` and waits until it is written.
    async fn record(&self, event: Event) {
        self.record_all(vec![event]).await;
    }

    async fn record_all(&self, events: Vec<Event>) {
        // No more at a time than a watcher may fall behind.
        for events in events.chunks(500) {
            self.record_some(events).await;
        }
    }

    async fn record_some(&self, events: &[Event]) {
        let mut notices = self.recorder.subscribe();
        let mut missing: HashSet<CallId> = events.iter().map(|event| event.id).collect();
        events.iter().for_each(|event| self.handle.event(event.clone()));
        while !missing.is_empty() {
            if let Notice::Event(event) = next(&mut notices).await {
                missing.remove(&event.id);
            }
        }
    }

    async fn kill(&self, agent: &str, epoch: u64) -> IncidentId {
        let incident = incident(agent, epoch);
        let id = incident.kill.incident;
        assert!(self.send_kill(incident).wait().await);
        id
    }

    fn send_kill(&self, incident: Incident) -> KillCommit {
        let mut event = call(incident.kill.agent.as_str());
        event.event_type = EventType::KillSwitch;
        event.epoch = incident.kill.epoch;
        event.incident = Some(incident.kill.incident);
        self.handle.kill(incident, event)
    }

    async fn change(&self, change: Change) -> Result<Changed, StoreError> {
        self.recorder.change(change).await
    }

    async fn activate(&self, agent: &str, epoch: u64) -> Result<Changed, StoreError> {
        self.change(Change::Activate { agent: id(agent), epoch: Epoch(epoch), by: ActivatedBy::Api, at: NOON }).await
    }

    /// Makes all sums over longer spans that are due, without the writer.
    async fn make_sums(&self) {
        self.recorder.stop().await;
        let mut writer = self.connect().await;
        let portion = crate::stats::Portion { agents: self.tuning.sum_agents, writer: &self.tuning.writer };
        while crate::stats::make_some(&mut Connection::Sqlite(&mut writer), NOON, portion).await.unwrap() {}
        writer.close().await.unwrap();
    }

    /// A connection that may write.
    async fn connect(&self) -> sqlx::SqliteConnection {
        let options = crate::sqlite::connect::writer(&self.store.config.database(), &self.tuning);
        sqlx::SqliteConnection::connect_with(&options).await.unwrap()
    }

    async fn is_active(&self, agent: &str) -> bool {
        self.store.agent(&id(agent)).await.unwrap().unwrap().deactivation.is_none()
    }

    /// A number from the database.
    async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(self.store.readers.sqlite()).await.unwrap()
    }
}

/// Waits for `event`, half a minute at most.
async fn in_time<T>(what: &str, event: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), event).await.expect(what)
}

fn config(directory: &TempDir) -> StoreConfig {
    let mut config = StoreConfig::new(directory.path().join("data"), directory.path().join("key"));
    config.clock = Clock::manual(NOON);
    config
}

/// A fast writer with patient callers.
fn quick() -> Tuning {
    Tuning {
        batch_delay: Duration::from_millis(1),
        busy_delay: Duration::from_millis(1),
        busy_timeout: Duration::from_millis(1),
        first_pause: Duration::from_millis(1),
        longest_pause: Duration::from_millis(2),
        catch_up_timeout: Duration::from_secs(60),
        sum_agents: 2,
        stop_timeout: Duration::from_millis(50),
        ..Tuning::default()
    }
}

async fn next(notices: &mut broadcast::Receiver<Notice>) -> Notice {
    tokio::time::timeout(Duration::from_secs(30), notices.recv()).await.expect("a notice in time").unwrap()
}

fn id(agent: &str) -> AgentId {
    AgentId::parse(agent).unwrap()
}

/// A scored call of `agent`.
fn call(agent: &str) -> Event {
    Event::new(CallId::new(), id(agent), Epoch(0), EventType::LlmCall, NOON)
}

/// A scored call with a number.
fn scored(agent: &str, epoch: u64, number: u64) -> Event {
    let mut event = call(agent);
    event.epoch = Epoch(epoch);
    event.score = Some(score());
    event.fingerprint = Some(fingerprint(event.id, number));
    event
}

fn score() -> Score {
    let signals = SignalCounts { similar_prompts: 3, similar_responses: 2, repeated_tool_calls: 0 };
    Score { value: 7.0, signals, window: WindowKind::Conversation }
}

fn fingerprint(call: CallId, number: u64) -> Fingerprint {
    Fingerprint {
        conversation: ConversationId(7),
        body: 1,
        prompt: Some(TextHash(u64::MAX)),
        turn: Turn { message: 2, position: 3 },
        step: Step { depth: 4, newest: 5 },
        outcome: Outcome::Answered,
        ..Fingerprint::new(call, number, NOON)
    }
}

fn incident(agent: &str, epoch: u64) -> Incident {
    let kill = Kill {
        incident: IncidentId::at(NOON),
        agent: id(agent),
        epoch: Epoch(epoch),
        at: NOON,
        score: score(),
        kill_switch: KillSwitch { enabled: true, threshold: 5.0, ..KillSwitch::default() },
        matches: Vec::new(),
        stuck: Stuck::default(),
        window: Vec::new(),
    };
    let evidence = [Matched::Prompt, Matched::Trigger].map(|matched| Evidence {
        call: CallId::new(),
        time: Some(NOON),
        matched: vec![matched],
        alike: Vec::new(),
        prompt: Some("weiter".to_owned()),
        tool_calls: None,
        tool_results: None,
        response: None,
        request_body: Some("{\"ä\":1}".as_bytes().to_vec()),
        response_body: None,
        truncated: false,
        missing: None,
    });
    Incident {
        kill,
        state: IncidentState::Open,
        provider: "openai".to_owned(),
        model: Some("gpt-4o".to_owned()),
        conversation: None,
        evidence: evidence.into(),
    }
}

fn page(limit: u32) -> PageRequest {
    PageRequest { limit, cursor: None }
}

/// Text that cannot be compressed well.
fn noise(length: usize) -> String {
    let mut state = 7_u64;
    let letters = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + (state >> 59) as u8 % 26)
    });
    letters.take(length).collect()
}
