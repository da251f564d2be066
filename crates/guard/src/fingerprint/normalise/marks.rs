//! Recognises UUIDs, ISO-8601 times and numbers at a position of a text. Each function looks ahead
//! by a bounded number of bytes or consumes them, which keeps the whole pass linear.

/// Stands for a UUID.
pub const ID_MASK: &str = "<ID>";
/// Stands for a date or a timestamp.
pub const TIME_MASK: &str = "<TS>";
/// Stands for a number.
pub const NUMBER_MASK: &str = "<NUM>";

pub(super) const UUID_LENGTH: usize = 36;

/// The end of the UUID that starts at `at`; no letter or digit stands before or behind it.
pub(super) fn uuid(text: &[u8], at: usize) -> Option<usize> {
    // Two bytes rule out nearly every word.
    if text.get(at + 8) != Some(&b'-') || text.get(at + 13) != Some(&b'-') {
        return None;
    }
    let candidate = text.get(at..at + UUID_LENGTH)?;
    let fits = candidate.iter().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let stands_free = [before, text.get(at + UUID_LENGTH)].iter().flatten().all(|byte| !byte.is_ascii_alphanumeric());
    (fits && stands_free).then_some(at + UUID_LENGTH)
}

/// The end of the date or timestamp that starts at `at`, where a run of digits begins.
pub(super) fn timestamp(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at + 4) == Some(&b'-') {
        return extended_date(text, at).map(|date| extended_time(text, date).unwrap_or(date));
    }
    basic(text, at)
}

/// `2024-01-15`.
fn extended_date(text: &[u8], at: usize) -> Option<usize> {
    number_of(text, at, 4)?;
    is(text, at + 4, b'-')?;
    within(text, at + 5, 1..=12)?;
    is(text, at + 7, b'-')?;
    within(text, at + 8, 1..=31)?;
    not_digit(text, at + 10)
}

/// `T10:30`, ` 10:30:00`, `T10:30:00.123+01:00`, after a date that ends at `at`.
fn extended_time(text: &[u8], at: usize) -> Option<usize> {
    if !matches!(text.get(at)?, b'T' | b't' | b' ') {
        return None;
    }
    within(text, at + 1, 0..=24)?;
    is(text, at + 3, b':')?;
    within(text, at + 4, 0..=59)?;
    let minutes = at + 6;
    let seconds = is(text, minutes, b':').and_then(|place| within(text, place, 0..=60));
    let end = seconds.map_or(minutes, |end| fraction(text, end));
    not_digit(text, zone(text, end))
}

/// `20240115T103000Z`: the form without separators. A date alone in this form is a number like any
/// other.
fn basic(text: &[u8], at: usize) -> Option<usize> {
    if !matches!(text.get(at + 8)?, b'T' | b't') {
        return None;
    }
    number_of(text, at, 4)?;
    within(text, at + 4, 1..=12)?;
    within(text, at + 6, 1..=31)?;
    within(text, at + 9, 0..=24)?;
    let minutes = within(text, at + 11, 0..=59)?;
    let end = within(text, minutes, 0..=60).map_or(minutes, |end| fraction(text, end));
    not_digit(text, zone(text, end))
}

/// Skips `.123` or `,123` if one of them comes.
fn fraction(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'.' | b',') if is_digit(text, at + 1) => digits(text, at + 1),
        _ => at,
    }
}

/// Skips `Z`, `+01`, `+0100` or `+01:00` if one of them comes.
fn zone(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'Z' | b'z') => at + 1,
        Some(b'+' | b'-') => offset(text, at + 1).unwrap_or(at),
        _ => at,
    }
}

fn offset(text: &[u8], at: usize) -> Option<usize> {
    let hours = within(text, at, 0..=23)?;
    let minutes = within(text, hours, 0..=59);
    let apart = is(text, hours, b':').and_then(|place| within(text, place, 0..=59));
    Some(minutes.or(apart).unwrap_or(hours))
}

/// The end of the number that starts at `at`, where a digit stands: `12`, `3.14`, `1,000`,
/// `10.0.0.7`, `0x1f`, `1e-5`.
pub(super) fn number(text: &[u8], at: usize) -> usize {
    if let Some(end) = hexadecimal(text, at) {
        return end;
    }
    let mut end = digits(text, at);
    while matches!(text.get(end), Some(b'.' | b',')) && is_digit(text, end + 1) {
        end = digits(text, end + 1);
    }
    exponent(text, end).unwrap_or(end)
}

fn hexadecimal(text: &[u8], at: usize) -> Option<usize> {
    is(text, at, b'0')?;
    if !matches!(text.get(at + 1)?, b'x' | b'X') {
        return None;
    }
    let length = text.get(at + 2..)?.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    (length > 0).then_some(at + 2 + length)
}

fn exponent(text: &[u8], at: usize) -> Option<usize> {
    if !matches!(text.get(at)?, b'e' | b'E') {
        return None;
    }
    let signed = matches!(text.get(at + 1)?, b'+' | b'-');
    let start = at + 1 + usize::from(signed);
    let end = digits(text, start);
    // `550e84ab` is an id, not a number: its letters stay.
    let ends = !text.get(end).is_some_and(u8::is_ascii_alphabetic);
    (end > start && ends).then_some(end)
}

/// Whether the sign at `at` belongs to the number after it: no number or name stands before it from
/// which it could be subtracted.
pub(super) fn is_sign(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let stands_free = !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    stands_free && matches!(text.get(at), Some(b'-' | b'+')) && is_digit(text, at + 1)
}

fn is_digit(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_digit)
}

fn not_digit(text: &[u8], at: usize) -> Option<usize> {
    (!is_digit(text, at)).then_some(at)
}

fn is(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    (text.get(at) == Some(&byte)).then_some(at + 1)
}

/// Past the digits that start at `at`.
fn digits(text: &[u8], at: usize) -> usize {
    at + text.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// The value of exactly `length` digits at `at`.
fn number_of(text: &[u8], at: usize, length: usize) -> Option<u32> {
    text.get(at..at + length)?.iter().try_fold(0, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        Some(value * 10 + digit)
    })
}

/// Past two digits at `at` whose value is in `range`.
fn within(text: &[u8], at: usize, range: std::ops::RangeInclusive<u32>) -> Option<usize> {
    number_of(text, at, 2).filter(|value| range.contains(value)).map(|_| at + 2)
}
