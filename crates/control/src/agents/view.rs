//! The current state of agents. Memory is ahead of the disk and takes precedence; fields that only
//! the disk has are added.

use guard::AgentView;
use model::{AgentId, DeactivatedBy, Deactivation, Epoch, KillSwitch, Label, Score, Timestamp};
use store::{AgentFilter, AgentRow, Page, PageRequest, StoreError};

use crate::{Control, ControlError, State};

/// The current state of an agent.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its display name.
    pub name: Option<String>,
    /// Its labels, by which groups may name it.
    pub labels: Vec<Label>,
    /// Why it is inactive, if it is.
    pub deactivation: Option<Deactivation>,
    /// Its settings.
    pub kill_switch: KillSwitch,
    /// The score of its newest call.
    pub score: Score,
    /// When it was first seen; `None` until that is stored.
    pub created_at: Option<Timestamp>,
    /// When it was last seen.
    pub last_seen: Option<Timestamp>,
}

/// The state of an agent that commands need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentState {
    pub(crate) deactivation: Option<Deactivation>,
    pub(crate) epoch: Epoch,
    pub(crate) kill_switch: KillSwitch,
}

impl Control {
    /// The current state of an agent.
    pub async fn agent(&self, agent: AgentId) -> Result<Agent, ControlError> {
        if let Some(row) = self.0.store.agent(&agent).await? {
            return Ok(self.0.merge(row));
        }
        // The first call of an agent is in memory before it is on disk.
        let live = self.0.guard.agent(&agent).ok_or_else(|| ControlError::unknown_agent(&agent))?;
        Ok(Agent {
            deactivation: live.deactivation.or_else(|| self.0.deactivation_with_group(&agent)),
            id: agent,
            name: None,
            labels: Vec::new(),
            kill_switch: live.kill_switch,
            score: live.current_score,
            created_at: None,
            last_seen: live.last_seen,
        })
    }

    /// A page of agents by id. Where memory and disk disagree on whether one is active, memory
    /// decides.
    pub async fn agents(&self, filter: &AgentFilter, page: &PageRequest) -> Result<Page<Agent>, StoreError> {
        self.0.catch_up().await;
        let Page { items, next } = self.0.store.agents(filter, page).await?;
        let mut items: Vec<Agent> = items.into_iter().map(|row| self.0.merge(row)).collect();
        items.retain(|agent| filter.active.is_none_or(|active| agent.deactivation.is_none() == active));
        Ok(Page { items, next })
    }

    /// Fails if neither memory nor disk knows the agent.
    pub async fn require_agent(&self, agent: &AgentId) -> Result<(), ControlError> {
        self.0.known(agent).await.map(drop)
    }
}

impl State {
    fn merge(&self, row: AgentRow) -> Agent {
        let live = self.guard.agent(&row.id);
        let own = merge_deactivation(live.map(|live| live.deactivation), row.deactivation);
        Agent {
            deactivation: own.or_else(|| self.deactivation_with_group(&row.id)),
            kill_switch: live.map_or(row.kill_switch, |live| live.kill_switch),
            score: live.map(|live| live.current_score).unwrap_or_default(),
            created_at: Some(row.created_at),
            last_seen: live.and_then(|live| live.last_seen).max(row.last_seen),
            id: row.id,
            name: row.name,
            labels: row.labels,
        }
    }

    /// Why an agent is inactive whose group is stopped.
    fn deactivation_with_group(&self, agent: &AgentId) -> Option<Deactivation> {
        let at = self.store.groups().stopped(agent)?.stopped_at?;
        Some(Deactivation { by: DeactivatedBy::Manual, at, incident: None })
    }

    /// The state of an agent. Reads the disk only if the agent has left memory: a command about a
    /// live agent must not fail because the disk cannot be read.
    pub(crate) async fn state_of(&self, agent: &AgentId) -> Result<Option<AgentState>, ControlError> {
        if let Some(AgentView { deactivation, epoch, kill_switch, .. }) = self.guard.agent(agent) {
            return Ok(Some(AgentState { deactivation, epoch, kill_switch }));
        }
        let row = self.store.agent(agent).await?;
        Ok(row.map(|AgentRow { deactivation, epoch, kill_switch, .. }| AgentState { deactivation, epoch, kill_switch }))
    }

    /// The state of an agent that must exist.
    pub(crate) async fn known(&self, agent: &AgentId) -> Result<AgentState, ControlError> {
        self.state_of(agent).await?.ok_or_else(|| ControlError::unknown_agent(agent))
    }
}

/// Memory says whether the agent is inactive; the disk says whether its incident still exists.
fn merge_deactivation(live: Option<Option<Deactivation>>, stored: Option<Deactivation>) -> Option<Deactivation> {
    match (live, stored) {
        (Some(Some(live)), Some(stored)) => Some(Deactivation { incident: stored.incident, ..live }),
        (Some(live), _) => live,
        (None, stored) => stored,
    }
}
