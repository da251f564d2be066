//! How AgentGazer remembers: SQLite behind one writer that batches, and a pool of readers. The only SQL in the product.

mod agents;
mod alerts;
mod change;
mod checkpoint;
mod columns;
mod connect;
mod error;
mod events;
mod evidence;
mod evidence_file;
mod exemptions;
mod export;
mod figures;
mod files;
mod fingerprint;
mod generation;
mod health;
mod incidents;
mod key_file;
mod ladder;
mod made;
mod page;
mod period;
mod policies;
mod providers;
mod recent;
mod recorder;
mod rescue;
mod retention;
mod settings;
mod size_limit;
mod sketch;
mod span;
mod spending;
mod store;
mod tally;
#[cfg(test)]
mod tests;
mod text_search;
mod tuning;
mod unscored;
mod window;
mod writer;

pub use agents::{AgentCounts, AgentFilter, AgentRow};
pub use alerts::{
    AlertChange, AlertState, AlertTurn, Attempt, AttemptRow, CallFigures, Calls, DeliveryFilter, DeliveryRow, Grouping,
    Outcome, Turn,
};
pub use change::{Change, Changed, Feedback};
pub use error::StoreError;
pub use events::{EventFilter, EventRow};
pub use evidence::{EvidenceBody, EvidenceHead, TextLengths};
pub use evidence_file::EvidenceFile;
pub use exemptions::ExemptionRow;
pub use export::RecordedEpoch;
pub use figures::{ConversationRow, Figures, ModelName};
pub use fingerprint::{decode as decode_fingerprint, encode as encode_fingerprint};
pub use health::Health;
pub use incidents::{EvidenceRow, IncidentFilter, IncidentRow};
pub use page::{Cursor, Page, PageRequest};
pub use period::Period;
pub use recent::RecentCalls;
pub use recorder::{Notice, Recorder};
pub use retention::{Retention, RetentionChange};
pub use settings::{Settings, SettingsChange};
pub use sketch::Sketch;
pub use span::Span;
pub use spending::{AgentBudget, Spent, Unpriced};
pub use store::{ClaimDirectory, Store, StoreConfig};
pub use tally::Tally;
pub use window::WindowCall;
