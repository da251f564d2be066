//! Reads of calls: their events, their evidence, and the windows they stand in.

mod events;
mod evidence;
mod recorded_epochs;
mod text_search;
mod window;

pub use events::{EventFilter, EventRow};
pub use evidence::{EvidenceBody, EvidenceHead, EvidenceRow, TextLengths};
pub use recorded_epochs::RecordedEpoch;
pub use window::WindowCall;
