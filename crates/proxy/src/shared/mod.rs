//! Agreement with other replicas on a call, if there are any: its place among the calls of its
//! agent, whether the agent is active, and what is left of rates and budgets.

mod agreement;
mod changes;
mod settlement;
mod unrecorded_kills;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use model::{Action, AgentId, AgreedKill, CheckedKills, Fingerprint};
use parking_lot::Mutex;
use share::Replica;

pub(crate) use agreement::{Agreed, agree, kill};
pub(crate) use changes::follow_changes;
pub(crate) use settlement::{Settling, SharedTicket, end_without_log};

use unrecorded_kills::UnconfirmedKills;

use crate::call::Call;
use crate::kills::Kills;

type Loading<T> = Pin<Box<dyn Future<Output = T> + Send>>;

type Load<Q, A> = Box<dyn Fn(Q) -> Loading<A> + Send + Sync>;

/// How a replica reads stored data.
pub struct Stored {
    /// Reads the newest calls of an agent's epoch.
    pub calls: Load<AgentId, Vec<Fingerprint>>,
    /// Reads the kill and the settings of an agent again; `false` if that fails.
    pub reload: Load<AgentId, bool>,
    /// Checks which of these kills are stored; `None` if that is unknown at the moment.
    pub kills: Load<Vec<AgreedKill>, Option<CheckedKills>>,
}

/// The state that replicas share, and access to what is stored.
#[derive(Clone)]
pub struct Shared {
    /// This process as a replica.
    pub replica: Replica,
    stored: Arc<Stored>,
    /// The version of the settings in memory, for agents whose settings were ever changed.
    versions: Arc<Mutex<HashMap<AgentId, u64>>>,
    unconfirmed: Arc<UnconfirmedKills>,
}

impl Shared {
    /// Shares through `replica`.
    pub fn new(replica: Replica, stored: Stored) -> Shared {
        Shared { replica, stored: Arc::new(stored), versions: Arc::default(), unconfirmed: Arc::default() }
    }

    /// Makes refused calls wait until a kill that another replica decided is in the database: no
    /// client learns of a kill before its commit, whichever replica answers.
    pub(crate) fn expect_commit(&self, kills: &Kills, kill: AgreedKill) {
        if kills.expect(kill.incident) {
            self.unconfirmed.add(kill);
        }
    }

    /// Reads the settings of an agent again if they were changed elsewhere.
    async fn refresh(&self, agent: &AgentId, version: u64) {
        let known = self.versions.lock().get(agent).copied().unwrap_or_default();
        if version == known {
            return;
        }
        // If it cannot be read now, the feed of changes brings it later: calls do not wait for it.
        (self.stored.reload)(agent.clone()).await;
        self.versions.lock().insert(agent.clone(), version);
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

/// Whether a call needs an exact answer: its agent can be stopped, or it has limits. Each replica
/// judges other calls by itself.
fn needs_agreement(call: &Call) -> bool {
    let (guard, agent) = (&call.core.guard, &call.event.agent);
    let kill_switch = guard.agent(agent).map_or_else(|| guard.defaults_of(agent), |agent| agent.kill_switch);
    (kill_switch.enabled && kill_switch.action != Action::Observe) || call.spending.is_charged()
}
