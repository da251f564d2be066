//! The gist of a short result: its words without those of the arguments. Tools quote the path or
//! the query that they were given, and the same error for another path is the same error.

use model::{ToolCall, WordSet};
use twox_hash::XxHash3_64;

use super::volatile;
use crate::fingerprint::digest::fold;
use crate::fingerprint::normalise::has_id;

/// A longer text is more than an error message: it is compared as a whole.
const MOST_WORDS: usize = 40;
/// A shorter word may stand in the arguments by chance.
const SHORTEST_ECHO: usize = 3;
/// Longer arguments are content, in which any word may stand.
const LONGEST_ARGUMENTS: usize = 2_048;

/// A hash of the words of `results` that do not stand in the arguments of `calls`; `None` if the
/// results are long.
pub(crate) fn of_error<'t>(calls: &[ToolCall<'_>], results: impl Iterator<Item = &'t str>) -> Option<u32> {
    let (mut hash, mut names_id) = (0, false);
    for (count, word) in results.flat_map(str::split_whitespace).enumerate() {
        if count >= MOST_WORDS {
            return None;
        }
        let is_id = std::mem::replace(&mut names_id, volatile::names_id(word.to_ascii_lowercase().as_bytes()));
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        if !is_id && !is_echo(calls, word) && !has_id(word) {
            hash = fold(hash, XxHash3_64::oneshot(without_digits(word).as_bytes()));
        }
    }
    Some(hash as u32)
}

/// The words of `results` that do not stand in the arguments of `calls`; `None` if the results are
/// long.
pub(crate) fn of_finding<'t>(calls: &[ToolCall<'_>], results: impl Iterator<Item = &'t str>) -> Option<WordSet> {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-');
    let mut words = WordSet::default();
    let all = results.flat_map(|result| result.split(move |character| !is_part(character)));
    for (count, word) in all.filter(|word| !word.is_empty()).enumerate() {
        if count >= MOST_WORDS {
            return None;
        }
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        if word.len() >= SHORTEST_ECHO && !is_echo(calls, word) {
            words.add(XxHash3_64::oneshot(word.to_lowercase().as_bytes()));
        }
    }
    Some(words)
}

fn is_echo(calls: &[ToolCall<'_>], word: &str) -> bool {
    let stands_in = |call: &ToolCall<'_>| call.arguments.len() <= LONGEST_ARGUMENTS && call.arguments.contains(word);
    word.len() >= SHORTEST_ECHO && calls.iter().any(stands_in)
}

fn without_digits(word: &str) -> String {
    word.chars().filter(|character| !character.is_ascii_digit()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gist(arguments: &'static str, result: &str) -> Option<u32> {
        let call = ToolCall { name: "bash".into(), arguments: arguments.into() };
        of_error(&[call], [result].into_iter())
    }

    #[test]
    fn the_same_refusal_for_another_path_is_the_same() {
        let one = gist(r#"{"command":"ls src/a"}"#, "ls: cannot access 'src/a': No such file or directory");
        let other = gist(r#"{"command":"ls lib/b"}"#, "ls: cannot access 'lib/b': No such file or directory");
        assert!(one.is_some() && one == other);
    }

    #[test]
    fn another_error_is_another() {
        let one = gist(r#"{"command":"python a.py"}"#, "AttributeError: 'cart' object has no attribute 'total'");
        let other = gist(r#"{"command":"python a.py"}"#, "AttributeError: 'cart' object has no attribute 'items'");
        assert_ne!(one, other);
        assert_eq!(gist("{}", &"word ".repeat(100)), None);
    }
}
