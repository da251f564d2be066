//! Whether a result says that nothing was found. Search tools repeat the query or the page that
//! they were asked for, so the same empty result looks new each time.

use std::borrow::Cow;

use model::ToolCall;
use twox_hash::XxHash3_64;

use super::phrases::Phrases;
use crate::fingerprint::digest::fold;

/// What tools print when they found nothing, in lower case.
static PHRASES: Phrases<37> = Phrases::new([
    "no results",
    "no result ",
    "no matches",
    "no match ",
    "no matching",
    "no files",
    "no records",
    "no entries",
    "no items",
    "no data",
    "no rows",
    "no documents",
    "no hits",
    "nothing found",
    "nothing was found",
    "did not match any",
    "0 results",
    "0 matches",
    "0 rows",
    "found 0 ",
    // A file that is read beyond its end.
    "is shorter than",
    "past the end of",
    "beyond the end of",
    "keine ergebnisse",
    "keine treffer",
    "nichts gefunden",
    "aucun résultat",
    "sin resultados",
    "no se encontr",
    "nessun risultato",
    "nenhum resultado",
    "ничего не найдено",
    "見つかりません",
    "該当",
    "没有找到",
    "未找到",
    "검색 결과가 없",
]);

/// What tools print about work that goes on, in lower case.
static UNDERWAY: Phrases<4> = Phrases::new(["pending", "in progress", "in_progress", "queued"]);

/// Whether a result says that something goes on.
pub(crate) fn says_underway(result: &str) -> bool {
    UNDERWAY.any(result.as_bytes(), |_, _| true)
}

/// Results that mean nothing was found if they are the whole text.
const WHOLE: [&str; 7] = ["[]", "null", "none", "nil", "(empty)", "(no output)", "no output"];

/// A longer text says more.
const LONGEST: usize = 300;
/// The phrase must stand at the beginning: behind rows it says that there are no more.
const HEAD: usize = 80;

/// The gist of all results that say so in words.
const IN_WORDS: u32 = 0x6e6f_6e65;

/// The gist of `results` if all of them say that nothing was found.
pub(crate) fn gist_of_nothing<'t>(
    calls: &[ToolCall<'_>],
    results: impl Iterator<Item = &'t str> + Clone,
) -> Option<u32> {
    let mut results = results.peekable();
    results.peek()?;
    if results.clone().all(says_nothing) {
        return Some(IN_WORDS);
    }
    if results.clone().all(is_empty_list) { Some(gist_of_list(calls, results)) } else { None }
}

/// A hash of the words of objects with an empty list, without those of the calls and without
/// numbers.
fn gist_of_list<'t>(calls: &[ToolCall<'_>], results: impl Iterator<Item = &'t str>) -> u32 {
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphabetic).collect::<String>();
    let asked: Vec<String> = calls.iter().map(|call| letters(&call.arguments)).collect();
    let is_in_calls =
        |value_letters: &str| value_letters.len() >= 3 && asked.iter().any(|asked| asked.contains(value_letters));
    let mut hash = 0;
    for value in results.flat_map(|result| result.split(['{', '}', '[', ']', ',', ':'])) {
        let value_letters = letters(value);
        if !is_in_calls(&value_letters) && !value.contains(|character: char| character.is_ascii_digit()) {
            hash = fold(hash, XxHash3_64::oneshot(value_letters.as_bytes()));
        }
    }
    hash as u32
}

fn says_nothing(result: &str) -> bool {
    let text = result.trim();
    if text.is_empty() || text.len() > LONGEST {
        return false;
    }
    if WHOLE.iter().any(|nothing| nothing.eq_ignore_ascii_case(text)) {
        return true;
    }
    let head = &text[..text.floor_char_boundary(HEAD)];
    // In other scripts the phrases are looked for in lower case.
    let head = if head.is_ascii() { Cow::Borrowed(head) } else { Cow::Owned(head.to_lowercase()) };
    is_none_found(&head) || PHRASES.any(head.as_bytes(), |before, _| is_free(before))
}

fn is_none_found(head: &str) -> bool {
    let starts_so = head.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("no "));
    starts_so && head.to_ascii_lowercase().contains(" found")
}

/// Whether no ASCII letter or digit stands before a phrase: `10 results` contains `0 results`. In
/// scripts without spaces other letters stand there.
fn is_free(before: &[u8]) -> bool {
    !before.last().is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether a short JSON object has an empty list and no other: `{"page": 3, "items": []}`.
fn is_empty_list(result: &str) -> bool {
    let text = result.trim();
    let is_object = text.starts_with('{') && text.ends_with('}') && text.len() <= LONGEST;
    is_object && text.contains("[]") && text.matches('[').count() == text.matches("[]").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(arguments: &'static str, result: &'static str) -> Option<u32> {
        let call = ToolCall { name: "search".into(), arguments: arguments.into() };
        gist_of_nothing(&[call], [result].into_iter())
    }

    #[test]
    fn the_same_nothing_for_another_query_is_the_same() {
        for (one, other) in [
            (
                (r#"{"query":"old mill"}"#, r#"No results found for "old mill"."#),
                (r#"{"query":"water mill"}"#, r#"No results found for "water mill"."#),
            ),
            ((r#"{"page":2}"#, r#"{"page": 2, "items": []}"#), (r#"{"page":3}"#, r#"{"page": 3, "items": []}"#)),
            (("{}", "Found 0 matches in src"), ("{}", "No files found")),
            (("{}", "No flights found."), ("{}", "[]")),
        ] {
            assert!(nothing(one.0, one.1).is_some(), "{one:?}");
            assert_eq!(nothing(one.0, one.1), nothing(other.0, other.1), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_result_with_content_is_not_nothing() {
        for result in [
            "10 results",
            "src/a.rs:12: found",
            "",
            "{}",
            "none of them is open",
            r#"{"items": [1], "errors": []}"#,
            "src/a.rs:12: fn main() is the only place, and its caller is in the tests of it.\nNo results behind that.",
        ] {
            assert_eq!(nothing("{}", result), None, "{result}");
        }
        let user = |name: &'static str| nothing(r#"{"id":7}"#, name);
        assert_ne!(
            user(r#"{"id": 7, "name": "ada", "orders": []}"#),
            user(r#"{"id": 8, "name": "bob", "orders": []}"#)
        );
    }

    #[test]
    fn every_phrase_is_found_in_any_case_and_behind_no_letter_or_digit() {
        for phrase in PHRASES.phrases {
            for result in [phrase.to_owned(), phrase.to_uppercase(), format!("Sorry: {phrase} here")] {
                assert!(says_nothing(&result) || result.trim() != result, "{result}");
            }
            assert!(!says_nothing(&format!("x{phrase}")) || phrase.starts_with(|first: char| !first.is_ascii()));
        }
    }
}
