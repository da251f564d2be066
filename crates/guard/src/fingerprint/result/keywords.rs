//! Words that say something about the number or the id that follows, found by their hashes.

use std::sync::LazyLock;

use super::volatile;
use crate::fingerprint::digest::{Word, Words};
use crate::fingerprint::normalise::{Numbers, words_of};

/// What a word says about the next one, one bit for each statement.
pub(super) type Hints = u8;

pub(super) const VOLATILE: Hints = 1;
pub(super) const CALENDAR: Hints = 1 << 1;
pub(super) const ID: Hints = 1 << 2;
pub(super) const WAIT: Hints = 1 << 3;
pub(super) const AMOUNT: Hints = 1 << 4;

/// Words by their hashes.
pub(super) struct Keywords {
    /// A bit for the upper bits of every known hash: nearly every word is in no list, and a missing
    /// bit shows that at once.
    filter: Vec<u64>,
    known: Vec<(u64, Hints)>,
}

/// How many of the upper bits of a hash choose its bit.
const FILTER_BITS: u32 = 14;

pub(super) static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let mut keywords = Keywords { filter: vec![0; 1 << (FILTER_BITS - 6)], known: Vec::new() };
    keywords.add(VOLATILE, &volatile::KEYS, &["", ":", "="]);
    keywords.add(WAIT, &["time", "waited", "slept"], &["", ":"]);
    keywords.add(
        AMOUNT,
        &["size", "processed", "bytes", "total", "count", "offset", "rows", "copied", "read"],
        &["", ":"],
    );
    keywords.add(CALENDAR, &volatile::CALENDAR, &["", ","]);
    keywords.add(ID, &["id", "hash", "commit", "sha", "digest", "token", "session", "revision"], &["", ":", "="]);
    keywords.known.sort_unstable();
    keywords
});

impl Keywords {
    fn add(&mut self, hints: Hints, words: &[&str], ends: &[&str]) {
        for word in words {
            for form in ends.iter().flat_map(|end| ["", "(", "["].map(|start| format!("{start}{word}{end}"))) {
                let hash = word_hash(&form);
                let (place, bit) = Keywords::place(hash);
                self.filter[place] |= bit;
                self.known.push((hash, hints));
            }
        }
    }

    /// Where the bit of a hash stands.
    fn place(hash: u64) -> (usize, u64) {
        let number = hash >> (u64::BITS - FILTER_BITS);
        ((number / 64) as usize, 1 << (number % 64))
    }

    #[inline]
    pub(super) fn hints(&self, hash: u64) -> Hints {
        let (place, bit) = Keywords::place(hash);
        if self.filter[place] & bit == 0 { 0 } else { self.look_up(hash) }
    }

    #[inline(never)]
    fn look_up(&self, hash: u64) -> Hints {
        let first = self.known.partition_point(|(known, _)| *known < hash);
        let same = self.known[first..].iter().take_while(|(known, _)| *known == hash);
        same.fold(0, |all, (_, hints)| all | hints)
    }
}

/// The hash of a single word.
fn word_hash(word: &str) -> u64 {
    struct Last(u64);
    impl Words for Last {
        fn word(&mut self, word: Word<'_>) {
            self.0 = word.hash;
        }
    }
    let mut last = Last(0);
    words_of([word], Numbers::Kept, &mut last);
    last.0
}
