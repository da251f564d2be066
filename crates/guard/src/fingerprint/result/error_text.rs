//! Whether a tool's result says that something went wrong. Most formats have no field for it, so
//! only the words show it.

use super::phrases::Phrases;

/// How many bytes are read at each end: tools put the error first, runtimes last.
const EDGE: usize = 200;

/// The words of errors as tools, shells, runtimes and HTTP write them, in lower case, and as they
/// begin in other languages.
static WORDS: Phrases<32> = Phrases::new([
    "error",
    "exception",
    "traceback",
    "failed",
    "failure",
    "denied",
    "refused",
    "rejected",
    "forbidden",
    "unauthorized",
    "not found",
    "no such",
    "not allowed",
    "not permitted",
    "not available",
    "does not exist",
    "invalid",
    "unable to",
    "timed out",
    "aborted",
    "interrupted",
    "cannot",
    "could not",
    "erreur",
    "fehler",
    "falló",
    "erro:",
    "błąd",
    "ошибк",
    "错误",
    "失败",
    "エラー",
]);

/// Whether `result` begins or ends with the words of an error.
pub(crate) fn says_error(result: &str) -> bool {
    let text = result.trim();
    let head = &text[..text.floor_char_boundary(EDGE)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(EDGE)).max(head.len())..];
    [head, tail].iter().any(|edge| has_word(edge.as_bytes()))
}

/// Whether `result` begins with the words of an error.
pub(crate) fn says_error_at_once(result: &str) -> bool {
    let text = result.trim_start();
    // The cheap test first; it seldom holds.
    has_word(&text.as_bytes()[..text.floor_char_boundary(EDGE / 2)])
        && !says_success(text.lines().next().unwrap_or_default())
}

/// Whether the first line reports success: the text behind it is then the content that was changed.
fn says_success(line: &str) -> bool {
    const DONE: [&str; 7] = ["updated", "success", "created", "applied", "saved", "edited", "written"];
    let head = line[..line.floor_char_boundary(EDGE / 2)].to_ascii_lowercase();
    let is_denied = ["not ", "no ", "un", "fail", "error"].iter().any(|word| head.contains(word));
    !is_denied && DONE.iter().any(|word| head.contains(word))
}

/// Whether `text` contains any of the words, in any case, and reports an error with it.
fn has_word(text: &[u8]) -> bool {
    WORDS.any(text, |before, after| {
        let word = &text[before.len()..text.len() - after.len()];
        !says_none(after) && !is_figure(word, after) && !denies(before)
    })
}

/// Whether the word of an error names a count in JSON: `"errors": 4`, `"failed":2`. A singular one
/// is a code: `"error": 404`.
fn is_figure(word: &[u8], rest: &[u8]) -> bool {
    let is_plural = rest.first() == Some(&b's') || word.ends_with(b"ed");
    let rest = rest.strip_prefix(b"s").unwrap_or(rest);
    let value = rest.strip_prefix(b"\":").map(<[u8]>::trim_ascii_start);
    is_plural && value.is_some_and(|value| value.first().is_some_and(u8::is_ascii_digit))
}

/// Whether the text before the word of an error says that there is none: `No syntax errors`, `0
/// failed`, `without error`.
fn denies(before: &[u8]) -> bool {
    let clause =
        before.rsplit(|byte| matches!(byte, b'.' | b';' | b',' | b':' | b'\n' | b'(')).next().unwrap_or_default();
    let mut words = clause.split(u8::is_ascii_whitespace).rev().filter(|word| !word.is_empty()).take(3);
    words.any(|word| [&b"no"[..], b"0", b"zero", b"without"].iter().any(|none| word.eq_ignore_ascii_case(none)))
}

/// Whether the text after the word of an error says that there is none: `Error: (none)`, `"error":
/// null`, `errors=0`.
fn says_none(rest: &[u8]) -> bool {
    let marks = rest.iter().take(5).take_while(|byte| matches!(byte, b's' | b':' | b'=' | b'"' | b' ')).count();
    let rest = &rest[marks..];
    marks > 0 && [&b"(none)"[..], b"none", b"null", b"false", b"[]", b"0"].iter().any(|none| rest.starts_with(none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_by_their_words() {
        let long = format!("{}\nFileNotFoundError: data.csv", "line of output\n".repeat(100));
        for error in [
            "Error: 401 Unauthorized",
            "bash: x: No such file or directory",
            "ABORTED",
            "{\"error\": 404}",
            long.as_str(),
        ] {
            assert!(says_error(error), "{error}");
        }
        let middle = format!("{0} error {0}", "word ".repeat(100));
        for fine in [
            "",
            "ok",
            "3 passed",
            "Error: (none)",
            "{\"error\":null}",
            "{\"p95_ms\": 311, \"errors\": 4}",
            "{\"passed\":12,\"failed\":3}",
            "errors=0",
            "No syntax errors detected",
            "12 passed, 0 failed",
            "PASS=1 WARN=0 ERROR=0",
            "é".repeat(300).as_str(),
            middle.as_str(),
        ] {
            assert!(!says_error(fine), "{fine}");
        }
    }

    #[test]
    fn every_word_is_found_whole_and_in_any_case() {
        for word in WORDS.phrases {
            for written in [word.to_owned(), word.to_ascii_uppercase(), format!("nono{word}s")] {
                assert!(says_error(&written), "{written}");
            }
            let cut = &word[..word.floor_char_boundary(word.len() - 1)];
            assert!(!says_error(cut), "{word}");
        }
    }
}
