//! Where strings and numbers end: the inner loops of reading.

use memchr::memchr_iter;

use crate::eight_bytes::{equal, position};

/// Where a string ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StringEnd {
    /// The place of its closing quote.
    pub(super) at: usize,
    /// Whether it is known to have no escapes.
    pub(super) is_plain: bool,
}

/// Where the string ends whose content starts at `start`.
///
/// What stands behind a backslash is not looked at, and control characters are let be. Most of a body is long strings with
/// an escape in every line, of which nearly all are passed over; whoever reads one takes an escape that there is not for the
/// character itself.
pub(super) fn string_end(bytes: &[u8], start: usize) -> Option<StringEnd> {
    let content = bytes.get(start..)?;
    match position(&content[..content.len().min(SHORT)], special) {
        Some(end) if content[end] == b'"' => Some(StringEnd { at: start + end, is_plain: true }),
        _ => long_string_end(content).map(|end| StringEnd { at: start + end, is_plain: false }),
    }
}

/// Keys and most values are shorter, and found before a wider search has begun.
const SHORT: usize = 32;

/// A wide search for the quote.
fn long_string_end(content: &[u8]) -> Option<usize> {
    let is_escaped = |quote: usize| content[..quote].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    memchr_iter(b'"', content).find(|quote| !is_escaped(*quote))
}

/// Quotes and backslashes.
fn special(word: u64) -> u64 {
    equal(word, b'"') | equal(word, b'\\')
}

/// Where the number ends that starts at `at`.
pub(super) fn number_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let digits = |from: usize| bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at += match bytes.get(at)? {
        b'0' => 1,
        b'1'..=b'9' => digits(at),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        at += 1 + (fraction > 0).then_some(fraction)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += if matches!(bytes.get(at + 1), Some(b'+' | b'-')) { 2 } else { 1 };
        let exponent = digits(at);
        at += (exponent > 0).then_some(exponent)?;
    }
    Some(at)
}
