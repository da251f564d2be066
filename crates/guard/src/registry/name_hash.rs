//! Hashes agents' names for the maps that they are looked up in, several times for each call: XXH3
//! takes a third of the time of the standard library's hash.

use std::hash::{BuildHasher, Hasher, RandomState};

use twox_hash::XxHash3_64;

/// Hashes names with a random seed: names come from outside, and no one can choose names that
/// collide.
#[derive(Clone, Debug)]
pub(crate) struct NameHash {
    seed: u64,
}

impl Default for NameHash {
    fn default() -> Self {
        NameHash { seed: RandomState::new().hash_one(0) }
    }
}

impl BuildHasher for NameHash {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher { hash: self.seed }
    }
}

/// Hashes one name.
pub(crate) struct NameHasher {
    hash: u64,
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.hash = XxHash3_64::oneshot_with_seed(self.hash, bytes);
    }

    /// The end of a string. Nothing else is hashed after the string, so its end need not be marked.
    fn write_u8(&mut self, _end: u8) {}

    fn finish(&self) -> u64 {
        self.hash
    }
}
