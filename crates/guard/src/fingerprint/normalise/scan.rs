//! The one pass: from text to words.

use crate::fingerprint::digest::{Word, Words};
use crate::fingerprint::normalise::fold::fold;
use crate::fingerprint::normalise::generated::{generated_id, is_part_of_id};
use crate::fingerprint::normalise::marks::{self, ID_MASK, NUMBER_MASK, TIME_MASK};
use crate::fingerprint::normalise::word::{LANE, Plain, PlainPair, WordBuffer};

/// Hands the words of `pieces` to `words`; `MASKED` says whether numbers become `<NUM>`. Returns
/// whether any did.
pub(super) fn scan<'t, W: Words, const MASKED: bool>(pieces: impl IntoIterator<Item = &'t str>, words: &mut W) -> bool {
    let mut scan = Scan::<W, MASKED> {
        words,
        word: WordBuffer::default(),
        spaced: false,
        began: false,
        has_digits: false,
        has_masked: false,
    };
    for piece in pieces {
        scan.piece(piece);
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
    /// A digit stands in the word that is being read.
    has_digits: bool,
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

/// The end of the spaces at `at`; `at` itself if there are none.
fn skip_spaces(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| class(*byte) == Class::Space) {
        at += 1;
    }
    at
}

/// The end of the spaces at `at`; `None` if there are none.
fn past_spaces(text: &[u8], at: usize) -> Option<usize> {
    Some(skip_spaces(text, at)).filter(|end| *end > at)
}

impl<W: Words, const MASKED: bool> Scan<'_, W, MASKED> {
    /// Unicode is folded from the first word on that is not plain: plain words are ASCII.
    fn piece(&mut self, piece: &str) {
        let rest = piece.get(self.plain_words(piece.as_bytes(), 0)..).unwrap_or_default();
        if rest.is_ascii() {
            self.text(rest);
        } else {
            self.text(&fold(rest));
        }
    }

    fn text(&mut self, text: &str) {
        let mut at = 0;
        while at < text.len() {
            at = self.intricate_word(text, at);
            at = self.plain_words(text.as_bytes(), at);
        }
    }

    /// Takes words from `at` on while they consist of letters and marks, as most do: they need no
    /// look at single bytes. Returns where the first other word starts.
    fn plain_words(&mut self, text: &[u8], mut at: usize) -> usize {
        while at < text.len() {
            let word = Plain::at(text, at);
            let end = at + word.count;
            if word.is_short() && is_word_end(text, end) {
                self.take_plain(word.word(self.spaced));
                at = end + 1;
                continue;
            }
            let next = match word.count {
                0 => past_spaces(text, at),
                LANE => self.longer_plain_word(text, at, word),
                _ => None,
            };
            let Some(next) = next else { return at };
            at = next;
        }
        at
    }

    /// Takes a plain word that a space follows.
    #[inline]
    fn take_plain(&mut self, word: Word<'_>) {
        self.words.word(word);
        (self.spaced, self.began) = (true, true);
    }

    /// Takes the plain word that starts at `at` with a whole lane, and returns where the next one
    /// starts.
    // Not inlined, and neither is the code for other words: it would take registers from the common
    // path.
    #[inline(never)]
    fn longer_plain_word(&mut self, text: &[u8], at: usize, first: Plain) -> Option<usize> {
        let second = Plain::at(text, at + LANE);
        if second.count < LANE {
            let both = PlainPair::new(first, second);
            let end = at + both.length;
            if !is_word_end(text, end) {
                return None;
            }
            self.take_plain(both.word(self.spaced));
            return Some(end + 1);
        }
        let end = self.word.read_plain(text, at)?;
        let is_whole = is_word_end(text, end) && !self.word.may_hold_uuid();
        if is_whole {
            self.words.word(self.word.word(self.spaced, false));
            (self.spaced, self.began) = (true, true);
        }
        self.word.clear();
        is_whole.then_some(end + 1)
    }

    /// Takes any word, byte by byte where necessary, and the spaces behind it.
    #[inline(never)]
    fn intricate_word(&mut self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            at = match class(byte) {
                Class::Letter | Class::Digit if let Some(end) = generated_id(bytes, at) => {
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
                Class::Mark if is_part_of_id(bytes, at) => at + 1,
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
            bytes[at..end].iter().for_each(|byte| self.push_digit(*byte));
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

    fn push_digit(&mut self, byte: u8) {
        self.push(&[byte.to_ascii_lowercase()]);
        // Set after the push, which clears it when it hands on a long word.
        self.has_digits = true;
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
        self.words.word(self.word.word(self.spaced, self.has_digits));
        self.word.clear();
        self.has_digits = false;
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
