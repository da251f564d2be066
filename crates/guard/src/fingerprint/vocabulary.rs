//! The set of words of a text, to find which words two texts share.

use super::digest::{Word, Words, fold};
use super::normalise::{Numbers, words_of};

/// The set of words of texts, as hashes.
#[derive(Debug, Default)]
pub(super) struct Vocabulary(Vec<u64>);

impl Vocabulary {
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vocabulary {
        let mut collected = Collected::default();
        words_of(texts, Numbers::Kept, &mut collected);
        collected.words.sort_unstable();
        collected.words.dedup();
        Vocabulary(collected.words)
    }

    /// How many of its words are not in `earlier`.
    pub(super) fn new_words(&self, earlier: &Vocabulary) -> usize {
        self.0.iter().filter(|word| earlier.0.binary_search(word).is_err()).count()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Debug, Default)]
struct Collected {
    words: Vec<u64>,
    /// The character before, in scripts without spaces: pairs mean more than single characters.
    before: Option<u64>,
}

impl Words for Collected {
    fn word(&mut self, word: Word<'_>) {
        if word.bytes.iter().all(u8::is_ascii_punctuation) {
            return;
        }
        let is_character = !word.bytes.is_ascii() && str_len(word.bytes) == 1;
        let hash = if word.bytes.is_ascii() { plain_hash(word.bytes) } else { word.hash };
        match self.before.filter(|_| is_character && !word.spaced) {
            Some(before) => self.words.push(fold(before, hash)),
            None if is_character => {}
            None => self.words.push(hash),
        }
        self.before = is_character.then_some(hash);
    }
}

/// How many characters there are.
fn str_len(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

/// A hash of a word without the marks around it.
fn plain_hash(word: &[u8]) -> u64 {
    let is_mark = |byte: &u8| byte.is_ascii_punctuation();
    let start = word.iter().take_while(|byte| is_mark(byte)).count();
    let end = word.len() - word.iter().rev().take_while(|byte| is_mark(byte)).count();
    word[start..end].iter().fold(1, |hash, byte| fold(hash, u64::from(*byte)))
}
