//! Kills that replicas agreed on and that are not in the database.

use std::collections::HashMap;

use crate::{AgentId, Epoch, IncidentId, Timestamp};

/// A kill as the engine that replicas share knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreedKill {
    /// The agent.
    pub agent: AgentId,
    /// The epoch that ended with it.
    pub epoch: Epoch,
    /// The id of its incident.
    pub incident: IncidentId,
    /// When it happened.
    pub at: Timestamp,
}

/// A kill whose incident is not in the database, with what is stored of the agent's newest call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrecordedKill {
    /// The kill.
    pub kill: AgreedKill,
    /// The provider of the newest call.
    pub provider: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Its conversation.
    pub conversation: Option<String>,
}

/// What the database holds of kills that replicas agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedKills {
    /// Those that are still to be recorded.
    pub unrecorded: Vec<UnrecordedKill>,
    /// For each of the others the incident that ended the epoch: its own, or that of a replica that
    /// decided alone and was first.
    pub recorded: HashMap<IncidentId, IncidentId>,
}
