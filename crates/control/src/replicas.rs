//! Tells other replicas of changes through their shared engine once these are on disk, so that they
//! take effect with the next call on any replica.

use model::{AgentId, Epoch, Timestamp};
use share::{Killed, Opening, Replica};
use store::{AccessChange, Change, Changed};

use crate::{Control, ControlError, State};

/// The part of a change that other replicas are notified of.
pub(crate) enum ReplicaNotice {
    Activated(AgentId),
    Deactivated(AgentId, Timestamp),
    Touched(AgentId),
    AccessTouched,
    Deleted(AgentId),
}

impl ReplicaNotice {
    /// What to tell other replicas of `change`; `None` if they read it from the database.
    pub(crate) fn of(change: &Change) -> Option<ReplicaNotice> {
        match change {
            Change::Activate { agent, .. } => Some(ReplicaNotice::Activated(agent.clone())),
            Change::Deactivate { agent, at } => Some(ReplicaNotice::Deactivated(agent.clone(), *at)),
            Change::DeleteAgent { agent } => Some(ReplicaNotice::Deleted(agent.clone())),
            Change::AddExemption { row } => Some(ReplicaNotice::Touched(row.agent.clone())),
            Change::Configure { agent, .. }
            | Change::SetPolicy { agent, .. }
            | Change::ResetPolicy { agent }
            | Change::RemoveExemption { agent, .. } => Some(ReplicaNotice::Touched(agent.clone())),
            Change::Access(AccessChange::SetLabels { agent, .. }) => Some(ReplicaNotice::Touched(agent.clone())),
            Change::Access(
                AccessChange::RemoveKey { .. } | AccessChange::PutGroup { .. } | AccessChange::StopGroup { .. },
            ) => Some(ReplicaNotice::AccessTouched),
            _ => None,
        }
    }
}

impl State {
    /// Tells other replicas of a change that is on disk.
    pub(crate) async fn tell_replicas(&self, notice: ReplicaNotice, changed: &Changed) {
        let Some(replica) = self.replica.get() else { return };
        match (notice, changed) {
            (ReplicaNotice::Activated(agent), Changed::Activated(epoch)) => open(replica, agent, *epoch).await,
            (ReplicaNotice::Activated(agent), Changed::Done) => replica.touch(&agent).await,
            (ReplicaNotice::Deactivated(agent, at), _) => {
                let epoch = self.guard.agent(&agent).map(|agent| agent.epoch).unwrap_or_default();
                replica.kill(&agent, epoch, Killed { incident: None, at }).await;
            }
            (ReplicaNotice::Touched(agent), _) => replica.touch(&agent).await,
            (ReplicaNotice::AccessTouched, _) => replica.touch_access().await,
            (ReplicaNotice::Deleted(agent), _) => replica.forget(&agent).await,
        }
    }
}

/// Starts an epoch with an empty log.
async fn open(replica: &Replica, agent: AgentId, epoch: Epoch) {
    replica.open(&Opening { agent, epoch, killed: None, newest: 0, calls: Vec::new() }).await;
}

impl State {
    /// Reads again who may call: the agent keys, and the groups with their stops.
    async fn reload_access(&self) -> Result<(), ControlError> {
        // No command may run in between: what it stores is newer than what is read here.
        let _turn = self.turn.lock().await;
        self.follow_agent_keys().await?;
        for gone in self.store.reload_groups().await? {
            self.guard.policies().remove_group(&gone);
        }
        Ok(())
    }

    async fn reload_agent(&self, agent: &AgentId) -> Result<(), ControlError> {
        self.follow_agent(agent).await?;
        self.use_policy(agent, self.store.policy_of(agent).await?).await
    }
}

/// How this server takes part in the decisions of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participation {
    /// The engine that replicas share.
    pub engine: &'static str,
    /// Whether the engine is unreachable, so that this server decides alone.
    pub is_degraded: bool,
    /// How many times the engine became unreachable since the start.
    pub degradations: u64,
    /// How many replicas were alive when the engine last answered.
    pub alive: u64,
}

impl Control {
    /// How this server takes part; `None` if it is the only one.
    pub fn participation(&self) -> Option<Participation> {
        self.0.replica.get().map(|replica| Participation {
            engine: replica.engine(),
            is_degraded: replica.is_degraded(),
            degradations: replica.degradations(),
            alive: replica.alive(),
        })
    }

    /// Tells other replicas of changes from now on.
    pub fn share_through(&self, replica: Replica) {
        let _ = self.0.replica.set(replica);
    }

    /// Reads again who may call after another replica may have changed it. `false` if it cannot be
    /// read now.
    pub async fn reload_access(&self) -> bool {
        let reloaded = self.0.reload_access().await;
        if let Err(error) = &reloaded {
            tracing::warn!(%error, "who may call could not be read after another replica may have changed it");
        }
        reloaded.is_ok()
    }

    /// Reads the kill and the settings of an agent again after another replica may have changed
    /// them. `false` if they cannot be read now.
    pub async fn reload_agent(&self, agent: &AgentId) -> bool {
        let reloaded = self.0.reload_agent(agent).await;
        if let Err(error) = &reloaded {
            tracing::warn!(%agent, %error, "what another replica may have changed could not be read");
        }
        reloaded.is_ok()
    }
}
