//! The word that is being read, eight bytes at a time: most words fit into one such lane, and a
//! loop over single bytes, whose end the processor cannot predict, would take most of the time.

use crate::fingerprint::digest::{Word, fold};
use crate::fingerprint::normalise::marks::UUID_LENGTH;

/// How many bytes are read together.
pub(super) const LANE: usize = 8;

/// A longer word is handed on in parts: text without any space (base64, minified code) must not
/// need memory.
const LONGEST_WORD: usize = 256;

/// The bytes of a word, already in lower case.
#[derive(Debug)]
pub(super) struct WordBuffer {
    /// A lane longer than the longest word, so that a whole lane can be written and read wherever a
    /// word ends.
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

    /// Adds bytes unchanged. The caller has made room for them.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Adds the ASCII letters that `text` has from `at` on, in lower case, at most a lane of them;
    /// returns how many.
    pub(super) fn push_letters(&mut self, text: &[u8], at: usize) -> usize {
        let lower = lane(text, at) | repeated(0x20);
        self.bytes[self.length..self.length + LANE].copy_from_slice(&lower.to_le_bytes());
        let count = leading_letters(lower);
        self.length += count;
        count
    }

    /// Reads the plain word that starts at `start`; returns where it ends. `None` if it is so long
    /// that it may have to be cut.
    pub(super) fn read_plain(&mut self, text: &[u8], start: usize) -> Option<usize> {
        let (lanes, _) = self.bytes.as_chunks_mut();
        for (place, room) in lanes[..LONGEST_WORD / LANE - 1].iter_mut().enumerate() {
            let lane = Plain::at(text, start + place * LANE);
            *room = lane.lower;
            if lane.count < LANE {
                self.length = place * LANE + lane.count;
                return Some(start + self.length);
            }
        }
        None
    }

    /// A UUID is plain if it has no digits.
    pub(super) fn may_hold_uuid(&self) -> bool {
        self.length >= UUID_LENGTH && self.bytes[..self.length].contains(&b'-')
    }

    pub(super) fn word(&self, spaced: bool, has_digits: bool) -> Word<'_> {
        Word { bytes: &self.bytes[..self.length], hash: self.hash(), spaced, has_digits }
    }

    /// Part of every stored hash, so it must never change.
    fn hash(&self) -> u64 {
        let (lanes, _) = self.bytes.as_chunks();
        let (whole, rest) = lanes.split_at(self.length.saturating_sub(1) / LANE);
        let hash = whole.iter().fold(self.length as u64, |hash, lane| fold(hash, u64::from_le_bytes(*lane)));
        // The bytes behind the word in the last lane are left from earlier words.
        let unused = self.length.wrapping_neg() % LANE * 8;
        fold(hash, u64::from_le_bytes(rest[0]) << unused)
    }
}

/// The plain bytes at the start of a lane of text: letters and marks that need no other look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    /// In lower case; only the first `count` bytes are valid.
    lower: [u8; LANE],
    pub(super) count: usize,
}

impl Plain {
    #[inline]
    pub(super) fn at(text: &[u8], at: usize) -> Plain {
        let lane = lane(text, at);
        // A byte that is not ASCII carries into those behind it, which are not used then.
        let past_space = lane.wrapping_add(repeated(0x80 - b' ' - 1));
        let others = (!past_space | range(lane, b'0', b'9') | lane) & repeated(0x80);
        let upper = range(lane, b'A', b'Z') & repeated(0x80);
        // Moves the top bit to 0x20, which makes an ASCII letter lower case.
        Plain { lower: (lane | upper >> 2).to_le_bytes(), count: (others.trailing_zeros() / 8) as usize }
    }

    /// Whether they are a word of less than a lane, or the beginning of one that is not plain.
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        (1..LANE).contains(&self.count)
    }

    /// A word that is less than a lane.
    #[inline]
    pub(super) fn word(&self, spaced: bool) -> Word<'_> {
        Word { bytes: &self.lower[..self.count], hash: self.fold_into(self.count as u64), spaced, has_digits: false }
    }

    /// Folds them into `hash` as [`WordBuffer::hash`] does.
    fn fold_into(&self, hash: u64) -> u64 {
        let unused = self.count.wrapping_neg() % LANE * 8;
        fold(hash, u64::from_le_bytes(self.lower) << unused)
    }
}

/// A plain word of one whole lane and less than another.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainPair {
    lanes: [[u8; LANE]; 2],
    pub(super) length: usize,
    hash: u64,
}

impl PlainPair {
    pub(super) fn new(first: Plain, second: Plain) -> PlainPair {
        let length = LANE + second.count;
        let hash = match second.count {
            0 => first.fold_into(length as u64),
            _ => second.fold_into(first.fold_into(length as u64)),
        };
        PlainPair { lanes: [first.lower, second.lower], length, hash }
    }

    pub(super) fn word(&self, spaced: bool) -> Word<'_> {
        Word { bytes: &self.lanes.as_flattened()[..self.length], hash: self.hash, spaced, has_digits: false }
    }
}

/// Eight bytes from `at` on; zeros behind the end.
#[inline]
fn lane(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(lane) => u64::from_le_bytes(*lane),
        None => last_lane(bytes, at),
    }
}

/// The same where fewer are left: once for each text, so it stays out of the common path.
#[cold]
fn last_lane(bytes: &[u8], at: usize) -> u64 {
    if let Some(last) = bytes.last_chunk::<LANE>() {
        let before = (at + LANE).saturating_sub(bytes.len()) * 8;
        return u64::from_le_bytes(*last).unbounded_shr(before as u32);
    }
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().rev().fold(0, |lane, byte| lane << 8 | u64::from(*byte))
}

const fn repeated(byte: u8) -> u64 {
    u64::from_le_bytes([byte; LANE])
}

/// Whether each byte of `lane`, up to the first that is not ASCII, is in a range: its top bit is
/// set if so, the other bits are not valid.
fn range(lane: u64, first: u8, last: u8) -> u64 {
    // Adding to seven bits never carries into the next byte; the eighth then says whether a bound
    // was reached.
    lane.wrapping_add(repeated(0x80 - first)) & !lane.wrapping_add(repeated(0x80 - last - 1))
}

/// How many bytes are ASCII letters before the first that is not. Their bit 0x20 is set.
fn leading_letters(lower: u64) -> usize {
    let letters = range(lower, b'a', b'z') & !lower & repeated(0x80);
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
                assert_eq!(word.word(false, false).bytes, text[..count].to_ascii_lowercase());
            }
        }
    }

    #[test]
    fn hash_ignores_bytes_of_earlier_words() {
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
