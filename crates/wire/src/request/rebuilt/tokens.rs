//! The words of a text, and which of them change although the text says the same.

use std::ops::Range;

/// A word of a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token {
    Word {
        hash: u64,
        /// Whether the state of an element follows: `value`, `checked`.
        is_state: bool,
        /// Whether it marks an advertisement.
        sells: bool,
    },
    Number {
        hash: u64,
        value: f64,
    },
    /// The number of an element of the page.
    Element {
        hash: u64,
    },
    /// An id, a time, the number of a step.
    Volatile,
    /// The number in the name of a part of the prompt: `[[ ## thought_3 ## ]]`.
    Name,
}

/// No number of an element is longer.
const LONGEST_ELEMENT: usize = 6;

impl Token {
    /// The hash of a word that means something.
    pub(super) fn hash(self) -> Option<u64> {
        match self {
            Token::Word { hash, .. } | Token::Number { hash, .. } | Token::Element { hash } => Some(hash),
            Token::Volatile | Token::Name => None,
        }
    }
}

/// A number of so many digits is an id or a time.
const LONG_NUMBER: usize = 10;

pub(super) const MASKED: u64 = 0x6d61_736b;

/// Words before the number of an element: `id="12"`, `"index": 12`.
const ELEMENT: [&str; 6] = ["id", "bid", "index", "ref", "uid", "element"];
/// Words before the number of a step.
const STEP: [&str; 22] = [
    "step",
    "turn",
    "iteration",
    "attempt",
    "round",
    "command",
    "action",
    "entry",
    "steps",
    "turns",
    "iterations",
    "attempts",
    "rounds",
    "commands",
    "actions",
    "schritt",
    "paso",
    "passo",
    "étape",
    "krok",
    "шаг",
    "步骤",
];
/// Words between them: `<step n="3">`, `steps_left: 40`.
const OF_STEPS: [&str; 6] = ["n", "left", "remaining", "used", "taken", "number"];
/// Words before the state of an element.
const STATE: [&str; 8] = ["value", "state", "checked", "selected", "focused", "expanded", "disabled", "pressed"];
/// Words that mark advertisements before a colon.
const SELLS: [&str; 6] = ["ad", "ads", "advertisement", "sponsored", "promoted", "anzeige"];
/// Units of durations that pass.
const UNITS: [&str; 10] = ["ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes"];

pub(super) fn tokens(text: &str, mut visit: impl FnMut(Token)) {
    spans(text, |_, token| visit(token));
}

/// Visits the words of a text and where they stand.
pub(super) fn spans(text: &str, mut visit: impl FnMut(Range<usize>, Token)) {
    let bytes = text.as_bytes();
    let (mut at, mut before) = (0, 0..0);
    let mut names_step = false;
    while at < bytes.len() {
        if !is_part(bytes[at]) {
            // `\\n` in a text that is written as JSON is no letter.
            let is_escape = bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't'));
            at += if is_escape { 2 } else { 1 };
            continue;
        }
        let start = at;
        let mut digits = 0;
        while at < bytes.len() && is_part(bytes[at]) {
            digits += usize::from(bytes[at].is_ascii_digit());
            at += 1;
        }
        if digits == at - start {
            at = end_of_number(bytes, at);
        }
        let previous = &text[before.clone()];
        let follows = Before { word: previous, end: before.end, names_step };
        visit(start..at, token(text, start..at, digits, &follows));
        names_step = is_in(previous, &STEP);
        before = start..at;
    }
}

/// The word before another one.
struct Before<'t> {
    word: &'t str,
    end: usize,
    /// Whether the word before it names a step: `<step n="3">`.
    names_step: bool,
}

