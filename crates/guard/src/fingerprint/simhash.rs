//! SimHash: a 64-bit hash of a text that moves little when the text changes little, made from its
//! word triples. Stored with every fingerprint, so its values must never change; the tests pin
//! them.

use model::TextHash;

use crate::fingerprint::digest::{Digest, fold};
use crate::fingerprint::normalise::{Numbers, words_of};

/// Stands before the first and after the last word, so that a text of one word has triples too.
const BORDER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Builds a SimHash from the hashes of words in order.
///
/// Triples of words rather than single words: common words make all English alike, and a long
/// template in which only a sentence changes must not look unchanged.
#[derive(Debug)]
pub(crate) struct SimHash {
    /// The two words before those in `waiting`.
    before: [u64; 2],
    /// The newest words, until there are eight.
    waiting: [u64; 8],
    words: u64,
    counts: BitCounts,
}

impl Default for SimHash {
    fn default() -> Self {
        SimHash { before: [BORDER; 2], waiting: [0; 8], words: 0, counts: BitCounts::default() }
    }
}

impl SimHash {
    /// Adds the hash of the next word.
    #[inline]
    pub(crate) fn add(&mut self, word: u64) {
        self.waiting[self.waits()] = word;
        self.words += 1;
        if self.waits() == 0 {
            self.count_eight();
        }
    }

    #[inline(never)]
    fn count_eight(&mut self) {
        let triples = self.triples();
        self.counts.add_eight(triples);
    }

    /// How many words were added.
    pub(crate) fn words(&self) -> u64 {
        self.words
    }

    /// The hash of all words; `None` for a text without words.
    pub(crate) fn finish(&mut self) -> Option<TextHash> {
        if self.words == 0 {
            return None;
        }
        self.add(BORDER);
        self.add(BORDER);
        let waits = self.waits();
        let mut triples = self.triples();
        triples[waits..].fill(0);
        self.counts.add_eight(triples);
        Some(TextHash(self.counts.majority(self.words)))
    }

    fn waits(&self) -> usize {
        self.words as usize % 8
    }

    /// The triples of the waiting words, each with the two words before it.
    #[inline(always)]
    fn triples(&mut self) -> [u64; 8] {
        let [mut first, mut second] = self.before;
        let mut triples = self.waiting;
        for triple in &mut triples {
            let word = *triple;
            *triple = fold(fold(first, second.rotate_left(32)), word);
            (first, second) = (second, word);
        }
        self.before = [first, second];
        triples
    }
}

/// How often each of the 64 bits was set, for all bits at once: plane `k` holds bit `k` of every
/// count, and words are added eight at a time through carry-save adders. Sixty-four single counters
/// would take ten times as long.
#[derive(Debug, Default)]
struct BitCounts {
    planes: [u64; 32],
}

impl BitCounts {
    fn add_eight(&mut self, [a, b, c, d, e, f, g, h]: [u64; 8]) {
        let [ones, twos, fours, ..] = self.planes;
        let (ones, twos_a) = add_three(ones, a, b);
        let (ones, twos_b) = add_three(ones, c, d);
        let (twos, fours_a) = add_three(twos, twos_a, twos_b);
        let (ones, twos_a) = add_three(ones, e, f);
        let (ones, twos_b) = add_three(ones, g, h);
        let (twos, fours_b) = add_three(twos, twos_a, twos_b);
        let (fours, eights) = add_three(fours, fours_a, fours_b);
        self.planes[0] = ones;
        self.planes[1] = twos;
        self.planes[2] = fours;
        self.carry_into(3, eights);
    }

