//! Random numbers that are the same on every machine: a seed names a run.

use std::ops::RangeInclusive;

/// `SplitMix64`: small, fast, and good enough to vary texts.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

pub(crate) const HEX: &str = "0123456789abcdef";
pub(crate) const UPPER_HEX: &str = "0123456789ABCDEF";
pub(crate) const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub(crate) const BASE36: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
pub(crate) const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
pub(crate) const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
pub(crate) const URL_SAFE: &str = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(crate) const DIGITS: &str = "0123456789";

impl Rng {
    /// The generator of a named run: FNV-1a of the name, mixed with the seed.
    pub(crate) fn named(name: &str, seed: u64) -> Rng {
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Rng(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A place in a list of `length` entries.
    pub(crate) fn below(&mut self, length: usize) -> usize {
        (self.next() % length.max(1) as u64) as usize
    }

    pub(crate) fn range(&mut self, range: RangeInclusive<i64>) -> i64 {
        let (low, high) = range.into_inner();
        low + (self.next() % (high - low + 1).unsigned_abs()) as i64
    }

    pub(crate) fn count(&mut self, range: RangeInclusive<usize>) -> usize {
        let (low, high) = range.into_inner();
        low + self.below(high - low + 1)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// `length` characters of an alphabet.
    pub(crate) fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length).map(|_| char::from(letters[self.below(letters.len())])).collect()
    }

    /// Some of a list, in a random order, each at most once.
    pub(crate) fn sample<T: Clone>(&mut self, list: &[T], count: usize) -> Vec<T> {
        let mut rest = list.to_vec();
        let mut taken = Vec::new();
        while taken.len() < count && !rest.is_empty() {
            taken.push(rest.swap_remove(self.below(rest.len())));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_a_sequence() {
        let draw = |name: &str, seed| Rng::named(name, seed).text(BASE62, 12);
        assert_eq!(draw("a", 1), draw("a", 1));
        assert_ne!(draw("a", 1), draw("a", 2));
        assert_ne!(draw("a", 1), draw("b", 1));
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut rng = Rng::named("range", 0);
        assert!((0..1000).all(|_| (3..=5).contains(&rng.range(3..=5))));
        assert!((0..1000).all(|_| rng.below(7) < 7));
        assert_eq!(rng.sample(&[1, 2, 3], 5).len(), 3);
    }
}
