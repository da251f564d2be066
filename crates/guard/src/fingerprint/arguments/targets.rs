//! The targets of tool calls: arguments of one word, such as paths, ids, numbers and switches. The
//! same long text with another target (a licence header for the next file) is not a repetition.

use std::borrow::Cow;

use twox_hash::XxHash3_64;

use crate::fingerprint::digest::{ExactHash, fold};
use crate::fingerprint::normalise::{Numbers, words_of};

/// Shorter words with digits are not masked.
const SHORTEST_ID: usize = 6;
/// A longer word is content (encoded data, minified code), not a target.
const LONGEST: usize = 256;

/// One hash of all one-word values of `canonical` JSON with their keys; 0 if there are none. Times
/// and ids are masked.
pub(crate) fn targets(canonical: &str) -> u64 {
    let mut hash = 0;
    let mut key = "";
    for token in Tokens(canonical) {
        match token {
            Token::Key(name) => key = name,
            Token::Value(value) if is_target(value) => {
                let mut exact = ExactHash::default();
                words_of([value], Numbers::Kept, &mut exact);
                hash = fold(fold(hash, XxHash3_64::oneshot(key.as_bytes())), exact.finish());
            }
            Token::Value(_) => {}
        }
    }
    hash
}

/// Parts of names of arguments that are generated for every call and select nothing.
const VOLATILE: [&str; 9] =
    ["idempot", "nonce", "timestamp", "request_id", "requestid", "trace", "correlation", "cache_bust", "client_token"];

/// Parts of names of arguments next to a command that say why it runs, how long it may take and how
/// much it may print: models change them from one try to the next.
const ASIDE: [&str; 6] = ["timeout", "yield_time", "max_output", "description", "explanation", "justification"];

/// Arguments that hold a command.
const COMMAND: [&str; 3] = ["command", "cmd", "commands"];

fn has_part(key: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| key.contains(part))
}

/// `canonical` JSON without the values of arguments that select nothing.
pub(crate) fn without_volatile(canonical: &str) -> Cow<'_, str> {
    let (mut has_command, mut has_aside, mut has_volatile) = (false, false, false);
    for token in Tokens(canonical) {
        if let Token::Key(key) = token {
            has_command |= COMMAND.contains(&key.trim_matches('"'));
            has_aside |= has_part(key, &ASIDE);
            has_volatile |= has_part(key, &VOLATILE);
        }
    }
    let drops = has_volatile || (has_command && has_aside);
    if !drops {
        return Cow::Borrowed(canonical);
    }
    let is_dropped = |key: &str| has_part(key, &VOLATILE) || (has_command && has_part(key, &ASIDE));
    Cow::Owned(without_values(canonical, is_dropped))
}

/// `canonical` JSON without the values of the keys that `is_dropped` names.
fn without_values(canonical: &str, is_dropped: impl Fn(&str) -> bool) -> String {
    let mut kept = String::with_capacity(canonical.len());
    let (mut tokens, mut drops) = (Tokens(canonical), false);
    loop {
        let before = tokens.0;
        let token = tokens.next();
        let read = &before[..before.len() - tokens.0.len()];
        let dropped = match token {
            None => break,
            Some(Token::Key(key)) => {
                drops = is_dropped(key);
                0
            }
            Some(Token::Value(value)) if drops => value.len(),
            Some(Token::Value(_)) => 0,
        };
        // The text before a value stays: it separates the values.
        kept.push_str(&read[..read.len() - dropped]);
    }
    kept
}

/// One hash of the ids and times among the arguments: what the model chose to work on. 0 if there
/// are none. Names of temporary files are generated for every call and select nothing.
pub(crate) fn chosen(canonical: &str) -> u64 {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | ':' | '/' | '.');
    let words = canonical.split(|character: char| !is_part(character));
    words.filter(|word| is_chosen(word)).fold(0, |hash, word| fold(hash, XxHash3_64::oneshot(word.as_bytes())))
}

/// One hash of the temporary files among the arguments, if all arguments are one word each: then a
/// file is what the call is about. 0 if there are none.
pub(crate) fn temporary_files(canonical: &str) -> u64 {
    let mut hash = 0;
    for token in Tokens(canonical) {
        match token {
            Token::Value(value) if !is_target(value) => return 0,
            Token::Value(value) if is_temporary(value) => hash = fold(hash, XxHash3_64::oneshot(value.as_bytes())),
            Token::Key(_) | Token::Value(_) => {}
        }
    }
    hash
}

