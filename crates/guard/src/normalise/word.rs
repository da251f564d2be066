//! The word that is being read, eight bytes at a time: most words fit into one such lane, and a loop over single bytes
//! whose end no processor can foresee would take most of the time.

use crate::words::{Word, fold};

/// How many bytes are looked at together.
pub(super) const LANE: usize = 8;

/// A longer word is handed on in parts: text without any space (base64, minified code) must not need memory.
const LONGEST_WORD: usize = 256;

/// The bytes of a word, already in lower case.
#[derive(Debug)]
pub(super) struct WordBuffer {
    /// A lane longer than the longest word, so that a whole lane can be written and read wherever a word ends.
    bytes: [u8; LONGEST_WORD + LANE],
    length: usize,
}

impl Default for WordBuffer {
    fn default() -> Self {
        WordBuffer { bytes: [0; LONGEST_WORD + LANE], length: 0 }
    }
}

impl WordBuffer {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    pub(super) fn has_room(&self, length: usize) -> bool {
        self.length + length <= LONGEST_WORD
    }

    /// Adds bytes as they are; there is room for them.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Adds the ASCII letters that `text` has from `at` on, in lower case, at most a lane of them; says how many.
    pub(super) fn push_letters(&mut self, text: &[u8], at: usize) -> usize {
        let lower = lane(text, at) | repeated(0x20);
        self.bytes[self.length..self.length + LANE].copy_from_slice(&lower.to_le_bytes());
        let count = leading_letters(lower);
        self.length += count;
        count
    }

    pub(super) fn word(&self, spaced: bool) -> Word<'_> {
        Word { bytes: &self.bytes[..self.length], hash: self.hash(), spaced }
    }

    /// Part of every stored hash: it never changes.
    fn hash(&self) -> u64 {
        let mut hash = self.length as u64;
        let mut at = 0;
        while self.length - at > LANE {
            hash = fold(hash, lane(&self.bytes, at));
            at += LANE;
        }
        // What stands behind the word in the last lane is left from earlier words.
        let unused = (at + LANE - self.length) * 8;
        fold(hash, lane(&self.bytes, at).unbounded_shl(unused as u32))
    }
}

/// Eight bytes from `at` on; zeros behind the end.
fn lane(bytes: &[u8], at: usize) -> u64 {
    if let Some(Ok(lane)) = bytes.get(at..at + LANE).map(<[u8; LANE]>::try_from) {
        return u64::from_le_bytes(lane);
    }
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().rev().fold(0, |lane, byte| lane << 8 | u64::from(*byte))
}

const fn repeated(byte: u8) -> u64 {
    u64::from_le_bytes([byte; LANE])
}

/// How many of the bytes, whose bit 0x20 is set, are ASCII letters before the first that is none.
fn leading_letters(lower: u64) -> usize {
    // Adding to seven bits never carries into the next byte; the eighth then says whether a bound was reached.
    let seven = lower & repeated(0x7f);
    let from_a = seven + repeated(0x80 - b'a');
    let past_z = seven + repeated(0x80 - b'z' - 1);
    let letters = from_a & !past_z & !lower & repeated(0x80);
    ((letters ^ repeated(0x80)).trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_told_a_letter_or_not() {
        for byte in 0..=u8::MAX {
            for place in 0..LANE {
                let mut text = *b"xyzXYZxy";
                text[place] = byte;
                let mut word = WordBuffer::default();
                let count = word.push_letters(&text, 0);
                let expected = if byte.is_ascii_alphabetic() { LANE } else { place };
                assert_eq!(count, expected, "{byte} at {place}");
                assert_eq!(word.word(false).bytes, text[..count].to_ascii_lowercase());
            }
        }
    }

    #[test]
    fn a_hash_does_not_depend_on_what_stood_there_before() {
        let mut word = WordBuffer::default();
        word.push(b"something long enough for lanes");
        word.clear();
        for text in [&b"a"[..], b"ab", b"abcdefgh", b"abcdefghi", b"a\0"] {
            let mut fresh = WordBuffer::default();
            fresh.push(text);
            word.push(text);
            assert_eq!(word.hash(), fresh.hash(), "{text:?}");
            word.clear();
        }
    }
}
