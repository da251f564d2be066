//! The store: one writer that batches, and a pool of readers. It holds all SQL of the product.
//!
//! `read`, `write`, `stats` and `alerts` hold the statements and name no database: they use
//! `database::query` and its types, which run a statement on either one. `sqlite` holds what only
//! SQLite needs (pragmas, write-ahead log, files, error codes), `postgres` what only PostgreSQL
//! needs (dialect, arrays, days of events, error codes).

mod alerts;
mod audit;
mod body_files;
mod change;
mod changed_row;
mod columns;
mod config;
mod database;
mod error;
mod evidence;
mod files;
mod health;
mod migrations;
mod open;
mod people;
mod postgres;
mod read;
mod recorder;
mod servers;
mod settings;
mod sql;
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
pub use audit::{AuditFilter, AuditReport, AuditRow};
pub use body_files::{EvidenceFile, RecordingFile};
pub use change::{AccessChange, AuditNote, Change, Changed};
pub use changed_row::{ChangedKind, ChangedRow};
pub use config::{
    ClaimDirectory, Grouping, Retention, RetentionChange, Settings, SettingsChange, StoreConfig, Unpriced,
};
pub use error::StoreError;
pub use health::Health;
pub use model::fingerprint_bytes::{decode as decode_fingerprint, encode as encode_fingerprint};
pub use people::{ApiTokenRow, PeopleChange, UserRow};
pub use postgres::{ChangeFeed, PostgresConfig, WriterClaim};
pub use read::{
    AgentCounts, AgentFilter, AgentRow, Cursor, EventFilter, EventRow, EvidenceBody, EvidenceHead, EvidenceRow,
    ExemptionRow, Feedback, IncidentFilter, IncidentRow, OlderAgents, Page, PageRequest, RecentCalls, RecordedEpoch,
    TextLengths, WindowCall,
};
pub use recorder::Recorder;
pub use servers::{PeopleVersion, ReplicaRow};
pub use stats::{
    AgentBudget, ConversationRow, Figures, LatencyHistogram, ModelName, Period, Resolution, Spent, Totals,
};
pub use store::Store;
pub use transfer::{MoveProgress, Moved, move_data};
pub use write::Notice;
