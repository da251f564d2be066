//! The state that replicas share: this process as a replica, its access to stored data, and the
//! kills of others that may not be stored yet.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use guard::{LimitCharge, Unit};
use model::{AgentId, AgreedKill, CheckedKills, DeactivatedBy, Deactivation, Fingerprint, IncidentId};
use parking_lot::Mutex;
use share::{Charge, ChargeKind, Killed, Replica};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::kills::Kills;

/// How long to wait for stored calls and settings.
pub(crate) const LOAD_TIMEOUT: Duration = Duration::from_secs(2);
/// How many kills the database is asked about at a time.
const AT_ONCE: usize = 500;
/// How long a replica has to record its own kill. A commit takes milliseconds; refused calls wait
/// until a kill is recorded, and if two replicas record one, an epoch still ends once.
const GRACE: Duration = Duration::from_millis(1_500);

type Loading<T> = Pin<Box<dyn Future<Output = T> + Send>>;

type Load<Q, A> = Box<dyn Fn(Q) -> Loading<A> + Send + Sync>;

/// How a replica reads stored data.
pub struct Stored {
    /// Reads the newest calls of an agent's epoch.
    pub calls: Load<AgentId, Vec<Fingerprint>>,
    /// Reads the kill and the settings of an agent again; `false` if that fails.
    pub reload: Load<AgentId, bool>,
    /// Reads again who may call: agent keys and groups; `false` if that fails.
    pub access: Load<(), bool>,
    /// Checks which of these kills are stored; `None` if that is unknown at the moment.
    pub kills: Load<Vec<AgreedKill>, Option<CheckedKills>>,
}

/// The state that replicas share, and access to what is stored.
#[derive(Clone)]
pub struct Shared {
    /// This process as a replica.
    pub replica: Replica,
    pub(crate) stored: Arc<Stored>,
    /// The version of the settings in memory, for agents whose settings were ever changed.
    versions: Arc<Mutex<HashMap<AgentId, u64>>>,
    /// The version of who may call in memory. Locked while that is read, so that all calls wait for
    /// it and one reads it.
    access: Arc<tokio::sync::Mutex<u64>>,
    pub(crate) unconfirmed: Arc<UnconfirmedKills>,
}

impl Shared {
    /// Shares through `replica`.
    pub fn new(replica: Replica, stored: Stored) -> Shared {
        Shared {
            replica,
            stored: Arc::new(stored),
            versions: Arc::default(),
            access: Arc::default(),
            unconfirmed: Arc::default(),
        }
    }

    /// Makes refused calls wait until a kill that another replica decided is in the database: no
    /// client learns of a kill before its commit, whichever replica answers.
    pub(crate) fn expect_commit(&self, kills: &Kills, kill: AgreedKill) {
        if kills.expect(kill.incident) {
            self.unconfirmed.add(kill);
        }
    }

    /// Reads the settings of an agent again if they were changed elsewhere.
    pub(crate) async fn refresh(&self, agent: &AgentId, version: u64) {
        let known = self.versions.lock().get(agent).copied().unwrap_or_default();
        if version == known {
            return;
        }
        // If it cannot be read now, the feed of changes brings it later: calls do not wait for it.
        (self.stored.reload)(agent.clone()).await;
        self.versions.lock().insert(agent.clone(), version);
    }

    /// Reads again who may call, if that was changed elsewhere.
    pub(crate) async fn refresh_access(&self, version: u64) {
        let mut known = self.access.lock().await;
        if version > *known {
            // As for the settings of an agent: calls do not wait for a database that is down.
            let _ = timeout(LOAD_TIMEOUT, (self.stored.access)(())).await;
            *known = version;
        }
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored").finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("replica", &self.replica).finish_non_exhaustive()
    }
}

/// Kills of other replicas, until they are known to be in the database.
#[derive(Default)]
pub(crate) struct UnconfirmedKills {
    /// Each with the start of its grace.
    waiting: Mutex<HashMap<IncidentId, (AgreedKill, Instant)>>,
    pub(crate) added: Notify,
}

impl UnconfirmedKills {
    pub(crate) fn add(&self, kill: AgreedKill) {
        self.waiting.lock().insert(kill.incident, (kill, Instant::now()));
        self.added.notify_one();
    }

    pub(crate) fn some(&self) -> Vec<AgreedKill> {
        self.waiting.lock().values().take(AT_ONCE).map(|(kill, _)| kill.clone()).collect()
    }

    pub(crate) fn remove(&self, incident: IncidentId) {
        self.waiting.lock().remove(&incident);
    }

    pub(crate) fn is_overdue(&self, incident: IncidentId) -> bool {
        self.waiting.lock().get(&incident).is_some_and(|(_, since)| since.elapsed() >= GRACE)
    }

    /// Starts the grace of every kill again: while the database cannot be read, no replica records.
    pub(crate) fn renew_grace(&self) {
        self.waiting.lock().values_mut().for_each(|(_, since)| *since = Instant::now());
    }
}

/// The deactivation for this process.
pub(crate) fn deactivation_of(killed: Killed) -> Deactivation {
    let by = if killed.incident.is_some() { DeactivatedBy::KillSwitch } else { DeactivatedBy::Manual };
    Deactivation { by, at: killed.at, incident: killed.incident }
}

pub(crate) fn charge_of(charge: &LimitCharge) -> Charge {
    let kind = match charge.unit {
        Unit::Requests | Unit::Tokens => ChargeKind::Rate,
        Unit::Cost(_) => ChargeKind::Budget,
    };
    let LimitCharge { scope, limit, amount, known, .. } = charge.clone();
    Charge { scope, kind, limit, amount, known }
}
