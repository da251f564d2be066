//! Reads of single rows and lists, one file per noun.

mod agent_keys;
mod agents;
mod events;
mod evidence;
mod exemptions;
pub(crate) mod groups;
mod incidents;
mod page;
mod policies;
mod providers;
mod recorded_epochs;
mod restore;
mod text_search;
mod window;

pub use agents::{AgentCounts, AgentFilter, AgentRow};
pub use events::{EventFilter, EventRow};
pub use evidence::{EvidenceBody, EvidenceHead, EvidenceRow, TextLengths};
pub use exemptions::ExemptionRow;
pub use incidents::{IncidentFilter, IncidentRow};
pub use page::{Cursor, Page, PageRequest};
pub use recorded_epochs::RecordedEpoch;
pub use restore::{OlderAgents, RecentCalls};
pub use window::WindowCall;
