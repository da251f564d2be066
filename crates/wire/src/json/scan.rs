//! Finds the ends of strings and numbers: the inner loops of the cursor.

use memchr::memchr;

use super::swar::{equal, match_index, no_digit, word_at};

/// Keys and most values are shorter; a wide search would not pay off for them.
const SHORT: usize = 32;

/// Two escaped quotes inside a string usually surround a word, so the second is nearer than this.
const WORD: usize = 16;

/// The position of the closing quote of a string whose content starts at `start`.
///
/// Escapes and control characters are not validated. Most of a body is long strings with an escape
/// in every line, and nearly all of them are skipped. A reader takes an invalid escape for the
/// character itself.
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = next_quote(bytes, start, SHORT)?;
    if is_escaped(bytes, quote) { long_string_end(bytes, quote + 1) } else { Some(quote) }
}

/// The position of the closing quote, searched from a position inside the string.
#[inline(never)]
fn long_string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut quote = next_quote(bytes, from, WORD)?;
    while is_escaped(bytes, quote) {
        quote = next_quote(bytes, quote + 1, WORD)?;
    }
    Some(quote)
}

/// The position of the next quote. Checks `near` bytes word by word before it starts a wide search.
#[inline(always)]
fn next_quote(bytes: &[u8], from: usize, near: usize) -> Option<usize> {
    let (words, _) = bytes.get(from..)?.as_chunks();
    let mut at = from;
    for word in words.iter().take(near / 8) {
        let found = equal(u64::from_le_bytes(*word), b'"');
        if found != 0 {
            return Some(at + match_index(found));
        }
        at += 8;
    }
    memchr(b'"', bytes.get(at..)?).map(|quote| at + quote)
}

/// Whether an odd number of backslashes precedes this position. The string's opening quote ends
/// them.
#[inline(always)]
fn is_escaped(bytes: &[u8], mut at: usize) -> bool {
    let mut is_escaped = false;
    while at > 0 && bytes.get(at - 1) == Some(&b'\\') {
        is_escaped = !is_escaped;
        at -= 1;
    }
    is_escaped
}

/// Where a key ends.
pub(super) struct KeyEnd {
    /// The position of the closing quote.
    pub(super) at: usize,
    /// Whether the key is known to have no escapes.
    pub(super) is_plain: bool,
}

/// Finds the end of a key, and whether the key can be read without unescaping.
#[inline(always)]
pub(super) fn key_end(bytes: &[u8], start: usize) -> Option<KeyEnd> {
    let (words, _) = bytes.get(start..)?.as_chunks();
    let mut at = start;
    for word in words.iter().take(SHORT / 8).map(|word| u64::from_le_bytes(*word)) {
        let (quote, backslash) = (equal(word, b'"'), equal(word, b'\\'));
        if quote | backslash == 0 {
            at += 8;
        } else if match_index(quote) < match_index(backslash) {
            return Some(KeyEnd { at: at + match_index(quote), is_plain: true });
        } else {
            break;
        }
    }
    long_string_end(bytes, at).map(|at| KeyEnd { at, is_plain: false })
}

/// The end of the white space at `at`.
#[inline(never)]
pub(super) fn space_end(bytes: &[u8], at: usize) -> usize {
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    at + bytes.get(at..).unwrap_or_default().iter().take_while(is_space).count()
}

/// The end of the literal or number at `at`.
pub(super) fn scalar_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b't' => literal_end(bytes, at, b"true"),
        b'f' => literal_end(bytes, at, b"false"),
        b'n' => literal_end(bytes, at, b"null"),
        // Not JSON, but written by Python and JavaScript libraries and accepted by lenient servers.
        b'N' => literal_end(bytes, at, b"NaN"),
        b'I' => literal_end(bytes, at, b"Infinity"),
        b'-' if bytes.get(at + 1) == Some(&b'I') => literal_end(bytes, at, b"-Infinity"),
        _ => number_end(bytes, at),
    }
}

#[inline(always)]
fn literal_end<const LENGTH: usize>(bytes: &[u8], at: usize, literal: &[u8; LENGTH]) -> Option<usize> {
    (bytes.get(at..)?.first_chunk() == Some(literal)).then_some(at + LENGTH)
}

/// The end of the number at `at`.
fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let start = if bytes.get(at) == Some(&b'-') { at + 1 } else { at };
    let mut end = digits_end(bytes, start)?;
    if bytes.get(start) == Some(&b'0') && end > start + 1 {
        return None;
    }
    if bytes.get(end) == Some(&b'.') {
        end = digits_end(bytes, end + 1)?;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let is_signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = digits_end(bytes, end + 1 + usize::from(is_signed))?;
    }
    Some(end)
}

/// The end of the digits at `start`. `None` if there are none.
#[inline(always)]
fn digits_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    loop {
        match no_digit(word_at(bytes, end)?) {
            0 => end += 8,
            found => break end += match_index(found),
        }
    }
    (end > start).then_some(end)
}
