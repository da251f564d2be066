//! The calls of one window, oldest first, and how many of them are samples.

use std::collections::VecDeque;

use super::slab::{Key, Slab};

/// The calls of one window. Samples are counted as they come and go: a window may hold sixteen
/// times as many as it has room for asks, and every call asks how many those are.
#[derive(Debug, Default)]
pub(super) struct Calls {
    keys: VecDeque<Key>,
    samples: usize,
}

impl Calls {
    /// Adds a call, newer than those that are there.
    pub(super) fn push(&mut self, key: Key, is_sample: bool) {
        self.reserve();
        self.keys.push_back(key);
        self.samples += usize::from(is_sample);
    }

    /// Makes room for one more. Doubling would leave room unused in each of very many windows.
    pub(super) fn reserve(&mut self) {
        if self.keys.len() == self.keys.capacity() {
            self.keys.reserve_exact(1 + self.keys.len() / 4);
        }
    }

    /// Removes the oldest call.
    pub(super) fn pop_oldest(&mut self, slab: &Slab) -> Option<Key> {
        let key = self.keys.pop_front()?;
        self.samples -= usize::from(slab.get(key).is_sample());
        Some(key)
    }

    /// How many of them are asks, and no samples of one.
    pub(super) fn asks(&self) -> usize {
        self.keys.len() - self.samples
    }

    pub(super) fn keys(&self) -> &VecDeque<Key> {
        &self.keys
    }
}