fn token(text: &str, place: Range<usize>, digits: usize, before: &Before<'_>) -> Token {
    let word = &text[place.clone()];
    if digits == 0 {
        let sells = is_in(word, &SELLS) && text.as_bytes().get(place.end) == Some(&b':');
        return Token::Word { hash: hash(word), is_state: is_in(word, &STATE), sells };
    }
    if is_element(text.as_bytes(), &place, before) {
        return Token::Element { hash: hash(word) };
    }
    let is_number = word.starts_with(|first: char| first.is_ascii_digit()) && !word.contains(char::is_alphabetic);
    if !is_number {
        return if is_id(word) {
            Token::Volatile
        } else {
            Token::Word { hash: hash(word), is_state: false, sells: false }
        };
    }
    let is_step = is_in(before.word, &STEP) || (before.names_step && is_in(before.word, &OF_STEPS));
    if is_part_of_name(text.as_bytes(), place.start, before) {
        return Token::Name;
    }
    if is_step || digits >= LONG_NUMBER || is_time(word) || is_passing(text, place.end) {
        return Token::Volatile;
    }
    Token::Number { hash: hash(word), value: word.replace(',', "").parse().unwrap_or(0.0) }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// The end of a number with separators: `1,200`, `9:01:13`, `2026-09-14` is three numbers.
fn end_of_number(bytes: &[u8], mut at: usize) -> usize {
    while let [b'.' | b',' | b':', digit, ..] = bytes[at..]
        && digit.is_ascii_digit()
    {
        at += 1;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
    }
    at
}

/// Whether a word is the number of an element: `[12]`, `id="a51"`, `"index": 12`.
fn is_element(bytes: &[u8], place: &Range<usize>, before: &Before<'_>) -> bool {
    if place.len() > LONGEST_ELEMENT {
        return false;
    }
    let is_bracketed = place.start > 0 && bytes[place.start - 1] == b'[' && bytes.get(place.end) == Some(&b']');
    // `(12) link`, `12: link`, and an element that a text speaks of.
    let begins_line = || {
        let indent = bytes[..place.start].iter().rev().take(9).take_while(|byte| **byte != b'\n');
        let ends = matches!(bytes.get(place.end), Some(b')' | b':' | b'.')) && bytes.get(place.end + 1) == Some(&b' ');
        ends && indent.clone().count() <= 8 && indent.clone().all(|byte| b" \t*-(".contains(byte))
    };
    let between = &bytes[before.end..place.start];
    let is_named = || {
        is_in(before.word, &ELEMENT)
            && between.len() <= 5
            && (between == b" " && before.word.eq_ignore_ascii_case("element")
                || between.iter().any(|byte| matches!(byte, b'=' | b'"')))
            && between.iter().all(|byte| b"=\"': \\>".contains(byte))
    };
    is_bracketed || is_named() || begins_line()
}

/// Whether a number belongs to the name of a part of the prompt: `[[ ## thought_3 ## ]]`,
/// `<step_3>`.
fn is_part_of_name(bytes: &[u8], start: usize, before: &Before<'_>) -> bool {
    let name = bytes[..start].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let opens = bytes[..start - name].iter().rev().find(|byte| **byte != b' ');
    !before.word.is_empty() && &bytes[before.end..start] == b"_" && matches!(opens, Some(b'<' | b'/' | b'#' | b'['))
}

/// Whether a word is an id that was generated.
fn is_id(word: &str) -> bool {
    let is_hex = || word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let changes =
        || word.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    word.len() >= 8 && word.is_ascii() && (is_hex() || changes() >= 2)
}

/// `9:01`, `09:01:13`.
fn is_time(word: &str) -> bool {
    let mut parts = word.split(':');
    let hour = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    !rest.is_empty() && hour.len() <= 2 && rest.iter().all(|part| part.len() >= 2)
}

/// Whether a unit of time follows.
fn is_passing(text: &str, at: usize) -> bool {
    let rest = text[at..].trim_start_matches(' ');
    let end = rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
    is_in(&rest[..end], &UNITS)
}

fn is_in(word: &str, list: &[&str]) -> bool {
    list.iter().any(|listed| listed.eq_ignore_ascii_case(word))
}

/// FNV-1a: words are short.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

pub(super) fn fold(hash: u64, next: u64) -> u64 {
    (hash.rotate_left(5) ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
