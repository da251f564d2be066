//! SimHash: a 64-bit hash of a text that moves little when the text changes little, made from its word triples.
//! Stored with every fingerprint, so what it gives never changes; the tests pin it.

use model::TextHash;

use crate::normalise::{Numbers, words_of};
use crate::words::Digest;

/// Stands before the first and after the last word, so that a text of one word has triples too.
const BORDER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Builds a SimHash from the hashes of words in order.
///
/// Triples of words rather than single words: common words make all English alike, and a long template in which only
/// a sentence changes must not look unchanged.
#[derive(Debug)]
pub(crate) struct SimHash {
    before: [u64; 2],
    empty: bool,
    counts: BitCounts,
}

impl Default for SimHash {
    fn default() -> Self {
        SimHash { before: [BORDER; 2], empty: true, counts: BitCounts::default() }
    }
}

impl SimHash {
    /// Takes the hash of the next word.
    pub(crate) fn add(&mut self, word: u64) {
        let [first, second] = self.before;
        self.counts.add(mix(first, second, word));
        self.before = [second, word];
        self.empty = false;
    }

    /// The hash; none for a text without words.
    pub(crate) fn finish(mut self) -> Option<TextHash> {
        if self.empty {
            return None;
        }
        self.add(BORDER);
        self.add(BORDER);
        Some(TextHash(self.counts.majority()))
    }
}

/// One hash of three, in their order.
pub(crate) fn mix(first: u64, second: u64, third: u64) -> u64 {
    let both = (first.rotate_left(17) ^ second).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let all = (both.rotate_left(29) ^ third).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    all ^ (all >> 32)
}

/// How often each of the 64 bits was set, for all bits at once: plane `k` holds bit `k` of every count, and words are
/// added eight at a time through carry-save adders. Sixty-four single counters would take ten times as long.
#[derive(Debug)]
struct BitCounts {
    planes: [u64; 32],
    waiting: [u64; 8],
    waits: usize,
    added: u64,
}

impl Default for BitCounts {
    fn default() -> Self {
        BitCounts { planes: [0; 32], waiting: [0; 8], waits: 0, added: 0 }
    }
}

impl BitCounts {
    fn add(&mut self, word: u64) {
        self.waiting[self.waits] = word;
        self.waits += 1;
        if self.waits == 8 {
            self.add_eight();
        }
    }

    fn add_eight(&mut self) {
        let [a, b, c, d, e, f, g, h] = self.waiting;
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
        self.added += self.waits as u64;
        self.waits = 0;
    }

    fn carry_into(&mut self, plane: usize, mut carry: u64) {
        for plane in &mut self.planes[plane..] {
            if carry == 0 {
                return;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }

    /// The bits that were set in more than half of the words.
    fn majority(mut self) -> u64 {
        self.waiting[self.waits..].fill(0);
        self.add_eight();
        let half = self.added / 2;
        // All counts are compared with `half` at once, from the highest bit down.
        let (mut more, mut equal) = (0, u64::MAX);
        for (bit, plane) in self.planes.iter().enumerate().rev() {
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

/// The SimHash of a text, normalised first; none for a text without words.
pub fn text_hash(text: &str, numbers: Numbers) -> Option<TextHash> {
    let mut digest = Digest::default();
    words_of([text], numbers, &mut digest);
    digest.finish().1
}
