//! Splits a word with digits into tokens and decides which of its numbers are volatile.

use super::volatile::{KEYS, clock, count, date, digits, is_unit};
use crate::fingerprint::digest::fold;

/// A number with so many digits is an id.
const LONGEST_NUMBER: usize = 15;

/// One part of a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token {
    /// Letters or marks, by their hash.
    Text(u64),
    /// Something that differs every time.
    Volatile,
    /// A number, by its hash, and its value.
    Number(u64, f64),
}

/// The parts of a word in lower case. `is_keyed`: the previous word says that the first number is
/// volatile.
pub(super) fn tokens(word: &[u8], is_keyed: bool) -> impl Iterator<Item = Token> {
    Tokens { word, at: 0, is_keyed }
}

struct Tokens<'w> {
    word: &'w [u8],
    at: usize,
    is_keyed: bool,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let byte = *self.word.get(self.at)?;
        Some(match byte {
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' => self.letters(),
            _ => {
                self.at += 1;
                Token::Text(u64::from(byte))
            }
        })
    }
}

impl Tokens<'_> {
    fn letters(&mut self) -> Token {
        let start = self.at;
        self.at += count(self.word, start, u8::is_ascii_lowercase);
        let run = start + count(self.word, start, |byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        // Python and the shell name temporary files `tmp` and eight letters or digits.
        if self.word[start..].starts_with(b"tmp") && run - start >= 9 {
            self.at = run;
            return Token::Volatile;
        }
        let letters = &self.word[start..self.at];
        let is_unit_of_key = self.is_keyed && start > 0 && self.word[start - 1] == b'_' && is_unit(letters);
        self.is_keyed = is_unit_of_key || KEYS.iter().any(|key| key.as_bytes() == letters);
        Token::Text(hash(letters))
    }

    fn number(&mut self) -> Token {
        let start = self.at;
        if let Some(end) = name_end(self.word, start) {
            self.at = end;
            return Token::Text(hash(&self.word[start..end]));
        }
        if let Some(end) = clock(self.word, start).or_else(|| date(self.word, start)).or_else(|| ipv4(self.word, start))
        {
            self.at = end;
            return Token::Volatile;
        }
        if let Some(end) = hexadecimal(self.word, start) {
            self.at = end;
            return Token::Volatile;
        }
        let end = decimal(self.word, start);
        self.at = end;
        // The number of a process behind its name, as system logs have it: `sshd[4242]:`.
        let is_process = self.word[end..] == *b"]:" && start >= 2 && self.word[start - 1] == b'[';
        if is_process && self.word[start - 2].is_ascii_lowercase() {
            return Token::Volatile;
        }
        // The port behind an address in brackets: `[::1]:4242`.
        if self.word[..start].ends_with(b"]:") {
            return Token::Volatile;
        }
        let unit = count(self.word, end, u8::is_ascii_lowercase);
        let is_duration = unit > 0 && is_unit(&self.word[end..end + unit]);
        let is_id = end - start >= LONGEST_NUMBER;
        let is_last = end == self.word.len();
        // A time in seconds that ends the word may be an amount: the next word decides.
        let is_epoch = is_epoch(&self.word[start..end]) && !(is_last && end - start == 10);
        if is_duration || is_id || is_epoch || std::mem::take(&mut self.is_keyed) {
            return Token::Volatile;
        }
        let digits = &self.word[start..end];
        Token::Number(hash(digits), value(digits))
    }
}

/// The end of a number that is part of a name: `p95_ms` and `sha256_of` are not figures.
fn name_end(word: &[u8], at: usize) -> Option<usize> {
    let end = at + digits(word, at);
    let is_inside = at > 0 && word[at - 1].is_ascii_lowercase();
    (is_inside && word.get(end) == Some(&b'_') && word.get(end + 1).is_some_and(u8::is_ascii_lowercase)).then_some(end)
}

/// `10.0.0.7`, with or without a port.
fn ipv4(word: &[u8], at: usize) -> Option<usize> {
    let end = at + count(word, at, |byte| byte.is_ascii_digit() || *byte == b'.');
    let groups = word[at..end].split(|byte| *byte == b'.');
    let is_address = groups.clone().count() == 4 && groups.into_iter().all(|group| (1..=3).contains(&group.len()));
    let port = if word.get(end) == Some(&b':') { digits(word, end + 1) } else { 0 };
    is_address.then_some(if port > 0 { end + 1 + port } else { end })
}

/// `0x7f3a12bc8d10`: an address in memory.
fn hexadecimal(word: &[u8], at: usize) -> Option<usize> {
    let length = count(word, at + 2, u8::is_ascii_hexdigit);
    // The distance from the start of a function, or a register: `+0x6c`, `addr=0x30`.
    let is_place = [&b"+"[..], b"addr=", b"pc=", b"sp=", b"ip="].iter().any(|before| word[..at].ends_with(before));
    (word[at..].starts_with(b"0x") && (length >= 5 || (is_place && length > 0))).then_some(at + 2 + length)
}

/// A number has fewer groups of digits: `[256,128,4,0,2,8]` is a list.
const MOST_GROUPS: usize = 6;

/// Past `12`, `3.14`, `1,024`, and past the first number of a list.
fn decimal(word: &[u8], at: usize) -> usize {
    let first = at + digits(word, at);
    let (mut end, mut groups, mut is_grouped) = (first, 1, true);
    while groups < MOST_GROUPS && matches!(word.get(end), Some(b'.' | b',')) && digits(word, end + 1) > 0 {
        let length = digits(word, end + 1);
        if word[end] == b',' {
            groups += 1;
            is_grouped &= length == 3;
        }
        end += 1 + length;
    }
    let is_list = groups == MOST_GROUPS || (groups > 2 && !is_grouped);
    if is_list { first } else { end }
}

/// Whether a number is a time since 1970, from 2014 to 2040: in seconds, milliseconds, microseconds
/// or nanoseconds.
fn is_epoch(number: &[u8]) -> bool {
    let whole = count(number, 0, u8::is_ascii_digit);
    let is_usual = matches!(whole, 10 | 13 | 16 | 19);
    is_usual && matches!(&number[..2], b"14" | b"15" | b"16" | b"17" | b"18" | b"19" | b"20" | b"21")
}

fn value(digits: &[u8]) -> f64 {
    let text: String = digits.iter().filter(|byte| **byte != b',').map(|byte| char::from(*byte)).collect();
    // Versions have more than one point: their first two parts are enough.
    let end = text.match_indices('.').nth(1).map_or(text.len(), |(place, _)| place);
    text[..end].parse().unwrap_or_default()
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(bytes.len() as u64, |hash, byte| fold(hash, u64::from(*byte)))
}
