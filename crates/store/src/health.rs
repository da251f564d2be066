//! Whether the database can be written to, for readiness.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// Health of the writer. Cloning is cheap; all clones see the same.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<State>);

#[derive(Debug, Default)]
struct State {
    trouble: watch::Sender<Option<String>>,
    notice: Mutex<Option<String>>,
    dropped: watch::Sender<u64>,
    size: AtomicU64,
    deleted_for_size: AtomicU64,
}

impl Health {
    /// Why nothing can be written at the moment; `None` if writing works.
    pub fn trouble(&self) -> Option<String> {
        self.0.trouble.borrow().clone()
    }

    /// The newest message about what happened to the files of the database since the start, and
    /// what was done about it.
    pub fn notice(&self) -> Option<String> {
        self.0.notice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of events that were dropped because they could not be written for too long.
    pub fn dropped_events(&self) -> u64 {
        *self.0.dropped.borrow()
    }

    /// The size of the database without free pages in bytes, measured every few seconds.
    pub fn database_size(&self) -> u64 {
        self.0.size.load(Ordering::Relaxed)
    }

    /// The number of events and incidents that were deleted early, because the database had reached
    /// its size limit.
    pub fn deleted_for_size(&self) -> u64 {
        self.0.deleted_for_size.load(Ordering::Relaxed)
    }

    pub(crate) fn set_database_size(&self, bytes: u64) {
        self.0.size.store(bytes, Ordering::Relaxed);
    }

    /// Adds to the rows deleted for size, and returns the number before.
    pub(crate) fn count_deleted_for_size(&self, rows: u64) -> u64 {
        self.0.deleted_for_size.fetch_add(rows, Ordering::Relaxed)
    }

    /// Sets why nothing can be written, and returns the reason before.
    pub(crate) fn set(&self, trouble: Option<String>) -> Option<String> {
        self.0.trouble.send_replace(trouble)
    }

    pub(crate) fn set_notice(&self, notice: String) {
        *self.0.notice.lock().unwrap_or_else(PoisonError::into_inner) = Some(notice);
    }

    pub(crate) fn count_dropped(&self, events: usize) {
        self.0.dropped.send_modify(|dropped| *dropped += events as u64);
    }

    /// Waits until [`Health::trouble`] satisfies `is_so`, and returns it.
    #[cfg(test)]
    pub(crate) async fn wait_for_trouble(&self, is_so: impl FnMut(&Option<String>) -> bool) -> Option<String> {
        self.0.trouble.subscribe().wait_for(is_so).await.ok().and_then(|trouble| trouble.clone())
    }

    /// Waits until at least `count` events were dropped.
    #[cfg(test)]
    pub(crate) async fn wait_for_dropped(&self, count: u64) {
        let _ = self.0.dropped.subscribe().wait_for(|dropped| *dropped >= count).await;
    }
}
