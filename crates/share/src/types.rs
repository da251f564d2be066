//! Requests to an engine and its answers.

use model::shared_log::{LogPart, LogRecord, ReplicaId};
use model::{AgentId, CallId, Epoch, Fingerprint, IncidentId, Timestamp};

/// A call that asks for admission.
#[derive(Clone, Debug)]
pub struct Admission {
    /// Its agent.
    pub agent: AgentId,
    /// The agent's epoch as this replica knows it.
    pub epoch: Epoch,
    /// The position of the newest record that this replica has applied.
    pub seen: u64,
    /// Its id.
    pub call: CallId,
    /// The replica that received it.
    pub replica: ReplicaId,
    /// Its record; `None` if it is not scored.
    pub record: Option<LogRecord>,
    /// Its charges, sorted by scope.
    pub charges: Vec<Charge>,
}

/// A call's charge against one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The counter: an agent's or a group's requests, tokens, or money of one period.
    pub scope: String,
    /// How it is counted.
    pub kind: ChargeKind,
    /// The limit.
    pub limit: u64,
    /// The amount that the call takes.
    pub amount: u64,
    /// For a budget, the spending known to this replica: an engine that lost its data adopts it.
    pub known: u64,
}

/// How a charge is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeKind {
    /// Over the last sixty seconds.
    Rate,
    /// Until the end of the scope's period.
    Budget,
}

impl ChargeKind {
    pub(crate) fn code(self) -> i16 {
        match self {
            ChargeKind::Rate => 0,
            ChargeKind::Budget => 1,
        }
    }

    pub(crate) fn from_code(code: i64) -> ChargeKind {
        if code == 0 { ChargeKind::Rate } else { ChargeKind::Budget }
    }
}

/// The answer to an [`Admission`].
#[derive(Clone, Debug, PartialEq)]
pub enum Admitted {
    /// It passes.
    Granted(Grant),
    /// The engine does not know the agent.
    Unknown,
    /// The agent is in another epoch.
    Epoch(Epoch),
    /// The agent is inactive.
    Killed(Killed),
    /// A rate limit is reached.
    RateLimited {
        /// The charge with the longest wait.
        charge: usize,
        /// Seconds until a call may pass.
        wait_seconds: u64,
    },
    /// A budget is spent or reserved. Holds the spent and the reserved amount of each charge.
    OverBudget(Vec<(u64, u64)>),
}

/// An admitted call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grant {
    /// The part of the log that the replica has not seen, its own record last.
    pub log: LogPart,
    /// Counts the changes of the agent's settings.
    pub settings: u64,
    /// Counts the changes of who may call: keys that were revoked, groups that were stopped.
    pub access: u64,
    /// The amount spent and the amount reserved before, for each charge; zeros for rates.
    pub spent: Vec<(u64, u64)>,
}

/// The engine's record of a deactivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Killed {
    /// Its incident; `None` for a deactivation by hand.
    pub incident: Option<IncidentId>,
    /// When it happened.
    pub at: Timestamp,
}

/// What a call took, and its outcome.
#[derive(Clone, Debug)]
pub struct Settlement {
    /// Its agent.
    pub agent: AgentId,
    /// The epoch that it was admitted in.
    pub epoch: Epoch,
    /// Its id.
    pub call: CallId,
    /// The replica that received it.
    pub replica: ReplicaId,
    /// The record of its end; `None` if it was refused or is not scored.
    pub record: Option<LogRecord>,
    /// The charges it was admitted with, each with the amount that it took.
    pub charges: Vec<(Charge, u64)>,
    /// Whether its replica admitted it without the engine.
    pub was_alone: bool,
    /// Whether the engine may have received it before.
    pub is_repeated: bool,
}

impl Settlement {
    /// Whether an engine without a ticket for the call adds what it took: either it never issued
    /// one, or it lost its data. Otherwise the call is settled already.
    pub(crate) fn counts_without_ticket(&self) -> bool {
        self.was_alone || !self.is_repeated
    }
}

/// The result of a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// The agent is inactive because of it.
    Won,
    /// The agent was inactive already.
    Lost(Killed),
    /// The agent is in another epoch.
    Epoch(Epoch),
    /// The engine does not know the agent.
    Unknown,
}

/// An agent to register with the engine.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The agent.
    pub agent: AgentId,
    /// Its epoch.
    pub epoch: Epoch,
    /// Why it is inactive, if it is.
    pub killed: Option<Killed>,
    /// The number of its newest call; 0 for none.
    pub newest: u64,
    /// The calls that its log begins with, in the order of their numbers.
    pub calls: Vec<Fingerprint>,
}

/// The engine's state of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStatus {
    /// The agent.
    pub agent: AgentId,
    /// Its epoch.
    pub epoch: Epoch,
    /// Why it is inactive, if it is.
    pub killed: Option<Killed>,
    /// Counts the changes of its settings.
    pub settings: u64,
}

/// The answer to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The number of live replicas.
    pub alive: u64,
    /// Whether the engine did not know the replica.
    pub is_new: bool,
}

/// A ticket that its replica will not settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expired {
    /// The agent.
    pub agent: AgentId,
    /// The epoch that the call was admitted in.
    pub epoch: Epoch,
    /// The call.
    pub call: CallId,
    /// The replica that received it.
    pub replica: ReplicaId,
    /// Its reservations.
    pub charges: Vec<Charge>,
}

/// An error of an engine.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// PostgreSQL.
    #[error("PostgreSQL: {0}")]
    Postgres(#[from] sqlx::Error),
    /// Valkey or Redis.
    #[error("Valkey: {0}")]
    Valkey(#[from] redis::RedisError),
    /// It cannot be used.
    #[error("{0}")]
    Setup(String),
}
