//! Events as they are stored.

use model::{AgentId, BlockReason, CallId, Event, EventType, Timestamp};

use crate::{Page, PageRequest, Store, StoreError};

/// One event. `event.fingerprint` is not read back.
#[derive(Clone, Debug)]
pub struct EventRow {
    /// The event.
    pub event: Event,
    /// How many refused calls this row stands for (refusals of an inactive agent are counted in one row per minute).
    pub count: u64,
    /// What it cost in nano-USD, if it is known.
    pub cost_nano_usd: Option<i64>,
}

/// Which events.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "each names the field it compares")]
pub struct EventFilter {
    pub agent: Option<AgentId>,
    pub event_type: Option<EventType>,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub conversation: Option<String>,
    pub status: Option<u16>,
    pub blocked: Option<bool>,
    pub block_reason: Option<BlockReason>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl Store {
    /// A page of events, newest first.
    pub async fn events(&self, filter: &EventFilter, page: &PageRequest) -> Result<Page<EventRow>, StoreError> {
        let _ = (filter, page);
        todo!()
    }

    /// One event.
    pub async fn event(&self, id: CallId) -> Result<Option<EventRow>, StoreError> {
        let _ = id;
        todo!()
    }
}
