//! One JSON value as raw text.

use std::borrow::Cow;

use memchr::memchr;

use super::swar::short_contains;
use super::{Cursor, Malformed};

/// The text of one valid JSON value, without white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Json<'a>(pub(super) &'a str);

impl<'a> Json<'a> {
    /// Validates all of `text`.
    pub(crate) fn parse(text: &'a str) -> Result<Json<'a>, Malformed> {
        let mut cursor = Cursor::new(text);
        let value = cursor.value()?;
        cursor.end()?;
        Ok(value)
    }

    /// Validates all of `text` and visits its fields in the same pass. Fields before an error are
    /// visited too.
    pub(crate) fn parse_fields(text: &'a str, visit: impl FnMut(&str, Json<'a>)) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(text);
        cursor.fields(visit)?;
        cursor.end()
    }

    /// A cursor at the start of the value.
    pub(crate) fn cursor(self) -> Cursor<'a> {
        Cursor::new(self.0)
    }

    /// The raw text.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    /// The text of a string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        self.0.strip_prefix("\"")?.strip_suffix("\"").map(text)
    }

    /// The text of a string that is not empty.
    pub(crate) fn filled_text(self) -> Option<Cow<'a, str>> {
        self.text().filter(|text| !text.is_empty())
    }

    /// Whether it is a string.
    pub(crate) fn is_text(self) -> bool {
        self.0.starts_with('"')
    }

    /// An unsigned integer.
    pub(crate) fn number(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Whether it is `true`.
    pub(crate) fn is_true(self) -> bool {
        self.0 == "true"
    }

    /// Whether it is `null`.
    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Visits the fields of an object. Other values have none.
    pub(crate) fn fields(self, visit: impl FnMut(&str, Json<'a>)) {
        // Cannot fail: a `Json` is valid by construction.
        let _ = Json::parse_fields(self.0, visit);
    }

    /// Visits the items of an array. Other values have none.
    pub(crate) fn items(self, mut visit: impl FnMut(Json<'a>)) {
        self.visit(|cursor| {
            visit(cursor.value()?);
            Ok(())
        });
    }

    /// Visits the items of an array through a cursor.
    pub(crate) fn visit(self, visit: impl FnMut(&mut Cursor<'a>) -> Result<(), Malformed>) {
        // Cannot fail: a `Json` is valid by construction.
        let _ = Cursor::new(self.0).array(visit);
    }

    /// The value of one field of an object.
    pub(crate) fn field(self, name: &str) -> Option<Json<'a>> {
        let mut found = None;
        self.fields(|key, value| {
            if key == name {
                found = Some(value);
            }
        });
        found
    }
}

/// Unescapes `written`, the inside of a string.
pub(super) fn text(written: &str) -> Cow<'_, str> {
    match find_escape(written) {
        Some(first) => Cow::Owned(unescape(written, first)),
        None => Cow::Borrowed(written),
    }
}

/// Unescapes from the `first` escape on. An invalid escape stands for its character. Half a
/// surrogate pair becomes U+FFFD: JavaScript clients send those when they cut a text inside an
/// emoji.
fn unescape(written: &str, first: usize) -> String {
    let mut text = String::with_capacity(written.len());
    let (mut rest, mut next) = (written, Some(first));
    while let Some(at) = next {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let (character, length) = escaped_character(escape);
        text.push(character);
        rest = escape.get(length..).unwrap_or_default();
        next = find_escape(rest);
    }
    text.push_str(rest);
    text
}

/// The position of the first escape. Most strings are a single word, for which a wide search would
/// not pay off.
#[inline(always)]
fn find_escape(written: &str) -> Option<usize> {
    let bytes = written.as_bytes();
    if bytes.len() <= 16 && !short_contains(bytes, b'\\') { None } else { memchr(b'\\', bytes) }
}

/// The character of the escape that `rest` starts with, and the escape's length.
fn escaped_character(rest: &str) -> (char, usize) {
    match rest.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b'"') => ('"', 2),
        Some(b'u') => unicode_escape(rest).unwrap_or(('u', 2)),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        _ => match rest[1..].chars().next() {
            Some(other) => (other, 1 + other.len_utf8()),
            None => (char::REPLACEMENT_CHARACTER, 1),
        },
    }
}

fn unicode_escape(rest: &str) -> Option<(char, usize)> {
    let high = code_unit(rest)?;
    if let Some(character) = char::from_u32(high) {
        return Some((character, 6));
    }
    let low = rest.get(6..).filter(|next| next.starts_with("\\u")).and_then(code_unit).unwrap_or(0);
    let pair = ((0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low))
        .then(|| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)))
        .flatten();
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |character| (character, 12)))
}

fn code_unit(escape: &str) -> Option<u32> {
    let digits = escape.get(2..6).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}
