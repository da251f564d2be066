//! The calls of one window, oldest first, and the asks among them.

use std::collections::VecDeque;

use super::slab::{Key, Slab};

/// The calls of one window. Asks are kept in a list of their own: a window may hold sixteen samples
/// for each ask, and every call is compared with the asks alone.
#[derive(Debug, Default)]
pub(super) struct Calls {
    keys: VecDeque<Key>,
    samples: usize,
    /// The calls that are not samples. Empty while there is no sample: then all calls are asks.
    asks: VecDeque<Key>,
}

impl Calls {
    /// Adds a call that is newer than all others.
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

    /// The calls that are not samples.
    pub(super) fn asks(&self) -> &VecDeque<Key> {
        if self.samples == 0 { &self.keys } else { &self.asks }
    }

    pub(super) fn keys(&self) -> &VecDeque<Key> {
        &self.keys
    }
}
