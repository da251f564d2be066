//! One JSON value, as it is written.

use std::borrow::Cow;

use super::{Cursor, Malformed};

/// The text of one valid JSON value, without white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Json<'a>(pub(super) &'a str);

impl<'a> Json<'a> {
    /// Checks all of `text`.
    pub(crate) fn parse(text: &'a str) -> Result<Json<'a>, Malformed> {
        let mut cursor = Cursor::new(text);
        let value = cursor.value()?;
        cursor.end()?;
        Ok(value)
    }

    /// Checks all of `text` and visits its fields in the same pass; those before a fault are visited, too.
    pub(crate) fn parse_fields(text: &'a str, mut each: impl FnMut(&str, Json<'a>)) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(text);
        cursor.object(|cursor, key| {
            each(key, cursor.value()?);
            Ok(())
        })?;
        cursor.end()
    }

    /// As it is written.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    /// The text of a string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let written = self.0.strip_prefix('"')?.strip_suffix('"')?;
        Some(if written.contains('\\') { Cow::Owned(unescape(written)) } else { Cow::Borrowed(written) })
    }

    /// The text of a string that says something.
    pub(crate) fn filled_text(self) -> Option<Cow<'a, str>> {
        self.text().filter(|text| !text.is_empty())
    }

    /// Whether it is a string.
    pub(crate) fn is_text(self) -> bool {
        self.0.starts_with('"')
    }

    /// A whole number that is not negative.
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

    /// Visits the fields of an object; of anything else there are none.
    pub(crate) fn fields(self, each: impl FnMut(&str, Json<'a>)) {
        // Cannot fail: the value was checked when it was taken.
        let _ = Json::parse_fields(self.0, each);
    }

    /// Visits the items of an array; of anything else there are none.
    pub(crate) fn items(self, mut each: impl FnMut(Json<'a>)) {
        // Cannot fail, as above.
        let _ = Cursor::new(self.0).array(|cursor| {
            each(cursor.value()?);
            Ok(())
        });
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

/// The text that `written` (the inside of a valid string) stands for. Half a surrogate pair becomes U+FFFD: JavaScript
/// clients that cut a text in the middle of an emoji do send those.
pub(super) fn unescape(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let (character, length) = escaped_character(&rest[at..]);
        text.push(character);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// The character of the escape that `rest` starts with, and the escape's length.
fn escaped_character(rest: &str) -> (char, usize) {
    let simple = match rest.as_bytes().get(1) {
        Some(b'u') => return unicode_escape(rest),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(other) => char::from(*other),
        None => char::REPLACEMENT_CHARACTER,
    };
    (simple, 2)
}

fn unicode_escape(rest: &str) -> (char, usize) {
    let high = code_unit(rest);
    if let Some(character) = char::from_u32(high) {
        return (character, 6);
    }
    let low = rest.get(6..).filter(|next| next.starts_with("\\u")).map_or(0, code_unit);
    let pair = ((0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low))
        .then(|| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)))
        .flatten();
    pair.map_or((char::REPLACEMENT_CHARACTER, 6), |character| (character, 12))
}

fn code_unit(escape: &str) -> u32 {
    escape.get(2..6).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
}
