//! The store: one writer that batches, and a pool of readers. It holds all SQL of the product.
//!
//! `read`, `write`, `stats` and `alerts` hold the statements and name no database: they use
//! `database::query` and its types, which run a statement on either one. `sqlite` holds what only
//! SQLite needs (pragmas, write-ahead log, files, error codes), `postgres` what only PostgreSQL
//! needs (dialect, arrays, days of events, error codes).

mod alerts;
mod audit;
mod change;
mod columns;
mod config;
mod database;
mod error;
mod evidence;
mod feed;
mod health;
mod key_file;
mod migrations;
mod people;
mod postgres;
mod read;
mod recorder;
mod settings;
mod sqlite;
mod stats;
mod store;
#[cfg(test)]
mod tests;
mod transfer;
mod tuning;
mod write;

pub use alerts::{
    AlertChange, AlertState, AlertTransition, Attempt, AttemptRow, CallFigures, Calls, DeliveryFilter, DeliveryRow,
    Outcome, Transition,
};
pub use audit::{AuditFilter, AuditNote, AuditReport, AuditRow};
pub use change::{AccessChange, Change, Changed, Feedback};
pub use config::{ClaimDirectory, Grouping, StoreConfig, Unpriced};
pub use error::StoreError;
pub use feed::{ChangedKind, ChangedRow};
pub use health::Health;
pub use model::fingerprint_bytes::{decode as decode_fingerprint, encode as encode_fingerprint};
pub use people::{ApiTokenRow, PeopleChange, UserRow};
pub use postgres::{ChangeFeed, PostgresConfig, ReplicaRow, WriterClaim, refuse_pooler};
pub use read::{
    AgentCounts, AgentFilter, AgentRow, Cursor, EventFilter, EventRow, EvidenceBody, EvidenceHead, EvidenceRow,
    ExemptionRow, IncidentFilter, IncidentRow, OlderAgents, Page, PageRequest, RecentCalls, RecordedEpoch, TextLengths,
    WindowCall,
};
pub use recorder::{Notice, Recorder};
pub use settings::{Retention, RetentionChange, Settings, SettingsChange};
pub use sqlite::{EvidenceFile, RecordingFile};
pub use stats::{AgentBudget, ConversationRow, Figures, LatencyHistogram, ModelName, Period, Spent, Step, Totals};
// The names that the dashboard uses.
pub use stats::{Step as Span, Totals as Tally};
pub use store::Store;
pub use transfer::{MoveProgress, Moved, move_data};
