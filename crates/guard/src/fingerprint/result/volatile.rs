//! What is volatile in a result: clocks, durations, process ids, ports, temporary names. It differs
//! every time although nothing new is said.

use crate::fingerprint::normalise::{ID_MASK, TIME_MASK};

/// Words before a volatile number: the id, the count or the duration of a run.
pub(super) const KEYS: [&str; 31] = [
    "pid",
    "ppid",
    "pgid",
    "sid",
    "tty",
    "worker",
    "average",
    "load",
    "tid",
    "process",
    "thread",
    "port",
    "elapsed",
    "uptime",
    "took",
    "duration",
    "attempt",
    "retry",
    // The count of moves in a game, which rises with every try.
    "turn",
    "nonce",
    "timestamp",
    "ts",
    "epoch",
    "latency",
    "eta",
    "age",
    "duration_ms",
    "elapsed_ms",
    "latency_ms",
    "started_at",
    "goroutine",
];

/// Days and months as dates abbreviate them.
pub(super) const CALENDAR: [&str; 18] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct",
    "nov", "dec",
];

const TIME_UNITS: [&str; 24] = [
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "ms",
    "msec",
    "millisecond",
    "milliseconds",
    "us",
    "µs",
    "ns",
    "m",
    "min",
    "mins",
    "minute",
    "minutes",
    "h",
    "hr",
    "hrs",
    "hour",
    "hours",
    "am",
    "pm",
];

/// Whether a word is a unit of time, possibly with a mark behind it.
pub(super) fn is_time_unit(word: &[u8]) -> bool {
    let letters = word.iter().take_while(|byte| byte.is_ascii_lowercase() || !byte.is_ascii()).count();
    let is_alone = word[letters..].iter().all(|byte| matches!(byte, b',' | b'.' | b';' | b')' | b']' | b'}' | b'"'));
    is_alone && is_unit(&word[..letters])
}

pub(super) fn is_unit(letters: &[u8]) -> bool {
    TIME_UNITS.iter().any(|unit| unit.as_bytes() == letters)
}

