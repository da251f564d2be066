//! The place of one agent in the registry.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::agent::{Agent, Settings, StoredAgent};

/// One agent, with the flags that can be read without its lock.
#[derive(Debug)]
pub(super) struct Slot {
    /// Whether the agent is inactive, readable without its lock. Changed only under the lock.
    pub(super) inactive: AtomicBool,
    /// Whether it counts towards `max_agents`: it has windows, or only its last call keeps it here.
    pub(super) counted: AtomicBool,
    /// The slot is no longer in the map: a thread that found it there before must look again, or a
    /// kill would be lost. Changed and read only under the lock.
    pub(super) removed: AtomicBool,
    /// Whether it waits among the open agents to be closed.
    pub(super) queued: AtomicBool,
    pub(super) last_use: AtomicU64,
    pub(super) agent: Mutex<StoredAgent>,
}

impl Slot {
    pub(super) fn new(settings: Arc<Settings>) -> Slot {
        Slot {
            inactive: AtomicBool::new(false),
            counted: AtomicBool::new(false),
            removed: AtomicBool::new(false),
            queued: AtomicBool::new(false),
            last_use: AtomicU64::new(0),
            agent: Mutex::new(StoredAgent::new(settings)),
        }
    }

    pub(super) fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Relaxed)
    }
}

/// Copies an agent's state into the flag of its slot when it is dropped, also by a panic: a kill
/// that was decided holds.
pub(super) struct SyncFlag<'a> {
    pub(super) slot: &'a Slot,
    pub(super) agent: Agent<'a>,
}

impl Drop for SyncFlag<'_> {
    fn drop(&mut self) {
        self.slot.inactive.store(self.agent.state.deactivation().is_some(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the counts of its references it fits into 96 bytes, a size of the allocator.
    #[test]
    fn a_slot_takes_80_bytes() {
        assert_eq!(size_of::<Slot>(), 80);
    }
}
