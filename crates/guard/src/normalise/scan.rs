//! The one pass: from text to words.

use crate::normalise::fold::fold;
use crate::normalise::marks::{self, ID_MASK, NUMBER_MASK, TIME_MASK};
use crate::normalise::word::{LANE, Plain, WordBuffer};
use crate::words::Words;

/// Hands the words of `pieces` to `words`; `MASKED` says whether numbers become `<NUM>`. Says whether any did.
pub(super) fn scan<'t, W: Words, const MASKED: bool>(pieces: impl IntoIterator<Item = &'t str>, words: &mut W) -> bool {
    let mut scan =
        Scan::<W, MASKED> { words, word: WordBuffer::default(), spaced: false, began: false, has_masked: false };
    for piece in pieces {
        if piece.is_ascii() {
            scan.text(piece);
        } else {
            scan.text(&fold(piece));
        }
        scan.space();
    }
    scan.has_masked
}

struct Scan<'w, W, const MASKED: bool> {
    words: &'w mut W,
    word: WordBuffer,
    /// A space stands before the word that is being read.
    spaced: bool,
    /// A word has been handed on: spaces before the first one are trimmed.
    began: bool,
    /// A number has become `<NUM>`, or lost its sign.
    has_masked: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Space,
    Mark,
    NotAscii,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Mark; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b' ' | b'\t'..=b'\r' => Class::Space,
            0x80.. => Class::NotAscii,
            _ => Class::Mark,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

fn is_word_end(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| class(*byte) == Class::Space)
}

/// Past the spaces that `text` has from `at` on.
fn skip_spaces(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| class(*byte) == Class::Space) {
        at += 1;
    }
    at
}

impl<W: Words, const MASKED: bool> Scan<'_, W, MASKED> {
    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = skip_spaces(bytes, 0);
        while at < bytes.len() {
            at = self.plain_word(bytes, at).unwrap_or_else(|| self.intricate_word(text, at));
        }
    }

    /// Takes the word that starts at `at` if it has nothing but letters and marks in it: most have, and then no byte need be
    /// looked at by itself. Says where the next one starts.
    fn plain_word(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let first = Plain::at(text, at);
        if first.count == LANE {
            return self.long_plain_word(text, at, first);
        }
        let end = at + first.count;
        if !is_word_end(text, end) {
            return None;
        }
        self.words.word(first.word(self.spaced));
        Some(self.after_plain(text, end))
    }

    // As are other words: what is seldom run would take the registers of what is.
    #[inline(never)]
    fn long_plain_word(&mut self, text: &[u8], at: usize, first: Plain) -> Option<usize> {
        let end = self.word.read_plain(text, at, first)?;
        let is_whole = is_word_end(text, end) && !self.word.may_hold_uuid();
        if is_whole {
            self.words.word(self.word.word(self.spaced));
        }
        self.word.clear();
        is_whole.then(|| self.after_plain(text, end))
    }

    /// Where the next word starts after a plain one that ends at `end`.
    fn after_plain(&mut self, text: &[u8], end: usize) -> usize {
        (self.spaced, self.began) = (true, true);
        skip_spaces(text, end + 1)
    }

    /// Takes any word, byte by byte where it must, and the spaces behind it.
    #[inline(never)]
    fn intricate_word(&mut self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            at = match class(byte) {
                Class::Letter | Class::Digit if let Some(end) = marks::uuid(bytes, at) => {
                    self.push(ID_MASK.as_bytes());
                    end
                }
                Class::Letter => self.letters(bytes, at),
                Class::Digit => self.digits(bytes, at),
                Class::Space => {
                    self.space();
                    return skip_spaces(bytes, at);
                }
                Class::Mark if MASKED && marks::is_sign(bytes, at) => {
                    self.has_masked = true;
                    at + 1
                }
                Class::Mark => {
                    self.push(&[byte]);
                    at + 1
                }
                Class::NotAscii => self.character(text, at),
            };
        }
        at
    }

    fn letters(&mut self, bytes: &[u8], mut at: usize) -> usize {
        loop {
            self.make_room(LANE);
            let count = self.word.push_letters(bytes, at);
            at += count;
            if count < LANE {
                return at;
            }
        }
    }

    fn digits(&mut self, bytes: &[u8], at: usize) -> usize {
        if let Some(end) = marks::timestamp(bytes, at) {
            self.push(TIME_MASK.as_bytes());
            return end;
        }
        let end = marks::number(bytes, at);
        if MASKED {
            self.mask_number();
        } else {
            bytes[at..end].iter().for_each(|byte| self.push(&[byte.to_ascii_lowercase()]));
        }
        end
    }

    fn character(&mut self, text: &str, at: usize) -> usize {
        let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else {
            return at + 1;
        };
        let end = at + character.len_utf8();
        let bytes = &text.as_bytes()[at..end];
        if character.is_whitespace() {
            self.space();
        } else if MASKED && character.is_numeric() {
            return self.other_digits(text, at);
        } else if is_written_without_spaces(character) {
            self.hand_on();
            self.push(bytes);
            self.hand_on();
        } else {
            self.push(bytes);
        }
        end
    }

    /// A number in digits that are not ASCII.
    fn other_digits(&mut self, text: &str, at: usize) -> usize {
        self.mask_number();
        let rest = text.get(at..).unwrap_or_default();
        let is_digit = |character: &char| !character.is_ascii() && character.is_numeric();
        at + rest.chars().take_while(is_digit).map(char::len_utf8).sum::<usize>()
    }

    fn mask_number(&mut self) {
        self.push(NUMBER_MASK.as_bytes());
        self.has_masked = true;
    }

    fn space(&mut self) {
        self.hand_on();
        self.spaced = self.began;
    }

    fn push(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        self.word.push(bytes);
    }

    fn make_room(&mut self, length: usize) {
        if !self.word.has_room(length) {
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        if self.word.is_empty() {
            return;
        }
        self.words.word(self.word.word(self.spaced));
        self.word.clear();
        self.spaced = false;
        self.began = true;
    }
}

/// Han, Kana, Thai, Lao, Tibetan, Burmese, Khmer: their characters are taken as words.
fn is_written_without_spaces(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}