fn is_temporary(word: &str) -> bool {
    word.contains("/tmp/") || word.contains("tmp.") || word.starts_with("tmp")
}

/// Whether a word of arguments has letters or signs, and digits, and is long enough for an id or a
/// time.
fn is_chosen(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    word.len() >= SHORTEST_ID
        && has(u8::is_ascii_digit)
        && !word.bytes().all(|byte| byte.is_ascii_digit())
        && !is_temporary(word)
}

pub(super) fn is_target(value: &str) -> bool {
    value.len() <= LONGEST && !value.contains(char::is_whitespace)
}

/// A key or a scalar value.
pub(super) enum Token<'j> {
    Key(&'j str),
    Value(&'j str),
}

/// The keys and scalar values of canonical JSON, in order. In text that is not JSON, whatever looks
/// like them.
pub(super) struct Tokens<'j>(pub(super) &'j str);

impl<'j> Iterator for Tokens<'j> {
    type Item = Token<'j>;

    fn next(&mut self) -> Option<Token<'j>> {
        self.0 = self.0.trim_start_matches(['{', '}', '[', ']', ',', ':']);
        let end = match self.0.bytes().next()? {
            b'"' => string_end(self.0.as_bytes()),
            _ => self.0.find([',', '}', ']']).unwrap_or(self.0.len()),
        };
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(if rest.starts_with(':') { Token::Key(token) } else { Token::Value(token) })
    }
}

/// The length of the string that `bytes` begin with, quotes included.
fn string_end(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_values_are_targets() {
        let same = |one: &str, other: &str, expected: bool| {
            assert_eq!(targets(one) == targets(other), expected, "{one} {other}");
        };
        same(r#"{"path":"a.rs","text":"one two"}"#, r#"{"path":"b.rs","text":"one two"}"#, false);
        same(r#"{"path":"a.rs","text":"one two"}"#, r#"{"path":"a.rs","text":"three four"}"#, true);
        same(r#"{"list":[1,2]}"#, r#"{"list":[1,3]}"#, false);
        same(r#"{"a":true}"#, r#"{"b":true}"#, false);
        same(r#"{"at":"2024-01-15T10:30:00Z"}"#, r#"{"at":"2025-02-16T11:31:01Z"}"#, true);
        same(r#"{"text":"say \"yes\" now"}"#, r#"{"text":"say \"no\" now"}"#, true);
    }

    #[test]
    fn volatile_arguments_are_dropped() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(without_volatile(one) == without_volatile(other), expected, "{one} {other}");
        };
        check(r#"{"a":1,"nonce":"x1"}"#, r#"{"a":1,"nonce":"x2"}"#, true);
        check(r#"{"a":1,"nonce":"x1"}"#, r#"{"a":2,"nonce":"x1"}"#, false);
        check(r#"{"cmd":"ls","yield_time_ms":1000}"#, r#"{"cmd":"ls","yield_time_ms":30000}"#, true);
        check(r#"{"command":"ls","description":"List"}"#, r#"{"command":"ls","description":"Look again"}"#, true);
        check(r#"{"command":"ls a","timeout":10}"#, r#"{"command":"ls b","timeout":10}"#, false);
        check(r#"{"name":"x","timeout":10}"#, r#"{"name":"x","timeout":20}"#, false);
        check(r#"{"description":"a b","title":"x"}"#, r#"{"description":"c d","title":"x"}"#, false);
        assert_eq!(without_volatile(r#"{"nonce":[1,2],"path":"a"}"#), r#"{"nonce":[,],"path":"a""#);
    }

    #[test]
    fn nothing_aims_at_nothing() {
        for nothing in ["{}", "", "{\"text\":\"two words\"}"] {
            assert_eq!(targets(nothing), 0);
        }
    }

    #[test]
    fn broken_json_never_panics() {
        for broken in ["{", "\"", "\"\\", "{\"a\":", "é\"é", "[,]]"] {
            targets(broken);
        }
    }
}
