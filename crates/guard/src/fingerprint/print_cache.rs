//! Caches prints by a hash of the bytes that they were made from: hashing bytes takes a fraction of
//! the time of reading words. Each thread has its own caches, so that there is no lock.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use twox_hash::XxHash3_64;

use super::digest::fold;

/// Random, so that a client cannot craft two texts with the same hash.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));

/// The newest prints; a new one replaces the one at its place.
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

/// One key for all `texts`. `counts` distinguish lists that split the same texts differently.
pub(super) fn key_of<'t>(counts: &[usize], texts: impl Iterator<Item = &'t [u8]>) -> u64 {
    let counts = counts.iter().fold(*SEED, |key, count| fold(key, *count as u64));
    texts.fold(counts, |key, text| fold(key, XxHash3_64::oneshot_with_seed(*SEED, text)))
}
