//! A control on a store of its own, and agents that call.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::sync::Arc;

use guard::{Decision, Guard, GuardConfig, NewCall, Scored};
use model::{
    ActivatedBy, Actor, AgentId, Answered, Asked, CallId, Clock, Policy, Providers, RecorderHandle, Timestamp,
};
use store::{Recorder, Store, StoreConfig};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::{Commands, Control, Parts, Token};

const PROMPT: &str = "please fix the import error in the file main dot py";

pub(crate) struct Fixture {
    pub(crate) control: Control,
    pub(crate) guard: Arc<Guard>,
    pub(crate) store: Store,
    writer: JoinHandle<()>,
    _inbox: RecorderHandle,
    _directory: TempDir,
}

impl Fixture {
    pub(crate) async fn start() -> Fixture {
        let directory = TempDir::new().unwrap();
        let clock = Clock::manual(Timestamp::from_millis(1_705_314_600_000));
        let config = StoreConfig::new(directory.path(), directory.path().join("provider.key"));
        let store = Store::open(StoreConfig { clock: clock.clone(), ..config }).await.unwrap();
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
        Fixture { control, guard, store, writer, _inbox: handle, _directory: directory }
    }

    /// The commands of whoever holds the token of the first start.
    pub(crate) fn commands(&self) -> Commands {
        self.control.by(&Actor::first_token(ActivatedBy::Api, None))
    }

    /// Ends the writer: from now on every change is refused.
    pub(crate) async fn break_store(&mut self) {
        self.writer.abort();
        let _ = (&mut self.writer).await;
    }

    /// Makes one call, the same every time, which is answered the same.
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
