//! Prints by a hash of what they were made from: hashing bytes takes a fraction of taking a text
//! apart. Each thread has caches of its own, so that there is no lock.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use twox_hash::XxHash3_64;

use super::digest::fold;

/// Random, so that a client cannot craft two texts with the same hash.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));

/// The newest prints; a new one takes the place of another.
pub(super) struct PrintCache<T, const PLACES: usize>(RefCell<[Option<(u64, T)>; PLACES]>);

impl<T: Copy, const PLACES: usize> PrintCache<T, PLACES> {
    pub(super) const fn new() -> Self {
        PrintCache(RefCell::new([None; PLACES]))
    }

    /// The print with this key, made by `make` unless it is known.
    pub(super) fn find_or(&self, key: u64, make: impl FnOnce() -> T) -> T {
        let place = key as usize % PLACES;
        let known = self.0.borrow()[place].filter(|(known, _)| *known == key);
        if let Some((_, print)) = known {
            return print;
        }
        let print = make();
        self.0.borrow_mut()[place] = Some((key, print));
        print
    }
}

/// One key of `counts`, which tell lists apart that have the same texts, and of all texts.
pub(super) fn key_of<'t>(counts: &[usize], texts: impl Iterator<Item = &'t [u8]>) -> u64 {
    let counts = counts.iter().fold(*SEED, |key, count| fold(key, *count as u64));
    texts.fold(counts, |key, text| fold(key, XxHash3_64::oneshot_with_seed(*SEED, text)))
}
