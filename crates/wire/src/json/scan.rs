//! Where strings and numbers end: the inner loops of reading.

/// Where the string ends whose content starts at `at` (the place of its closing quote), and whether it holds escapes.
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escaped = false;
    loop {
        at += plain_length(bytes.get(at..)?);
        match *bytes.get(at)? {
            b'"' => return Some((at, escaped)),
            b'\\' => at += escape_length(&bytes[at..])?,
            _ => return None,
        }
        escaped = true;
    }
}

/// How many bytes come before the first quote, backslash or control character.
fn plain_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = special_bytes(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    at + bytes[at..].iter().take_while(|byte| !special(byte)).count()
}

/// Eight bytes at once: the lowest bit that is set belongs to the first quote, backslash or control character (higher
/// ones may be echoes of a borrow, so only the lowest counts).
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equals = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | equals(b'"') | equals(b'\\')) & (ONES << 7)
}

/// The length of a valid escape at the start of `bytes`.
fn escape_length(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => bytes.get(2..6)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
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
