//! Reads of single rows and lists, one file per noun.

mod agent_keys;
mod agents;
mod calls;
mod exemptions;
pub(crate) mod groups;
mod incidents;
mod page;
mod policies;
mod providers;
mod restore;

pub use agents::{AgentCounts, AgentFilter, AgentRow};
pub use calls::{
    EventFilter, EventRow, EvidenceBody, EvidenceHead, EvidenceRow, RecordedEpoch, TextLengths, WindowCall,
};
pub use exemptions::ExemptionRow;
pub use incidents::{Feedback, IncidentFilter, IncidentRow};
pub use page::{Cursor, Page, PageRequest};
pub use restore::{OlderAgents, RecentCalls};
