//! Incidents and their evidence as they are stored.

use model::{AgentId, Evidence, IncidentId, IncidentState, KillSwitch, Score, Timestamp};

use crate::{Feedback, Page, PageRequest, Store, StoreError};

/// One incident.
#[derive(Clone, Debug)]
pub struct IncidentRow {
    /// Its id.
    pub id: IncidentId,
    /// The agent.
    pub agent: AgentId,
    /// When.
    pub at: Timestamp,
    /// The provider of the call that triggered it.
    pub provider: String,
    /// The model of that call.
    pub model: Option<String>,
    /// The conversation of that call.
    pub conversation: Option<String>,
    /// The score.
    pub score: Score,
    /// The settings at that moment.
    pub kill_switch: KillSwitch,
    /// What it is at the moment.
    pub state: IncidentState,
    /// When the agent was activated again.
    pub closed_at: Option<Timestamp>,
    /// What a person said of it.
    pub feedback: Option<Feedback>,
    /// How many calls the evidence holds.
    pub evidence_count: u64,
}

/// Which incidents.
#[derive(Clone, Debug, Default)]
pub struct IncidentFilter {
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// In this state.
    pub state: Option<IncidentState>,
}

/// One call of the evidence, bodies unpacked.
#[derive(Clone, Debug)]
pub struct EvidenceRow {
    /// The call.
    pub evidence: Evidence,
    /// Characters of the request body.
    pub request_chars: u64,
    /// Characters of the response body.
    pub response_chars: u64,
}

impl Store {
    /// A page of incidents, newest first.
    pub async fn incidents(
        &self,
        filter: &IncidentFilter,
        page: &PageRequest,
    ) -> Result<Page<IncidentRow>, StoreError> {
        let _ = (filter, page);
        todo!()
    }

    /// One incident.
    pub async fn incident(&self, id: IncidentId) -> Result<Option<IncidentRow>, StoreError> {
        let _ = id;
        todo!()
    }

    /// Its evidence, oldest first.
    pub async fn evidence(&self, id: IncidentId) -> Result<Vec<EvidenceRow>, StoreError> {
        let _ = id;
        todo!()
    }
}
