//! Canonical JSON: keys sorted, no white space between tokens, numbers as they were written.
//! Written by hand: a parsed value loses how a number was written, and the order of its keys
//! depends on features that other crates switch on.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

/// Deeper nesting stays as written: sorting copies the content once for each level.
const DEEPEST: usize = 32;

/// The canonical form of `json`, or `json` itself if it is not JSON: models write broken arguments
/// too.
pub(crate) fn canonical(json: &str) -> Cow<'_, str> {
    let json = json.trim();
    if json.is_empty() {
        // Some models write an empty string for no arguments.
        return Cow::Borrowed("{}");
    }
    if serde_json::from_str::<&RawValue>(json).is_err() || is_canonical(json) {
        return Cow::Borrowed(json);
    }
    let mut writer = Writer { json, at: 0, canonical: String::with_capacity(json.len()) };
    match writer.value(0) {
        Some(()) => Cow::Owned(writer.canonical),
        None => Cow::Borrowed(json),
    }
}

/// A quick test whether valid `json` is already canonical, as most flat objects are.
fn is_canonical(json: &str) -> bool {
    let mut rest = json.as_bytes();
    let (mut last_key, mut objects): (&[u8], usize) = (&[], 0);
    while let Some(byte) = rest.first() {
        let length = match byte {
            b'"' => plain_string(rest),
            b' ' | b'\t' | b'\n' | b'\r' => None,
            _ => Some(1),
        };
        let Some((token, behind)) = length.and_then(|length| rest.split_at_checked(length)) else { return false };
        if behind.first() == Some(&b':') {
            if token < last_key {
                return false;
            }
            last_key = token;
        }
        objects += usize::from(*byte == b'{');
        rest = behind;
    }
    // With several objects, the last key may belong to another one.
    objects <= 1
}

/// The length of the string that `json` begins with, quotes included, if nothing is escaped in it.
fn plain_string(json: &[u8]) -> Option<usize> {
    let inside = json.get(1..)?;
    let end = inside.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    (inside[end] == b'"').then_some(end + 2)
}

/// Reads valid JSON and writes its canonical form. Its methods return `None` if the JSON is nested
/// too deep, or not valid after all.
struct Writer<'j> {
    json: &'j str,
    at: usize,
    canonical: String,
}

impl Writer<'_> {
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match self.next_token()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string(),
            _ => self.literal(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.canonical.push('{');
        let start = self.canonical.len();
        // The range of each member, and where its key ends.
        let mut members: Vec<(Range<usize>, usize)> = Vec::new();
        self.at += 1;
        while self.next_token()? != b'}' {
            self.skip(b',');
            self.next_token()?;
            let member = self.canonical.len();
            self.string()?;
            let key_end = self.canonical.len();
            self.next_token()?;
            self.skip(b':');
            self.canonical.push(':');
            self.value(depth + 1)?;
            self.canonical.push(',');
            members.push((member..self.canonical.len(), key_end));
        }
        self.at += 1;
        self.sort(start, members);
        self.close('}')
    }

    /// Sorts the members, which begin at `start`, by their keys.
    fn sort(&mut self, start: usize, mut members: Vec<(Range<usize>, usize)>) {
        let key = |(member, key_end): &(Range<usize>, usize)| &self.canonical[member.start..*key_end];
        if members.is_sorted_by(|one, other| key(one) <= key(other)) {
            return;
        }
        members.sort_by(|one, other| key(one).cmp(key(other)));
        let sorted: String = members.iter().map(|(member, _)| &self.canonical[member.clone()]).collect();
        self.canonical.truncate(start);
        self.canonical.push_str(&sorted);
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.canonical.push('[');
        self.at += 1;
        while self.next_token()? != b']' {
            self.skip(b',');
            self.value(depth + 1)?;
            self.canonical.push(',');
        }
        self.at += 1;
        self.close(']')
    }

    /// Replaces the last comma by the bracket.
    fn close(&mut self, bracket: char) -> Option<()> {
        if self.canonical.ends_with(',') {
            self.canonical.pop();
        }
        self.canonical.push(bracket);
        Some(())
    }

    /// A string with its escapes undone, except those of quotes and backslashes: `\n` must separate
    /// words as a line end does.
    fn string(&mut self) -> Option<()> {
        let start = self.at;
        let bytes = self.json.as_bytes();
        self.at += 1;
        while *bytes.get(self.at)? != b'"' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        let written = self.json.get(start..self.at)?;
        // A lone surrogate is valid to a parser that skips strings, but it is not text: it stays as
        // written.
        let escaped = written.contains('\\').then(|| serde_json::from_str::<String>(written).ok());
        match escaped.flatten() {
            Some(text) => {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                self.canonical.extend(["\"", &text, "\""]);
            }
            None => self.canonical.push_str(written),
        }
        Some(())
    }

    fn literal(&mut self) -> Option<()> {
        let rest = self.json.get(self.at..)?;
        let ends = |character: char| matches!(character, ',' | ']' | '}') || character.is_ascii_whitespace();
        let literal = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += literal.len();
        self.canonical.push_str(literal);
        Some(())
    }

    /// The byte that the next token starts with.
    fn next_token(&mut self) -> Option<u8> {
        let bytes = self.json.as_bytes();
        while bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) {
        if self.json.as_bytes().get(self.at) == Some(&byte) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        assert_eq!(canonical(json), expected, "{json}");
    }

    #[test]
    fn keys_are_sorted_and_spaces_are_dropped() {
        check(r#" { "b" : 1 , "a" : [ 1 , { "d":null , "c":true } ] } "#, r#"{"a":[1,{"c":true,"d":null}],"b":1}"#);
        check("{}", "{}");
        check("[ ]", "[]");
        check(r#"[[],{},[1,[]],{"b":{},"a":[]}]"#, r#"[[],{},[1,[]],{"a":[],"b":{}}]"#);
        check(r#"{"b":",","a":"}","aa":1,"a":2}"#, r#"{"a":"}","a":2,"aa":1,"b":","}"#);
        check(r#""a  b""#, r#""a  b""#);
    }

    #[test]
    fn canonical_json_is_borrowed() {
        for json in [r#"{"a":[1,"x y"],"b":"{ }","b":-1.0}"#, "[[],[1,2]]", r#""a  b""#, "{}", r#"{"a!":1,"a":2}"#] {
            assert!(matches!(canonical(json), Cow::Borrowed(same) if same == json), "{json}");
        }
        check(r#"{"a":2,"a!":1}"#, r#"{"a!":1,"a":2}"#);
        check(r#"{"b":{"z":1},"a":2}"#, r#"{"a":2,"b":{"z":1}}"#);
    }

    #[test]
    fn numbers_stay_as_they_were_written() {
        check("[1.10, 1e400, 123456789012345678901234567890, -0]", "[1.10,1e400,123456789012345678901234567890,-0]");
    }

    #[test]
    fn escapes_are_undone_but_quotes_stay_apart() {
        check(r#"{"a":"x\u0041\n\ty"}"#, "{\"a\":\"xA\n\ty\"}");
        check(r#"{"a":"x\",\"b\":\"y\\"}"#, r#"{"a":"x\",\"b\":\"y\\"}"#);
        check(r#"["\ud83d\ude00"]"#, "[\"😀\"]");
    }

    #[test]
    fn text_that_is_not_json_stays_as_written() {
        check(r#"{"a": 1"#, r#"{"a": 1"#);
        check("ls -la", "ls -la");
        check(" ", "{}");
        for depth in [40, 100_000] {
            let deep = "[ ".repeat(depth) + &"]".repeat(depth);
            check(&deep, &deep);
        }
    }
}
