//! Calls of agents that were forgotten or evicted. The holder of their bodies is told with the next
//! scored call of any agent.

use std::sync::atomic::{AtomicBool, Ordering};

use model::CallId;
use parking_lot::Mutex;

/// Calls of agents that were forgotten or evicted.
#[derive(Debug, Default)]
pub(crate) struct ReleasedCalls {
    calls: Mutex<Vec<CallId>>,
    /// Whether there are any, to be asked without a lock.
    waiting: AtomicBool,
}

impl ReleasedCalls {
    /// Adds calls.
    pub(crate) fn add(&self, calls: Vec<CallId>) {
        if calls.is_empty() {
            return;
        }
        self.calls.lock().extend(calls);
        self.waiting.store(true, Ordering::Release);
    }

    /// Takes the calls that were added since the last time.
    pub(crate) fn take(&self) -> Vec<CallId> {
        if !self.waiting.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        std::mem::take(&mut *self.calls.lock())
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        !self.waiting.load(Ordering::Acquire)
    }
}
