//! Canonical JSON: keys sorted, no white space between tokens, numbers as they were written.
//! Written by hand, because a parsed value would forget how a number was written and how keys are sorted depends on
//! features that other crates switch on.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// Deeper nesting is taken as it was written.
const DEEPEST: usize = 128;

/// The canonical form of `json`, or `json` itself if it is none (models write broken arguments too).
pub(crate) fn canonical(json: &str) -> Cow<'_, str> {
    let json = json.trim();
    if json.is_empty() {
        // No arguments at all, as some models put it.
        return Cow::Borrowed("{}");
    }
    if serde_json::from_str::<&RawValue>(json).is_err() {
        return Cow::Borrowed(json);
    }
    let mut reader = Reader { json, at: 0 };
    reader.value(0).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Reads JSON that is known to be valid. `None`: too deep, or not valid after all.
struct Reader<'j> {
    json: &'j str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<String> {
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

    fn object(&mut self, depth: usize) -> Option<String> {
        let mut members = Vec::new();
        self.at += 1;
        while self.next_token()? != b'}' {
            self.skip(b',');
            self.next_token()?;
            let key = self.string()?;
            self.next_token()?;
            self.skip(b':');
            members.push((key, self.value(depth + 1)?));
        }
        self.at += 1;
        members.sort_by(|one, other| one.0.cmp(&other.0));
        let members: Vec<String> = members.into_iter().map(|(key, value)| key + ":" + &value).collect();
        Some(format!("{{{}}}", members.join(",")))
    }

    fn array(&mut self, depth: usize) -> Option<String> {
        let mut items = Vec::new();
        self.at += 1;
        while self.next_token()? != b']' {
            self.skip(b',');
            items.push(self.value(depth + 1)?);
        }
        self.at += 1;
        Some(format!("[{}]", items.join(",")))
    }

    /// A string with its escapes undone, except those of quotes and backslashes: `\n` must part words like a line end.
    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let bytes = self.json.as_bytes();
        self.at += 1;
        while *bytes.get(self.at)? != b'"' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        let written = self.json.get(start..self.at)?;
        if !written.contains('\\') {
            return Some(written.to_owned());
        }
        // A lone surrogate is valid to a parser that skips it and no text: it stays as it was written.
        let Ok(text) = serde_json::from_str::<String>(written) else {
            return Some(written.to_owned());
        };
        Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
    }

    fn literal(&mut self) -> Option<String> {
        let rest = self.json.get(self.at..)?;
        let ends = |character: char| matches!(character, ',' | ']' | '}') || character.is_ascii_whitespace();
        let literal = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += literal.len();
        Some(literal.to_owned())
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
        check(r#""a  b""#, r#""a  b""#);
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
    fn what_is_no_json_is_taken_as_it_is() {
        check(r#"{"a": 1"#, r#"{"a": 1"#);
        check("ls -la", "ls -la");
        check(" ", "{}");
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        check(&deep, &deep);
    }
}
