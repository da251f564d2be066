//! Where the fingerprints of one agent lie: in small chunks that are never moved, because growing
//! by moving would leave holes of every size in the memory of very many agents.

use crate::entry::Entry;

/// Where one lies.
pub(crate) type Slot = u32;

/// Half of a window of the usual size.
const CHUNK: usize = 10;
/// The first chunk is cut in two: most of very many agents have made a call or two.
const FIRST: usize = 2;

/// Entries by slot. A slot that was let go is used again.
#[derive(Debug, Default)]
#[allow(clippy::vec_box, reason = "chunks must not move when the list of them grows")]
pub(crate) struct Slots {
    chunks: Vec<Box<[Entry]>>,
    used: usize,
    free: Vec<Slot>,
}

/// In which chunk a slot lies, and where in it.
fn place(slot: Slot) -> (usize, usize) {
    match slot as usize {
        slot if slot >= CHUNK => (1 + slot / CHUNK, slot % CHUNK),
        slot if slot >= FIRST => (1, slot - FIRST),
        slot => (0, slot),
    }
}

impl Slots {
    /// Puts an entry into a slot.
    pub(crate) fn insert(&mut self, entry: Entry) -> Slot {
        if let Some(slot) = self.free.pop() {
            *self.get_mut(slot) = entry;
            return slot;
        }
        let slot = self.used as Slot;
        if place(slot).0 == self.chunks.len() {
            let length = match self.chunks.len() {
                0 => FIRST,
                1 => CHUNK - FIRST,
                _ => CHUNK,
            };
            self.chunks.push(vec![entry; length].into_boxed_slice());
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
        let (chunk, index) = place(slot);
        &self.chunks[chunk][index]
    }

    /// What lies there.
    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut Entry {
        let (chunk, index) = place(slot);
        &mut self.chunks[chunk][index]
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
