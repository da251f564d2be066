//! What is computed from the words of a normalised text: an exact hash, a SimHash, a size.

use model::TextHash;
use twox_hash::XxHash3_64;

use crate::fingerprint::simhash::SimHash;

/// A word of a normalised text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'w> {
    pub(crate) bytes: &'w [u8],
    /// A hash of them.
    pub(crate) hash: u64,
    /// Whether a space stands before it: scripts without spaces are cut into characters.
    pub(crate) spaced: bool,
    /// Whether digits stand in it.
    pub(crate) has_digits: bool,
}

/// Receives the words of a text in order.
pub(crate) trait Words {
    /// The next word.
    fn word(&mut self, word: Word<'_>);
}

/// Combines two hashes: a multiplication to 128 bits, folded. Part of every stored hash, so it must
/// never change.
pub(crate) fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one ^ 0x9e37_79b9_7f4a_7c15) * u128::from(other ^ 0xd1b5_4a32_d192_ed03);
    product as u64 ^ (product >> 64) as u64
}

/// A hash of the whole normalised text: equal texts only.
#[derive(Debug, Default)]
pub(crate) struct ExactHash(u64);

impl ExactHash {
    /// The hash. It is stored, so it must never change.
    pub(crate) fn finish(&self) -> u64 {
        self.0
    }
}

impl Words for ExactHash {
    fn word(&mut self, word: Word<'_>) {
        self.0 = fold(self.0.rotate_left(u32::from(word.spaced)), word.hash);
    }
}

/// A hash of the words of a text in any order, without the marks beside them, and how many there
/// are.
#[derive(Debug, Default)]
pub(crate) struct UnorderedHash {
    pub(crate) hash: u64,
    pub(crate) count: u32,
}

impl Words for UnorderedHash {
    fn word(&mut self, word: Word<'_>) {
        let is_mark = |byte: &u8| byte.is_ascii_punctuation();
        let end = word.bytes.iter().rposition(|byte| !is_mark(byte)).map_or(0, |last| last + 1);
        let start = word.bytes.iter().position(|byte| !is_mark(byte)).unwrap_or(end);
        self.hash = self.hash.wrapping_add(XxHash3_64::oneshot(&word.bytes[start..end]));
        self.count += 1;
    }
}

/// A SimHash and a size, by which texts are compared.
#[derive(Debug, Default)]
pub(crate) struct Digest {
    similar: SimHash,
    bytes: usize,
}

impl Digest {
    /// A text with fewer words than this, and fewer bytes than [`SHORT_BYTES`](Self::SHORT_BYTES),
    /// is short: “continue”, “done”, the output of a command that printed nothing in its usual
    /// frame.
    const SHORT_WORDS: u64 = 8;
    /// Text without spaces (minified JSON, a path) can be long in one word.
    const SHORT_BYTES: usize = 64;

    /// A prompt with fewer words and bytes than these may only ask to go on: a harness says “Please
    /// continue. If the task is complete, reply with DONE.”
    const BRIEF_WORDS: u64 = 14;
    const BRIEF_BYTES: usize = 96;

    /// Buttons and first questions have fewer words than this; tasks that agents are given have
    /// more.
    const COMMON_WORDS: u64 = 20;
    const COMMON_BYTES: usize = 120;

    /// Whether the text is so short that its repetition is weak evidence.
    pub(crate) fn is_short(&self) -> bool {
        self.similar.words() < Self::SHORT_WORDS && self.bytes < Self::SHORT_BYTES
    }

    /// Whether a prompt is so short that its repetition is weak evidence.
    pub(crate) fn is_brief(&self) -> bool {
        self.similar.words() < Self::BRIEF_WORDS && self.bytes < Self::BRIEF_BYTES
    }

    /// Whether the text is so short that different users may well write the same.
    pub(crate) fn is_common(&self) -> bool {
        self.similar.words() < Self::COMMON_WORDS && self.bytes < Self::COMMON_BYTES
    }

    /// The SimHash of all words.
    pub(crate) fn finish(&mut self) -> Option<TextHash> {
        self.similar.finish()
    }
}

impl Words for Digest {
    #[inline]
    fn word(&mut self, word: Word<'_>) {
        self.similar.add(word.hash);
        self.bytes += word.bytes.len() + usize::from(word.spaced);
    }
}

/// Feeds both in one pass.
impl<A: Words, B: Words> Words for (A, B) {
    #[inline]
    fn word(&mut self, word: Word<'_>) {
        self.0.word(word);
        self.1.word(word);
    }
}
