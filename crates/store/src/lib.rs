//! How AgentGazer remembers: SQLite behind one writer that batches, and a pool of readers. The only SQL in the product.

mod agents;
mod change;
mod error;
mod events;
mod health;
mod incidents;
mod page;
mod providers;
mod recorder;
mod store;

pub use agents::{AgentFilter, AgentRow};
pub use change::{Change, Changed, Feedback};
pub use error::StoreError;
pub use events::{EventFilter, EventRow};
pub use health::Health;
pub use incidents::{EvidenceRow, IncidentFilter, IncidentRow};
pub use page::{Cursor, Page, PageRequest};
pub use recorder::{Notice, Recorder};
pub use store::{Store, StoreConfig};
