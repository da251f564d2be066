//! Where strings and numbers end: the inner loops of reading.

use crate::eight_bytes::{below, equal, position};

/// Where the string ends whose content starts at `at` (the place of its closing quote), and whether it holds escapes.
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escaped = false;
    loop {
        at += position(bytes.get(at..)?, special)?;
        // Each length in an arm of its own: the processor guesses the arm and goes on, it would have to wait for a sum.
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b'"', _) => return Some((at, escaped)),
            (b'\\', Some(b'n' | b'"' | b'\\' | b'/' | b'b' | b'f' | b'r' | b't')) => at += 2,
            (b'\\', Some(b'u')) if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => at += 6,
            _ => return None,
        }
        escaped = true;
    }
}

/// Quotes, backslashes and control characters.
fn special(word: u64) -> u64 {
    // With this bit flipped the quote (0x22) comes right after the control characters, and what stood there goes behind.
    below(word ^ u64::from_le_bytes([0x02; 8]), 0x21) | equal(word, b'\\')
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
