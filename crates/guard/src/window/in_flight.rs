//! The calls of one agent that have not ended. They are few, so the call of an answer is found
//! quickly.

use model::CallId;

use super::packed_fingerprint::PackedFingerprint;
use super::slab::Key;

/// The calls that have not ended, in no order.
#[derive(Debug, Default)]
pub(super) struct InFlight(Vec<Call>);

#[derive(Debug)]
struct Call {
    key: Key,
    id: CallId,
    is_sample: bool,
}

impl InFlight {
    /// Adds a call.
    pub(super) fn add(&mut self, key: Key, entry: &PackedFingerprint) {
        self.0.push(Call { key, id: entry.call, is_sample: entry.is_sample() });
    }

    /// Removes a call, if it is there.
    pub(super) fn remove(&mut self, key: Key) {
        if let Some(place) = self.0.iter().position(|call| call.key == key) {
            self.0.swap_remove(place);
        }
    }

    /// The key of the call with this id.
    pub(super) fn find(&self, id: CallId) -> Option<Key> {
        self.0.iter().find(|call| call.id == id).map(|call| call.key)
    }

    /// How many asks and how many samples there are for which `is_same` holds.
    pub(super) fn count(&self, is_same: impl Fn(Key) -> bool) -> (usize, usize) {
        self.0.iter().filter(|call| is_same(call.key)).fold((0, 0), |(asks, samples), call| match call.is_sample {
            true => (asks, samples + 1),
            false => (asks + 1, samples),
        })
    }

    /// The ids of all calls.
    #[cfg(test)]
    pub(super) fn ids(&self) -> impl Iterator<Item = CallId> {
        self.0.iter().map(|call| call.id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
