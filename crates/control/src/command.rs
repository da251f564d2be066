//! Commands: every change goes through a [`Command`], which knows its actor.

use std::future::Future;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use guard::Guard;
use model::{
    Actor, AgentId, AgentKeyId, AgentKeys, Cause, Clock, KeyRequirement, Policy, Provider, Providers, Role, Timestamp,
};
use serde_json::Value;
use share::Replica;
use store::{AccessChange, AuditNote, Change, Changed, Notice, PeopleChange, Recorder, Store, StoreError};
use tokio::sync::Mutex;

use crate::accounts::Accounts;
use crate::replicas::ReplicaNotice;
use crate::{Control, ControlError, Parts, Token};

const MAX_REASON_LENGTH: usize = 500;

/// The parts, and the lock that serialises commands.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) guard: Arc<Guard>,
    pub(crate) store: Store,
    /// Private, so that only a [`Command`] can change anything, and with it an actor.
    recorder: Recorder,
    pub(crate) providers: Providers,
    pub(crate) configured_providers: Vec<Provider>,
    pub(crate) agent_keys: AgentKeys,
    pub(crate) key_requirement: KeyRequirement,
    pub(crate) configured_policy: Policy,
    pub(crate) token: Token,
    pub(crate) clock: Clock,
    pub(crate) accounts: Accounts,
    pub(crate) turn: Mutex<()>,
    /// When the changes of other servers were last read.
    pub(crate) followed_at: parking_lot::Mutex<Option<Instant>>,
    /// This process as one of several replicas, if there are any.
    pub(crate) replica: OnceLock<Replica>,
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
            accounts: Accounts::default(),
            turn: Mutex::default(),
            followed_at: parking_lot::Mutex::default(),
            replica: OnceLock::new(),
        }
    }

    /// Stores when agent keys were last used. The program does this on its own, so it has no actor.
    pub(crate) async fn store_key_uses(&self, uses: Vec<(AgentKeyId, Timestamp)>) -> Result<(), StoreError> {
        self.recorder.change(Change::Access(AccessChange::NoteKeyUses { uses })).await.map(drop)
    }

    /// Sends watchers a notice of another server's change.
    pub(crate) fn announce(&self, notice: Notice) {
        self.recorder.announce(notice);
    }

    fn may_act_on(&self, actor: &Actor, agent: &AgentId) -> bool {
        let Some(groups) = &actor.groups else { return true };
        // A deleted group has no agents.
        groups.iter().filter_map(|name| self.store.groups().get(name)).any(|group| group.includes(agent))
    }

    /// Waits until the events that were sent so far are written.
    pub(crate) async fn catch_up(&self) {
        self.recorder.catch_up().await;
    }

    /// Whether others may call for the same agents.
    pub(crate) fn has_other_replicas(&self) -> bool {
        self.replica.get().is_some()
    }

    /// Writes a change that no one waits for, like the last use of a token. The change is lost if
    /// the write fails.
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

/// A running command.
#[derive(Debug)]
pub(crate) struct Command {
    state: Arc<State>,
    cause: Arc<Cause>,
}

impl Control {
    /// Whether `agent` is in the groups that `actor` is limited to, if any.
    pub fn may_act_on(&self, actor: &Actor, agent: &AgentId) -> bool {
        self.0.may_act_on(actor, agent)
    }

    /// Whether `actor` may read the prompts and answers of `agent`, and what may repeat them.
    pub fn may_read_bodies(&self, actor: &Actor, agent: &AgentId) -> bool {
        // Only operators are limited to groups, and where a request is not about one agent, they
        // have the rights of a viewer.
        (actor.may(Role::Operator) || actor.groups.is_some()) && self.0.may_act_on(actor, agent)
    }

    /// The commands of `actor`.
    pub fn by(&self, actor: &Actor) -> Commands {
        Commands { state: Arc::clone(&self.0), cause: Arc::new(Cause { actor: actor.clone(), reason: None }) }
    }
}

impl Commands {
    /// The same commands, with the actor's reason. An empty reason counts as none.
    pub fn because(self, reason: Option<String>) -> Result<Commands, ControlError> {
        let is_odd = |c: char| c.is_control() && !"\t\n\r".contains(c);
        let is_valid = |reason: &String| reason.chars().count() <= MAX_REASON_LENGTH && !reason.contains(is_odd);
        if !reason.as_ref().is_none_or(is_valid) {
            let message = format!("must have at most {MAX_REASON_LENGTH} characters, none of them a control character");
            return Err(ControlError::field("reason", message));
        }
        let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        let cause = Arc::new(Cause { actor: self.cause.actor.clone(), reason });
        Ok(Commands { state: self.state, cause })
    }

    /// Adds a row to the audit log for something that is not in the database, like a login. Returns
    /// at once: a database that is down must not prevent a login.
    pub fn note(&self, action: &'static str, target: Option<String>) {
        self.note_with(action, target, None);
    }

    /// Like [`Commands::note`], with further details.
    pub fn note_with(&self, action: &'static str, target: Option<String>, details: Option<Value>) {
        let command = self.command();
        tokio::spawn(async move {
            if let Err(error) = command.change(Change::Note(AuditNote { action, target, details })).await {
                tracing::warn!(%error, action, "the audit log could not be written");
            }
        });
    }

    /// Refuses to act on an agent outside the groups that the actor is limited to.
    pub(crate) fn check_agent(&self, agent: &AgentId) -> Result<(), ControlError> {
        if self.state.may_act_on(&self.cause.actor, agent) {
            return Ok(());
        }
        let text = format!("You are an operator of other groups: {agent} is in none of them.");
        Err(ControlError::Forbidden(text))
    }

    /// Refuses to act on a group that the actor is not an operator of.
    pub(crate) fn check_group(&self, name: &str) -> Result<(), ControlError> {
        let is_own = |groups: &Vec<String>| groups.iter().any(|own| own == name);
        if self.cause.actor.groups.as_ref().is_none_or(is_own) {
            return Ok(());
        }
        Err(ControlError::Forbidden(format!("You are an operator of other groups than {name}.")))
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn cause(&self) -> &Cause {
        &self.cause
    }

    /// A command that may run beside others, because nothing that it changes is in memory.
    pub(crate) fn command(&self) -> Command {
        Command { state: Arc::clone(&self.state), cause: Arc::clone(&self.cause) }
    }

    /// Runs `command` while no other command runs. It runs in its own task: a client that
    /// disconnects between the write to disk and the change in memory must not leave the two
    /// different.
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
    /// The actor.
    pub(crate) fn actor(&self) -> &Actor {
        &self.cause.actor
    }

    /// Writes what memory already holds and the actor did not ask for, without an audit row.
    pub(crate) async fn write_unaudited(&self, change: Change) -> Result<(), StoreError> {
        self.state.recorder.change(change).await.map(drop)
    }

    /// Makes a change and waits until it is on disk.
    pub(crate) async fn change(&self, change: Change) -> Result<Changed, StoreError> {
        let notice = self.state.replica.get().and_then(|_| ReplicaNotice::of(&change));
        let changed = self.state.recorder.change_by(Arc::clone(&self.cause), change).await?;
        if let Some(notice) = notice {
            self.state.tell_replicas(notice, &changed).await;
        }
        Ok(changed)
    }
}

impl Deref for Command {
    type Target = State;
    fn deref(&self) -> &State {
        &self.state
    }
}