const SIZE_UNITS: [&str; 12] =
    ["b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "bytes", "kilobytes", "megabytes", "gigabytes"];

/// Whether a word is a unit of size, whatever mark stands behind it.
pub(super) fn is_size_unit(word: &[u8]) -> bool {
    let letters = count(word, 0, u8::is_ascii_lowercase);
    let is_alone = word[letters..].iter().all(u8::is_ascii_punctuation);
    is_alone && SIZE_UNITS.iter().any(|unit| unit.as_bytes() == &word[..letters])
}

/// Whether a word holds a unit of size behind a number or at the end of a name: `48.3kb`,
/// `"memory_mb":512`.
pub(super) fn holds_size(word: &[u8]) -> bool {
    let mut at = 0;
    while let Some(start) = word[at..].iter().position(|byte| byte.is_ascii_digit() || *byte == b'_') {
        let unit = at + start + 1;
        at = unit + count(word, unit, u8::is_ascii_lowercase);
        if at > unit && SIZE_UNITS.iter().any(|known| known.as_bytes() == &word[unit..at]) {
            return true;
        }
    }
    false
}

/// Whether a number may be a time in seconds since 1970.
pub(super) fn is_epoch_seconds(value: f64) -> bool {
    (1.4e9..2.2e9).contains(&value)
}

/// Whether a word behind a number says that it is an amount: a unit, `of`, or the date behind a
/// size in a list of files.
pub(super) fn tells_amount(next: &[u8]) -> bool {
    let is_unit = [&b"bytes"[..], b"of", b"b", b"records", b"rows", b"items", b"/"].contains(&next);
    is_unit || is_time(next) || CALENDAR.iter().any(|name| name.as_bytes() == next)
}

/// Whether a word is a date, a clock or the mask of one.
pub(super) fn is_time(word: &[u8]) -> bool {
    word.starts_with(TIME_MASK.as_bytes()) || clock(word, 0).is_some() || date(word, 0).is_some()
}

/// A word without the bracket behind its last number, and whether there was one: `[4242]`,
/// `sshd[4242]:`.
pub(super) fn without_bracket(word: &[u8]) -> (&[u8], bool) {
    let Some(inside) = word.strip_suffix(b"]") else { return (word, false) };
    let number = inside.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_bracketed = number > 0 && inside[..inside.len() - number].ends_with(b"[");
    if is_bracketed { (inside, true) } else { (word, false) }
}

/// Words that stand before `id` in the names of ids.
const OWNERS: [&str; 16] = [
    "request",
    "host",
    "trace",
    "span",
    "correlation",
    "session",
    "transaction",
    "invocation",
    "message",
    "chunk",
    "call",
    "run",
    "event",
    "operation",
    "container",
    "connection",
];

/// Whether a word says that an id follows: `RequestId:`, `"trace_id":`, `run-id=`.
pub(super) fn names_id(word: &[u8]) -> bool {
    let Some(name) = word.strip_suffix(b":").or_else(|| word.strip_suffix(b"=")) else { return false };
    let name = name.strip_suffix(b"\"").unwrap_or(name);
    let Some(owner) = name.strip_suffix(b"id") else { return false };
    owner.ends_with(b"_") || owner.ends_with(b"-") || OWNERS.iter().any(|known| owner.ends_with(known.as_bytes()))
}

/// Whether a word in quotes is the name of a volatile number: `"took_ms":`, `{"pid":`.
pub(super) fn names_volatile(word: &[u8]) -> bool {
    let Some(name) = word.strip_suffix(b"\":") else { return false };
    let start = name.iter().rposition(|byte| *byte == b'"').map_or(name.len(), |quote| quote + 1);
    let name = &name[start..];
    let unit = name.iter().rposition(|byte| *byte == b'_').filter(|at| is_unit(&name[at + 1..]));
    let is_key = |name: &[u8]| KEYS.iter().any(|key| key.as_bytes() == name);
    is_key(name) || unit.is_some_and(|at| is_key(&name[..at]))
}

/// A word of so many letters is an id where one is expected.
const LONG_ID: usize = 12;

/// Whether a word may be an id where one is expected: it has digits, is masked as one, is long, or
/// has the letters of hexadecimal digits only.
pub(super) fn may_be_id(word: &[u8], has_digits: bool) -> bool {
    let is_long = || word.iter().take_while(|byte| byte.is_ascii_lowercase()).count() >= LONG_ID;
    let is_hex = || word.len() >= 6 && word.iter().all(|byte| matches!(byte, b'a'..=b'f'));
    has_digits || word.starts_with(ID_MASK.as_bytes()) || is_hex() || is_long()
}

/// A word without the name that follows the directory of temporary files.
pub(super) fn without_temporary_name(word: &[u8]) -> &[u8] {
    let directory = b"/tmp/";
    match word.windows(directory.len()).position(|window| window == directory) {
        Some(place) => &word[..place + directory.len()],
        None => word,
    }
}

pub(super) fn count(word: &[u8], at: usize, is: impl Fn(&u8) -> bool) -> usize {
    word.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| is(byte)).count())
}

pub(super) fn digits(word: &[u8], at: usize) -> usize {
    count(word, at, u8::is_ascii_digit)
}

/// `14:03`, `14:03:22`, `14:03:22.123`; not the line and column of `main.rs:12:45`.
pub(super) fn clock(word: &[u8], at: usize) -> Option<usize> {
    let is_part = at.checked_sub(1).is_some_and(|before| matches!(word[before], b':' | b'.' | b'-'));
    let (hours, minutes) = (digits(word, at), at + digits(word, at) + 1);
    if is_part || !(1..=2).contains(&hours) || word.get(minutes - 1) != Some(&b':') || digits(word, minutes) != 2 {
        return None;
    }
    let seconds = minutes + 3;
    let has_seconds = word.get(seconds - 1) == Some(&b':') && digits(word, seconds) == 2;
    let end = if has_seconds { seconds + 2 } else { minutes + 2 };
    match word.get(end) {
        Some(b'.' | b',') if has_seconds && digits(word, end + 1) > 0 => Some(end + 1 + digits(word, end + 1)),
        Some(b':') => None,
        _ => Some(end),
    }
}

/// `11/17/2026`, `17/nov/2026:23:55:32`.
pub(super) fn date(word: &[u8], at: usize) -> Option<usize> {
    let middle = at + digits(word, at) + 1;
    if digits(word, at) > 4 || word.get(middle - 1) != Some(&b'/') {
        return None;
    }
    let last = middle + count(word, middle, u8::is_ascii_alphanumeric) + 1;
    let is_date = last - middle <= 4 && word.get(last - 1) == Some(&b'/') && matches!(digits(word, last), 2 | 4);
    let end = last + digits(word, last);
    is_date.then(|| end + count(word, end, |byte| byte.is_ascii_digit() || *byte == b':'))
}
