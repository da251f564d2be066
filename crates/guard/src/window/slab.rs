//! Where the fingerprints of one agent lie: in small chunks that are never moved, because growing
//! by moving would leave holes of every size in the memory of very many agents.

use super::packed_fingerprint::PackedFingerprint;

/// Where one lies.
pub(super) type Key = u32;

/// Half of a window of the usual size.
const CHUNK: usize = 10;
/// The first chunk is cut in two: most of very many agents have made a call or two.
const FIRST: usize = 2;

/// Entries by key. A key that was let go is used again.
#[derive(Debug, Default)]
#[allow(clippy::vec_box, reason = "chunks must not move when the list of them grows")]
pub(crate) struct Slab {
    chunks: Vec<Box<[PackedFingerprint]>>,
    used: usize,
    free: Vec<Key>,
}

/// In which chunk a key lies, and where in it.
fn place(key: Key) -> (usize, usize) {
    match key as usize {
        key if key >= CHUNK => (1 + key / CHUNK, key % CHUNK),
        key if key >= FIRST => (1, key - FIRST),
        key => (0, key),
    }
}

impl Slab {
    /// Puts an entry into a key.
    pub(crate) fn insert(&mut self, entry: PackedFingerprint) -> Key {
        if let Some(key) = self.free.pop() {
            *self.get_mut(key) = entry;
            return key;
        }
        let key = self.used as Key;
        if place(key).0 == self.chunks.len() {
            let length = match self.chunks.len() {
                0 => FIRST,
                1 => CHUNK - FIRST,
                _ => CHUNK,
            };
            self.chunks.push(vec![entry; length].into_boxed_slice());
        }
        self.used += 1;
        *self.get_mut(key) = entry;
        key
    }

    /// Lets a key go.
    pub(crate) fn release(&mut self, key: Key) {
        self.free.push(key);
    }

    /// What lies there.
    pub(crate) fn get(&self, key: Key) -> &PackedFingerprint {
        let (chunk, index) = place(key);
        &self.chunks[chunk][index]
    }

    /// What lies there.
    pub(crate) fn get_mut(&mut self, key: Key) -> &mut PackedFingerprint {
        let (chunk, index) = place(key);
        &mut self.chunks[chunk][index]
    }

    /// How many keys there were at most at one time.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// All that stand in a window.
    pub(crate) fn in_windows(&self) -> impl Iterator<Item = &PackedFingerprint> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).filter(|entry| entry.is_in_window())
    }
}
