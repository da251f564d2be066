//! The one pass: from text to words.

use crate::normalise::fold::fold;
use crate::normalise::marks::{self, ID_MASK, NUMBER_MASK, TIME_MASK};
use crate::normalise::word::{LANE, WordBuffer};
use crate::words::Words;

/// Hands the words of `pieces` to `words`; `MASKED` says whether numbers become `<NUM>`.
pub(super) fn scan<'t, W: Words, const MASKED: bool>(pieces: impl IntoIterator<Item = &'t str>, words: &mut W) {
    let mut scan = Scan::<W, MASKED> { words, word: WordBuffer::default(), spaced: false, began: false };
    for piece in pieces {
        if piece.is_ascii() {
            scan.text(piece);
        } else {
            scan.text(&fold(piece));
        }
        scan.space();
    }
}

struct Scan<'w, W, const MASKED: bool> {
    words: &'w mut W,
    word: WordBuffer,
    /// A space stands before the word that is being read.
    spaced: bool,
    /// A word has been handed on: spaces before the first one are trimmed.
    began: bool,
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

impl<W: Words, const MASKED: bool> Scan<'_, W, MASKED> {
    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
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
                    at + bytes[at..].iter().take_while(|byte| class(**byte) == Class::Space).count()
                }
                Class::Mark if MASKED && marks::is_sign(bytes, at) => at + 1,
                Class::Mark => {
                    self.push(&[byte]);
                    at + 1
                }
                Class::NotAscii => self.character(text, at),
            };
        }
    }

    fn letters(&mut self, bytes: &[u8], mut at: usize) -> usize {
        loop {
            self.make_room(LANE);
            let count = self.word.push_letters(bytes, at);
            at += count;
            if count == LANE {
                continue;
            }
            // A space is what follows most words: no need to find that out again.
            if bytes.get(at) != Some(&b' ') {
                return at;
            }
            self.space();
            return at + 1;
        }
    }

    fn digits(&mut self, bytes: &[u8], at: usize) -> usize {
        if let Some(end) = marks::timestamp(bytes, at) {
            self.push(TIME_MASK.as_bytes());
            return end;
        }
        let end = marks::number(bytes, at);
        if MASKED {
            self.push(NUMBER_MASK.as_bytes());
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
        self.push(NUMBER_MASK.as_bytes());
        let rest = text.get(at..).unwrap_or_default();
        let is_digit = |character: &char| !character.is_ascii() && character.is_numeric();
        at + rest.chars().take_while(is_digit).map(char::len_utf8).sum::<usize>()
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
