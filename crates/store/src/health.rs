//! Whether the database can be written to, for readiness.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Health of the writer. Cloning is cheap; all clones see the same.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<State>);

#[derive(Debug, Default)]
struct State {
    trouble: Mutex<Option<String>>,
    notice: Mutex<Option<String>>,
    dropped: AtomicU64,
    size: AtomicU64,
    deleted_for_size: AtomicU64,
}

impl Health {
    /// Why nothing can be written at the moment; `None` if writing works.
    pub fn trouble(&self) -> Option<String> {
        self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What happened to the files of the database since the start, and what was done about it; the
    /// newest.
    pub fn notice(&self) -> Option<String> {
        self.0.notice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of events that were dropped because they could not be written for too long.
    pub fn dropped_events(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
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
        std::mem::replace(&mut *self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner), trouble)
    }

    pub(crate) fn set_notice(&self, notice: String) {
        *self.0.notice.lock().unwrap_or_else(PoisonError::into_inner) = Some(notice);
    }

    pub(crate) fn count_dropped(&self, events: usize) {
        self.0.dropped.fetch_add(events as u64, Ordering::Relaxed);
    }
}
