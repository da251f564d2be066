//! Where the fingerprints of one agent lie: in small chunks that are never moved, because growing by moving would leave
//! holes of every size in the memory of very many agents.

use crate::entry::Entry;

/// Where one lies.
pub(crate) type Slot = u32;

/// Half of a window of the usual size.
const CHUNK: usize = 10;

/// Entries by slot. A slot that was let go is used again.
#[derive(Debug, Default)]
#[allow(clippy::vec_box, reason = "chunks must not move when the list of them grows")]
pub(crate) struct Slots {
    chunks: Vec<Box<[Entry; CHUNK]>>,
    used: usize,
    free: Vec<Slot>,
}

impl Slots {
    /// Puts an entry into a slot.
    pub(crate) fn insert(&mut self, entry: Entry) -> Slot {
        if let Some(slot) = self.free.pop() {
            *self.get_mut(slot) = entry;
            return slot;
        }
        let slot = self.used as Slot;
        if self.used == self.chunks.len() * CHUNK {
            self.chunks.push(Box::new([entry; CHUNK]));
        }
        self.used += 1;
        *self.get_mut(slot) = entry;
        slot
    }

    /// Lets a slot go.
    pub(crate) fn release(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// What lies there.
    pub(crate) fn get(&self, slot: Slot) -> &Entry {
        &self.chunks[slot as usize / CHUNK][slot as usize % CHUNK]
    }

    /// What lies there.
    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.chunks[slot as usize / CHUNK][slot as usize % CHUNK]
    }

    /// How many slots there were at most at one time.
    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// All that stand in a window.
    pub(crate) fn in_windows(&self) -> impl Iterator<Item = &Entry> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).filter(|entry| entry.is_in_window())
    }
}
