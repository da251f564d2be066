//! What is made of the words of a normalised text as they pass: an exact hash, a SimHash, a size.

use xxhash_rust::xxh3::xxh3_64;

use crate::simhash::{SimHash, mix};

/// Takes the words of a text, one after the other.
pub(crate) trait Words {
    /// The next word; `spaced` if a space stands before it (scripts without spaces are cut into characters).
    fn word(&mut self, word: &[u8], spaced: bool);
}

/// A hash of the whole normalised text: equal texts only.
#[derive(Debug, Default)]
pub(crate) struct ExactHash(u64);

impl ExactHash {
    fn add(&mut self, word: u64, spaced: bool) {
        self.0 = mix(self.0, u64::from(spaced), word);
    }

    /// The hash. Stored: it never changes.
    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

impl Words for ExactHash {
    fn word(&mut self, word: &[u8], spaced: bool) {
        self.add(xxh3_64(word), spaced);
    }
}

/// Everything that is kept of a prompt or a response, in one pass.
#[derive(Debug, Default)]
pub(crate) struct Digest {
    exact: ExactHash,
    similar: SimHash,
    words: usize,
    bytes: usize,
}

impl Digest {
    /// A text with fewer words than this, and fewer bytes than [`SHORT_BYTES`](Self::SHORT_BYTES), is short: “continue”,
    /// “done”, the output of a command that printed nothing in its usual frame.
    const SHORT_WORDS: usize = 8;
    /// Text without spaces (minified JSON, a path) can be long in one word.
    const SHORT_BYTES: usize = 64;

    /// Whether the text says too little to be strong evidence when it comes again.
    pub(crate) fn is_short(&self) -> bool {
        self.words < Self::SHORT_WORDS && self.bytes < Self::SHORT_BYTES
    }

    /// The exact hash and the SimHash.
    pub(crate) fn finish(self) -> (u64, Option<model::TextHash>) {
        (self.exact.finish(), self.similar.finish())
    }
}

impl Words for Digest {
    fn word(&mut self, word: &[u8], spaced: bool) {
        let hash = xxh3_64(word);
        self.exact.add(hash, spaced);
        self.similar.add(hash);
        self.words += 1;
        self.bytes += word.len() + usize::from(spaced);
    }
}
