//! Agents whose windows are open: a bounded number, closed in the order in which they were opened,
//! unless they were used since.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;

use super::slot::Slot;

/// How many agents may have open windows. One with full windows takes about 7 KB then, and a third
/// of that closed.
const MOST: usize = 4_096;

/// How many are tried when one must be closed: some were used since.
const TRIES: usize = 4;

/// Agents whose windows are open.
#[derive(Debug, Default)]
pub(super) struct OpenAgents {
    /// Each with its last use when it was added.
    queue: Mutex<VecDeque<(u64, Arc<Slot>)>>,
}

impl OpenAgents {
    /// Adds an agent, and closes another if there are too many. Called without any lock of an
    /// agent.
    pub(super) fn add(&self, slot: &Arc<Slot>) {
        if slot.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut queue = self.queue.lock();
        queue.push_back((slot.last_use.load(Ordering::Relaxed), Arc::clone(slot)));
        if queue.len() <= MOST {
            return;
        }
        let candidates: [_; TRIES] = std::array::from_fn(|_| queue.pop_front());
        drop(queue);
        candidates.into_iter().flatten().for_each(|(last_use, slot)| self.close(last_use, slot));
    }

    /// Closes an agent unless it was used since or is in use; then it goes to the end of the queue.
    fn close(&self, known_use: u64, slot: Arc<Slot>) {
        let last_use = slot.last_use.load(Ordering::Relaxed);
        if last_use == known_use
            && let Some(mut agent) = slot.agent.try_lock()
        {
            // Set before it is closed, so that opening it again adds it again.
            slot.queued.store(false, Ordering::Release);
            return agent.windows.close();
        }
        self.queue.lock().push_back((last_use, slot));
    }
}
