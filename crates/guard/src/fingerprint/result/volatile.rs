//! Takes a word with digits apart and says which of its numbers are volatile: clocks, durations,
//! process ids, ports, addresses, temporary names. They differ every time although nothing new is
//! said.

use crate::normalise::{ID_MASK, TIME_MASK};
use crate::words::fold;

/// Words whose number is volatile: what a run was called, counted or took.
pub(super) const KEYS: [&str; 30] = [
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

/// The parts of a word in lower case. `is_keyed`: the word before says that the first number is
/// volatile.
pub(super) fn tokens(word: &[u8], is_keyed: bool) -> impl Iterator<Item = Token> {
    Tokens { word, at: 0, is_keyed }
}

/// Whether a word is a unit of time, whatever mark stands behind it.
pub(super) fn is_time_unit(word: &[u8]) -> bool {
    let letters = word.iter().take_while(|byte| byte.is_ascii_lowercase() || !byte.is_ascii()).count();
    let is_alone = word[letters..].iter().all(|byte| matches!(byte, b',' | b'.' | b';' | b')' | b']' | b'}' | b'"'));
    is_alone && is_unit(&word[..letters])
}

fn is_unit(letters: &[u8]) -> bool {
    TIME_UNITS.iter().any(|unit| unit.as_bytes() == letters)
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

/// What ids are made for: a name that ends with `id` has one of these before it.
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

/// Whether a word may be an id where one is expected: it has digits, is masked as one, or has the
/// letters of hexadecimal digits only.
pub(super) fn may_be_id(word: &[u8], has_digits: bool) -> bool {
    let is_hex = || word.len() >= 6 && word.iter().all(|byte| matches!(byte, b'a'..=b'f'));
    has_digits || word.starts_with(ID_MASK.as_bytes()) || is_hex()
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
        let unit = count(self.word, end, u8::is_ascii_lowercase);
        let is_duration = unit > 0 && is_unit(&self.word[end..end + unit]);
        let is_id = end - start >= LONGEST_NUMBER;
        let is_last = end == self.word.len();
        // A time in seconds that ends the word may be an amount: the next word tells.
        let is_epoch = is_epoch(&self.word[start..end]) && !(is_last && end - start == 10);
        if is_duration || is_id || is_epoch || std::mem::take(&mut self.is_keyed) {
            return Token::Volatile;
        }
        let digits = &self.word[start..end];
        Token::Number(hash(digits), value(digits))
    }
}

/// A word without what it names in the directory of temporary files.
pub(super) fn without_temporary_name(word: &[u8]) -> &[u8] {
    let directory = b"/tmp/";
    match word.windows(directory.len()).position(|window| window == directory) {
        Some(place) => &word[..place + directory.len()],
        None => word,
    }
}

fn count(word: &[u8], at: usize, is: impl Fn(&u8) -> bool) -> usize {
    word.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| is(byte)).count())
}

fn digits(word: &[u8], at: usize) -> usize {
    count(word, at, u8::is_ascii_digit)
}

/// `14:03`, `14:03:22`, `14:03:22.123`; not the line and column of `main.rs:12:45`.
fn clock(word: &[u8], at: usize) -> Option<usize> {
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
fn date(word: &[u8], at: usize) -> Option<usize> {
    let middle = at + digits(word, at) + 1;
    if digits(word, at) > 4 || word.get(middle - 1) != Some(&b'/') {
        return None;
    }
    let last = middle + count(word, middle, u8::is_ascii_alphanumeric) + 1;
    let is_date = last - middle <= 4 && word.get(last - 1) == Some(&b'/') && matches!(digits(word, last), 2 | 4);
    let end = last + digits(word, last);
    is_date.then(|| end + count(word, end, |byte| byte.is_ascii_digit() || *byte == b':'))
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

/// Past `12`, `3.14`, `1,024`.
fn decimal(word: &[u8], at: usize) -> usize {
    let mut end = at + digits(word, at);
    while matches!(word.get(end), Some(b'.' | b',')) && digits(word, end + 1) > 0 {
        end += 1 + digits(word, end + 1);
    }
    end
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
