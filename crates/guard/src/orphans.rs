//! Calls of agents that were forgotten or evicted: whoever holds their bodies is told with the next
//! scored call, of whichever agent.

use std::sync::atomic::{AtomicBool, Ordering};

use model::CallId;
use parking_lot::Mutex;

/// Calls of agents that were forgotten or evicted.
#[derive(Debug, Default)]
pub(crate) struct Orphans {
    calls: Mutex<Vec<CallId>>,
    /// Whether there are any, to be asked without a lock.
    waiting: AtomicBool,
}

impl Orphans {
    /// Takes note of some.
    pub(crate) fn add(&self, calls: Vec<CallId>) {
        if calls.is_empty() {
            return;
        }
        self.calls.lock().extend(calls);
        self.waiting.store(true, Ordering::Release);
    }

    /// Those that were added since this was last asked.
    pub(crate) fn take(&self) -> Vec<CallId> {
        if !self.waiting.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        std::mem::take(&mut *self.calls.lock())
    }

    /// Whether there are any.
    pub(crate) fn are_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire)
    }
}
