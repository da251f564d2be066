//! The calls of one window, oldest first, and those of them that are no samples.

use std::collections::VecDeque;

use super::slab::{Key, Slab};

/// The calls of one window. Samples are told apart as they come and go: a window may hold sixteen
/// times as many as it has room for asks, and every call is compared with the asks alone.
#[derive(Debug, Default)]
pub(super) struct Calls {
    keys: VecDeque<Key>,
    samples: usize,
    /// Those that are no samples. Empty as long as there is no sample: then all of them are asks.
    asks: VecDeque<Key>,
}

impl Calls {
    /// Adds a call, newer than those that are there.
    pub(super) fn push(&mut self, key: Key, is_sample: bool) {
        self.reserve();
        if is_sample && self.samples == 0 {
            self.asks = self.keys.clone();
        }
        self.keys.push_back(key);
        if is_sample {
            self.samples += 1;
        } else if self.samples > 0 {
            self.asks.push_back(key);
        }
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
        if self.samples > 0 {
            match slab.get(key).is_sample() {
                true => self.samples -= 1,
                false => drop(self.asks.pop_front()),
            }
            if self.samples == 0 {
                self.asks = VecDeque::new();
            }
        }
        Some(key)
    }

    /// Those that are asks, and no samples of one.
    pub(super) fn asks(&self) -> &VecDeque<Key> {
        if self.samples == 0 { &self.keys } else { &self.asks }
    }

    pub(super) fn keys(&self) -> &VecDeque<Key> {
        &self.keys
    }
}
