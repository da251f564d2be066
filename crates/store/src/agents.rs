//! Agents as they are stored.

use model::{AgentId, Deactivation, Epoch, KillSwitch, SavedAgent, Timestamp};

use crate::{Page, PageRequest, Store, StoreError};

/// One agent.
#[derive(Clone, Debug)]
pub struct AgentRow {
    /// Its name.
    pub id: AgentId,
    /// Why it is inactive, if it is.
    pub deactivation: Option<Deactivation>,
    /// Its epoch.
    pub epoch: Epoch,
    /// Its settings.
    pub kill_switch: KillSwitch,
    /// When it was first heard of.
    pub created_at: Timestamp,
    /// When it was last heard of.
    pub last_seen: Option<Timestamp>,
    /// A name for people, if one was given.
    pub name: Option<String>,
}

/// Which agents.
#[derive(Clone, Debug, Default)]
pub struct AgentFilter {
    /// Only those whose id or name contains this.
    pub search: Option<String>,
    /// Only active ones, or only inactive ones.
    pub active: Option<bool>,
}

impl Store {
    /// A page of agents, by id.
    pub async fn agents(&self, filter: &AgentFilter, page: &PageRequest) -> Result<Page<AgentRow>, StoreError> {
        let _ = (filter, page);
        todo!()
    }

    /// One agent.
    pub async fn agent(&self, id: &AgentId) -> Result<Option<AgentRow>, StoreError> {
        let _ = id;
        todo!()
    }

    /// What is restored at start: every agent that is inactive, was ever activated again or has settings other than
    /// `defaults`, and the `recent` most recently seen others; each with its newest fingerprints of its epoch.
    pub async fn saved_agents(&self, defaults: KillSwitch, recent: usize) -> Result<Vec<SavedAgent>, StoreError> {
        let _ = (defaults, recent);
        todo!()
    }

    /// How many calls of an agent's current epoch would have been stopped, had the kill switch been on.
    pub async fn would_have_stopped(&self, id: &AgentId) -> Result<u64, StoreError> {
        let _ = id;
        todo!()
    }
}
