//! Agreement between replicas: one short log per agent, ordered by an engine that all of them
//! share, and the sums that budgets and rates are compared with. The engine counts and orders;
//! `guard` judges.
//!
//! Every operation may be repeated: a call is identified by its epoch and id.

mod local;
mod postgres;
mod replica;
mod types;
mod valkey;

use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::Notify;

pub use local::Local;
pub use postgres::Postgres;
pub use replica::{OnFailure, Replica};
pub use types::{
    Admission, Admitted, AgentStatus, Charge, ChargeKind, Expired, Grant, Heartbeat, Killed, Opening, Settlement,
    ShareError, Takeover,
};
pub use valkey::{Valkey, ValkeyServer};

use model::shared_log::{LogPart, LogRecord, ReplicaId};
use model::{AgentId, Epoch, Timestamp};

/// The least number of an agent's records that the log keeps.
const KEPT_RECORDS: u64 = 1_024;
/// The excess at which the oldest records are removed.
const EXCESS_RECORDS: u64 = 64;
/// How long a ticket holds its reservation, unless its replica dies before.
pub const TICKET_LIFE: Duration = Duration::from_secs(15 * 60);
/// A replica that was silent for this long is dead, and its tickets are released.
pub const DEAD_AFTER: Duration = Duration::from_secs(10);
/// How many expired tickets are looked for at a time.
const EXPIRED_AT_ONCE: i64 = 256;

/// The engine that replicas share. Cloning is cheap.
#[derive(Clone, Debug)]
pub enum Share {
    /// In the memory of this process: for several replicas in one process, which only tests have.
    Local(Local),
    /// Unlogged tables of PostgreSQL.
    Postgres(Postgres),
    /// Valkey, or Redis from 6.2 on.
    Valkey(Box<Valkey>),
}

/// Calls an operation on the engine in use.
macro_rules! on_engine {
    ($share:expr, $operation:ident($($argument:expr),*)) => {
        match $share {
            Share::Local(engine) => engine.$operation($($argument),*).await,
            Share::Postgres(engine) => engine.$operation($($argument),*).await,
            Share::Valkey(engine) => engine.$operation($($argument),*).await,
        }
    };
}

impl Share {
    /// Counts and reserves what a call takes, adds its record, and returns the log that the replica
    /// has not seen; or refuses the call and changes nothing.
    pub async fn admit(&self, admission: &Admission) -> Result<Admitted, ShareError> {
        on_engine!(self, admit(admission))
    }

    /// Replaces the reservation of a call by what it took, and adds the record of its end. Returns
    /// the kill that ended the agent's epoch meanwhile. A repetition has no effect.
    pub async fn settle(&self, settlement: &Settlement) -> Result<Option<Killed>, ShareError> {
        on_engine!(self, settle(settlement))
    }

    /// Deactivates an agent in `epoch`, unless it is inactive already.
    pub async fn kill(&self, agent: &AgentId, epoch: Epoch, killed: Killed) -> Result<Takeover, ShareError> {
        on_engine!(self, kill(agent, epoch, killed))
    }

    /// Registers an agent, or begins a newer epoch of it. An epoch that is not newer has no effect.
    /// Returns whether this call did it.
    pub async fn open(&self, opening: &Opening) -> Result<bool, ShareError> {
        on_engine!(self, open(opening))
    }

    /// Announces that the settings of an agent changed.
    pub async fn touch(&self, agent: &AgentId) -> Result<(), ShareError> {
        on_engine!(self, touch(agent))
    }

    /// Announces that some callers may not call any more.
    pub async fn touch_access(&self) -> Result<(), ShareError> {
        on_engine!(self, touch_access())
    }

    /// Adds calls that a replica recorded while it could not reach the engine.
    pub async fn append(&self, agent: &AgentId, epoch: Epoch, records: &[LogRecord]) -> Result<(), ShareError> {
        on_engine!(self, append(agent, epoch, records))
    }

    /// Removes a deleted agent.
    pub async fn forget(&self, agent: &AgentId) -> Result<(), ShareError> {
        on_engine!(self, forget(agent))
    }

    /// The whole log of an agent; `None` if the engine does not know the agent.
    pub async fn log(&self, agent: &AgentId) -> Result<Option<LogPart>, ShareError> {
        on_engine!(self, log(agent))
    }

    /// The engine's state of an agent.
    pub async fn status(&self, agent: &AgentId) -> Result<Option<AgentStatus>, ShareError> {
        on_engine!(self, status(agent))
    }

    /// Agents that were killed, opened or touched since a time of the engine's clock, and its
    /// current time.
    pub async fn changes(&self, since: Timestamp) -> Result<(Vec<AgentStatus>, Timestamp), ShareError> {
        on_engine!(self, changes(since))
    }

    /// Records that a replica is alive.
    pub async fn beat(&self, replica: ReplicaId) -> Result<Heartbeat, ShareError> {
        on_engine!(self, beat(replica))
    }

    /// Removes a replica from the live ones.
    pub async fn leave(&self, replica: ReplicaId) -> Result<(), ShareError> {
        on_engine!(self, leave(replica))
    }

    /// Tickets that have expired, or whose replica is dead. The caller [settles](Share::settle)
    /// them.
    pub async fn expired(&self) -> Result<Vec<Expired>, ShareError> {
        on_engine!(self, expired())
    }

    /// Wakes `changed` with every notification of a change, and once when it has begun to listen,
    /// until the connection fails. Notifications may be lost; [`changes`](Share::changes) is
    /// authoritative.
    pub async fn watch(&self, changed: &Notify) -> Result<Infallible, ShareError> {
        on_engine!(self, watch(changed))
    }

    /// The name of the engine in configuration, metrics and pages.
    pub fn name(&self) -> &'static str {
        match self {
            Share::Local(_) => "local",
            Share::Postgres(_) => "postgres",
            Share::Valkey(_) => "valkey",
        }
    }
}
