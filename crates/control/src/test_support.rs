//! A `Control` with its own store, and agents that make calls.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::sync::Arc;

use guard::{Decision, Guard, GuardConfig, NewCall, Scored};
use model::{
    ActivatedBy, Actor, AgentId, Answered, Asked, CallId, Clock, Policy, Providers, RecorderHandle, Timestamp,
};
use store::{PostgresConfig, Recorder, Store, StoreConfig};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::{Commands, Control, Parts, Token};

const PROMPT: &str = "please fix the import error in the file main dot py";

pub(crate) struct Fixture {
    pub(crate) control: Control,
    pub(crate) guard: Arc<Guard>,
    pub(crate) store: Store,
    writer: JoinHandle<()>,
    pub(crate) handle: RecorderHandle,
    _directory: TempDir,
}

impl Fixture {
    pub(crate) async fn start() -> Fixture {
        let directory = TempDir::new().unwrap();
        let config = StoreConfig::new(directory.path(), directory.path().join("provider.key"));
        Fixture::open(config, "", directory).await
    }

    /// One of several servers on the PostgreSQL database at `url`, with a key file in common.
    pub(crate) async fn shared(url: &str, name: &str, key_file: &std::path::Path) -> Fixture {
        let directory = TempDir::new().unwrap();
        let mut config = StoreConfig::new(directory.path(), key_file);
        config.postgres = Some(PostgresConfig::new(url.into(), None).unwrap());
        config.shared = true;
        let fixture = Fixture::open(config, name, directory).await;
        let feed = fixture.store.change_feed().await.unwrap().unwrap();
        let control = fixture.control.clone();
        tokio::spawn(async move { control.follow(feed).await });
        fixture
    }

    async fn open(config: StoreConfig, name: &str, directory: TempDir) -> Fixture {
        let clock = Clock::manual(Timestamp::from_millis(1_705_314_600_000));
        let store = Store::open(StoreConfig { clock: clock.clone(), ..config }).await.unwrap().with_writer(name);
        let (handle, inbox) = RecorderHandle::new(100);
        let (recorder, writer) = Recorder::start(store.clone(), inbox);
        let guard = Arc::new(Guard::new(GuardConfig::default()));
        let control = Control::new(Parts {
            guard: Arc::clone(&guard),
            store: store.clone(),
            recorder,
            providers: Providers::default(),
            configured_providers: Vec::new(),
            agent_keys: model::AgentKeys::default(),
            key_requirement: model::KeyRequirement::default(),
            configured_policy: Policy::default(),
            token: Token::configured("canary-token-5f1e"),
            clock,
        });
        Fixture { control, guard, store, writer, handle, _directory: directory }
    }

    /// The commands of the holder of the first token.
    pub(crate) fn commands(&self) -> Commands {
        self.control.by(&Actor::first_token(ActivatedBy::Api, None))
    }

    /// Ends the writer: from now on every change is refused.
    pub(crate) async fn break_store(&mut self) {
        self.writer.abort();
        let _ = (&mut self.writer).await;
    }

    /// Makes one call. Request and answer are the same every time.
    pub(crate) fn call(&self, agent: &AgentId) -> Scored {
        let now = self.control.0.clock.now();
        let asked = Asked { prompt: vec![PROMPT.into()], newest_message: "{}", ..Default::default() };
        let call = NewCall { agent, call: CallId::new(), conversation: "one", body: PROMPT.as_bytes(), asked: &asked };
        let Decision::Scored(scored) = self.guard.on_call(&call, now) else { panic!("{agent} is inactive") };
        let answer = Answered { text: "I cannot do that".into(), tool_calls: vec![] };
        self.guard.on_answer(&scored.ticket, &answer, now);
        *scored
    }
}

pub(crate) fn agent() -> AgentId {
    AgentId::parse("looper").unwrap()
}
