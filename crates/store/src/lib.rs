//! How AgentGazer remembers: SQLite behind one writer that batches, and a pool of readers. The only SQL in the product.

mod agents;
mod change;
mod columns;
mod connect;
mod error;
mod events;
mod evidence;
mod fingerprint;
mod health;
mod incidents;
mod key_file;
mod page;
mod providers;
mod recorder;
mod retention;
mod store;
#[cfg(test)]
mod tests;
mod tuning;
mod writer;

pub use agents::{AgentFilter, AgentRow, RECALL};
pub use change::{Change, Changed, Feedback};
pub use error::StoreError;
pub use events::{EventFilter, EventRow};
pub use fingerprint::{decode as decode_fingerprint, encode as encode_fingerprint};
pub use health::Health;
pub use incidents::{EvidenceRow, IncidentFilter, IncidentRow};
pub use page::{Cursor, Page, PageRequest};
pub use recorder::{Notice, Recorder};
pub use retention::Retention;
pub use store::{Store, StoreConfig};
