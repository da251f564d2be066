//! What the writer tells live pages.

use std::sync::Arc;

use model::{AgentId, Event, IncidentId, KillSwitch};

/// What was written, for live updates.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum Notice {
    /// A call, a refusal, a kill, an activation or a deactivation.
    Event(Arc<Event>),
    /// An incident was opened or observed.
    Incident { id: IncidentId, agent: AgentId },
    /// Another server on the same database has recorded calls of this agent.
    Seen { agent: AgentId },
    /// Settings changed.
    Configured { agent: AgentId, kill_switch: KillSwitch },
}
