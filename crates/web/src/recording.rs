//! The recording of requests and responses: its configuration, and the agents for which people have
//! switched it on or off.

use std::time::Duration;

use model::AgentId;
use store::{RecordingFile, Store, StoreError};

/// The recording of agents.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// What was recorded; `None` if there is nothing.
    pub file: Option<RecordingFile>,
    /// Whether something can be recorded now.
    pub is_possible: bool,
    /// The agents that the configuration records.
    pub agents: Vec<AgentId>,
    /// Whether the configuration records all agents.
    pub all: bool,
    /// How long a call is kept.
    pub keep: Duration,
    /// How many bytes all recorded calls may take, compressed.
    pub max_size: u64,
}

/// Whether one agent is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordingState {
    pub(crate) enabled: bool,
    /// What the configuration says.
    pub(crate) configured: bool,
}

impl Recording {
    /// Whether `agent` is recorded now.
    pub(crate) async fn state(&self, store: &Store, agent: &AgentId) -> Result<RecordingState, StoreError> {
        let configured = self.is_possible && (self.all || self.agents.contains(agent));
        let switched = store.recording_switches().await?.get(agent).copied();
        let enabled = self.is_possible && switched.unwrap_or(configured);
        Ok(RecordingState { enabled, configured })
    }
}
