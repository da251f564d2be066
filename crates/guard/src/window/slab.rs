//! The fingerprints of one agent, in one place so that two windows can share one.

use super::packed_fingerprint::PackedFingerprint;

/// The position of an entry.
pub(super) type Key = u32;

/// Entries by key. A key that was released is used again.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    entries: Vec<PackedFingerprint>,
    free: Vec<Key>,
}

impl Slab {
    /// Makes room for so many more.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.entries.reserve_exact(count);
    }

    /// Adds an entry and returns its key.
    pub(crate) fn insert(&mut self, entry: PackedFingerprint) -> Key {
        if let Some(key) = self.free.pop() {
            *self.get_mut(key) = entry;
            return key;
        }
        self.entries.push(entry);
        (self.entries.len() - 1) as Key
    }

    /// Releases a key.
    pub(crate) fn release(&mut self, key: Key) {
        self.free.push(key);
    }

    /// What lies there.
    pub(crate) fn get(&self, key: Key) -> &PackedFingerprint {
        &self.entries[key as usize]
    }

    /// What lies there.
    pub(crate) fn get_mut(&mut self, key: Key) -> &mut PackedFingerprint {
        &mut self.entries[key as usize]
    }

    /// The highest number of keys in use at one time.
    pub(crate) fn used(&self) -> usize {
        self.entries.len()
    }

    /// The entries that are in a window.
    pub(crate) fn in_windows(&self) -> impl Iterator<Item = &PackedFingerprint> {
        self.entries.iter().filter(|entry| entry.is_in_window())
    }
}