    fn carry_into(&mut self, plane: usize, mut carry: u64) {
        for plane in &mut self.planes[plane..] {
            if carry == 0 {
                return;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }

    /// The bits that were set in more than half of `added` words.
    fn majority(&self, added: u64) -> u64 {
        let half = added / 2;
        let used = self.planes.len().min((u64::BITS - added.leading_zeros()) as usize);
        // All counts are compared with `half` at once, from the highest bit down.
        let (mut more, mut equal) = (0, u64::MAX);
        for (bit, plane) in self.planes[..used].iter().enumerate().rev() {
            if half >> bit & 1 == 0 {
                more |= equal & plane;
                equal &= !plane;
            } else {
                equal &= plane;
            }
        }
        more
    }
}

/// Adds three words bit by bit: the sums and the carries.
fn add_three(a: u64, b: u64, c: u64) -> (u64, u64) {
    let either = a ^ b;
    (either ^ c, a & b | either & c)
}

/// The SimHash of a text, normalised first; `None` for a text without words.
pub fn text_hash(text: &str, numbers: Numbers) -> Option<TextHash> {
    let mut digest = Digest::default();
    words_of([text], numbers, &mut digest);
    digest.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hash(text: &str) -> TextHash {
        text_hash(text, Numbers::Masked).unwrap_or(TextHash(0))
    }

    /// Stored hashes are compared with new ones: these never change.
    #[test]
    fn hashes_are_the_same_in_every_release() {
        for (text, expected) in [
            ("a", 0xdc95_0832_370f_87e9),
            ("Order #12345", 0x1129_8407_19a3_11a0),
            ("The quick brown fox jumps over the lazy dog", 0x33ba_8063_1055_4f75),
            ("Internationalization_of_documentation, explained", 0x5800_6100_ab1b_bc9a),
            (&"ab".repeat(300), 0xd7bc_76a9_f89d_d40c),
            ("订单12345已发货", 0x0150_6c26_0b12_0023),
        ] {
            assert_eq!(hash(text).0, expected, "{text} {:#018x}", hash(text).0);
        }
    }

    #[test]
    fn no_text_has_no_hash() {
        for text in ["", " ", "\r\n\t", "\u{3000}"] {
            assert_eq!(text_hash(text, Numbers::Masked), None, "{text:?}");
        }
    }

    #[test]
    fn different_texts_are_far_apart_however_short() {
        let texts = [
            "a",
            "b",
            "yes",
            "no",
            "ok",
            "done",
            "continue",
            "go on",
            "go back",
            "fix bug",
            "fix test",
            "list files",
            "positive",
            "negative",
            "run it",
            "run it again",
            "thank you",
            "stop",
            "你好",
            "再见",
            "订单已发货",
            "請繼續",
            "สวัสดี",
            "what is the weather in paris today",
            "write a haiku about the sea",
            "explain quantum computing to a child",
            "translate the following sentence into french",
            "summarise this article in three bullet points",
            "SELECT name FROM users WHERE active",
            "SELECT price FROM orders WHERE open",
            "cargo test --workspace",
            "<returncode>0</returncode> <output> </output>",
            "no such file or directory",
            "permission denied",
            "{\"path\":\"src/main.rs\"}",
            "{\"path\":\"src/lib.rs\"}",
            "<NUM>",
            "<TS>",
            "<ID>",
        ];
        for (index, one) in texts.iter().enumerate() {
            for other in &texts[index + 1..] {
                let distance = hash(one).distance(hash(other));
                assert!(distance > 5, "{distance}: {one:?} {other:?}");
            }
        }
    }

    /// Different sentences in the same few common words, as English has them.
    fn prose(seed: u64, words: usize) -> String {
        let common = ["the", "of", "and", "to", "in", "a", "is", "that", "it", "was", "for", "on"];
        let mut state = seed;
        let mut next = || {
            state = fold(state, 7);
            state as usize
        };
        let word = |number: usize| match number % 2 {
            0 => common[number / 2 % common.len()].to_owned(),
            _ => ["ka", "lo", "mi", "ru", "te", "so"][number / 2 % 6].repeat(number / 12 % 3 + 1),
        };
        (0..words).map(|_| word(next()) + " ").collect()
    }

    #[test]
    fn long_texts_in_common_words_are_far_apart() {
        for words in [5, 20, 100, 1_000, 5_000] {
            for seed in 0..20 {
                let distance = hash(&prose(seed, words)).distance(hash(&prose(seed + 100, words)));
                assert!(distance > 5, "{distance} at {words} words, seed {seed}");
            }
        }
    }

    #[test]
    fn a_long_template_with_another_paragraph_is_another_text() {
        for seed in 0..20 {
            let template = prose(seed, 500);
            let (one, other) = (prose(seed + 100, 60), prose(seed + 200, 60));
            let distance = hash(&format!("{template} {one}")).distance(hash(&format!("{template} {other}")));
            assert!(distance >= 3, "{distance}, seed {seed}");
        }
    }

    proptest! {
        #[test]
        fn counting_by_planes_is_counting(words in prop::collection::vec(any::<u64>(), 1..200)) {
            let mut counts = BitCounts::default();
            for eight in words.chunks(8) {
                let mut padded = [0; 8];
                padded[..eight.len()].copy_from_slice(eight);
                counts.add_eight(padded);
            }
            let is_set = |bit: usize| words.iter().filter(|word| *word >> bit & 1 == 1).count() * 2 > words.len();
            let expected = (0..64).filter(|bit| is_set(*bit)).fold(0, |all, bit| all | 1_u64 << bit);
            prop_assert_eq!(counts.majority(words.len() as u64), expected);
        }

        #[test]
        fn texts_that_differ_in_numbers_and_times_are_alike(
            words in prop::collection::vec("[a-z]{1,8}", 1..20), one in any::<u32>(), other in any::<u32>(), day in 10..29_u32
        ) {
            let text = |number: u32, day: u32| format!("{} #{number} on 2024-01-{day} {}", words.join(" "), number / 7);
            prop_assert!(hash(&text(one, 11)).distance(hash(&text(other, day))) < 3);
        }
    }
}
