//! Who may change something, and how: every change goes through a [`Command`], which knows who
//! gives it.

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use guard::Guard;
use model::{Actor, AgentKeyId, AgentKeys, Cause, Clock, KeyRequirement, Policy, Provider, Providers, Timestamp};
use store::{AccessChange, AuditNote, Change, Changed, PeopleChange, Recorder, Store, StoreError};
use tokio::sync::Mutex;

use crate::people::People;
use crate::{Control, ControlError, Parts, Token};

const MAX_REASON_LENGTH: usize = 500;

/// The parts, and the turn that a command waits for.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) guard: Arc<Guard>,
    pub(crate) store: Store,
    /// Private, so that nothing is changed without an actor: only a [`Command`] can.
    recorder: Recorder,
    pub(crate) providers: Providers,
    pub(crate) configured_providers: Vec<Provider>,
    pub(crate) agent_keys: AgentKeys,
    pub(crate) key_requirement: KeyRequirement,
    pub(crate) configured_policy: Policy,
    pub(crate) token: Token,
    pub(crate) clock: Clock,
    pub(crate) people: People,
    pub(crate) turn: Mutex<()>,
}

impl State {
    pub(crate) fn new(parts: Parts) -> State {
        State {
            guard: parts.guard,
            store: parts.store,
            recorder: parts.recorder,
            providers: parts.providers,
            configured_providers: parts.configured_providers,
            agent_keys: parts.agent_keys,
            key_requirement: parts.key_requirement,
            configured_policy: parts.configured_policy,
            token: parts.token,
            clock: parts.clock,
            people: People::default(),
            turn: Mutex::default(),
        }
    }

    /// Stores when agent keys were last used. Nobody gives this command, so it has no actor.
    pub(crate) async fn store_key_uses(&self, uses: Vec<(AgentKeyId, Timestamp)>) -> Result<(), StoreError> {
        self.recorder.change(Change::Access(AccessChange::NoteKeyUses { uses })).await.map(drop)
    }

    /// Waits until the events that were sent so far are written.
    pub(crate) async fn catch_up(&self) {
        self.recorder.catch_up().await;
    }

    /// Writes what nobody waits for, like the last use of a token. It is lost if that fails.
    pub(crate) fn write_later(&self, change: PeopleChange) {
        let recorder = self.recorder.clone();
        tokio::spawn(async move {
            if let Err(error) = recorder.change(Change::People(change)).await {
                tracing::debug!(%error, "the last use of a token or user could not be stored");
            }
        });
    }
}

/// The commands of one actor. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Commands {
    state: Arc<State>,
    cause: Arc<Cause>,
}

/// A command that runs.
#[derive(Debug)]
pub(crate) struct Command {
    state: Arc<State>,
    cause: Arc<Cause>,
}

impl Control {
    /// The commands of `actor`.
    pub fn by(&self, actor: &Actor) -> Commands {
        Commands { state: Arc::clone(&self.0), cause: Arc::new(Cause { actor: actor.clone(), reason: None }) }
    }
}

impl Commands {
    /// The same commands, with the reason that the actor gives. An empty one is none.
    pub fn because(self, reason: Option<String>) -> Result<Commands, ControlError> {
        let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        let is_valid = |reason: &String| {
            reason.chars().count() <= MAX_REASON_LENGTH && !reason.chars().any(|c| c.is_control() && c != '\n')
        };
        if !reason.as_ref().is_none_or(is_valid) {
            let message = format!("must have at most {MAX_REASON_LENGTH} characters, none of them a control character");
            return Err(ControlError::field("reason", message));
        }
        let cause = Arc::new(Cause { actor: self.cause.actor.clone(), reason });
        Ok(Commands { state: self.state, cause })
    }

    /// Adds a row to the audit log about something that the database has nothing of, like a login.
    /// Nobody waits for it: a database that is down must not keep anybody out.
    pub fn note(&self, action: &'static str, target: Option<String>) {
        let command = self.command();
        tokio::spawn(async move {
            if let Err(error) = command.change(Change::Note(AuditNote { action, target })).await {
                tracing::warn!(%error, action, "the audit log could not be written");
            }
        });
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// A command that needs no turn, because memory has nothing of what it changes.
    pub(crate) fn command(&self) -> Command {
        Command { state: Arc::clone(&self.state), cause: Arc::clone(&self.cause) }
    }

    /// Runs `command` while no other command runs. It has a task of its own: a client that
    /// disconnects between the write to disk and the change in memory must not leave the two apart.
    pub(crate) async fn exclusive<T, E, F>(&self, command: impl FnOnce(Command) -> F + Send + 'static) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>> + Send,
        T: Send + 'static,
        E: From<ControlError> + Send + 'static,
    {
        let given = self.command();
        let task = tokio::spawn(async move {
            let state = Arc::clone(&given.state);
            let _turn = state.turn.lock().await;
            command(given).await
        });
        task.await.unwrap_or_else(|error| Err(ControlError::Failed(error.to_string()).into()))
    }
}

impl Command {
    /// Who gives it.
    pub(crate) fn actor(&self) -> &Actor {
        &self.cause.actor
    }

    /// Writes what memory knows already and the actor did not ask for: it is no change of theirs.
    pub(crate) async fn write_unaudited(&self, change: Change) -> Result<(), StoreError> {
        self.state.recorder.change(change).await.map(drop)
    }

    /// Makes a change and waits until it is on disk.
    pub(crate) async fn change(&self, change: Change) -> Result<Changed, StoreError> {
        self.state.recorder.change_by(Arc::clone(&self.cause), change).await
    }
}

impl Deref for Command {
    type Target = State;
    fn deref(&self) -> &State {
        &self.state
    }
}
