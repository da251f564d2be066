//! Whether a tool's result says that something went wrong. Most formats have no sign for it, so the
//! words must tell.

/// How much is looked at, from each end: tools put the error first, runtimes last.
const EDGE: usize = 200;

/// The words of errors as tools, shells, runtimes and HTTP write them, in lower case.
const WORDS: [&str; 21] = [
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
];

/// By how many bytes words are recognised at first: those of all words fit into one number.
const FIRST: usize = 3;

/// For each byte, in which words and where in their first bytes it stands: a bit for each of those
/// places.
const PLACES: [u64; 256] = {
    let mut places = [0; 256];
    let mut place = 0;
    while place < WORDS.len() * FIRST {
        let byte = WORDS[place / FIRST].as_bytes()[place % FIRST];
        places[byte as usize] |= 1 << place;
        places[byte.to_ascii_uppercase() as usize] |= 1 << place;
        place += 1;
    }
    places
};

/// The places where words begin.
const BEGINNINGS: u64 = {
    let mut beginnings = 0;
    let mut word = 0;
    while word < WORDS.len() {
        beginnings |= 1 << (word * FIRST);
        word += 1;
    }
    beginnings
};

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
    // First what is soon told, and seldom the case.
    has_word(&text.as_bytes()[..text.floor_char_boundary(EDGE / 2)])
        && !says_success(text.lines().next().unwrap_or_default())
}

/// Whether the first line says that something was done: what follows is what it was done to.
fn says_success(line: &str) -> bool {
    const DONE: [&str; 7] = ["updated", "success", "created", "applied", "saved", "edited", "written"];
    let head = line[..line.floor_char_boundary(EDGE / 2)].to_ascii_lowercase();
    let is_denied = ["not ", "no ", "un", "fail", "error"].iter().any(|word| head.contains(word));
    !is_denied && DONE.iter().any(|word| head.contains(word))
}

/// Whether any of the words stands in `text`, in whichever case. All are looked for at once.
fn has_word(text: &[u8]) -> bool {
    // A bit for each place that what was read last fits up to.
    let mut reached = 0;
    for (at, byte) in text.iter().enumerate() {
        reached = (reached << 1 | BEGINNINGS) & PLACES[usize::from(*byte)];
        let begun = reached & (BEGINNINGS << (FIRST - 1));
        if begun != 0 && starts_with_one(text, at + 1 - FIRST, begun) {
            return true;
        }
    }
    false
}

/// Whether one of the words that have a bit in `begun` stands in `text` at `at` and means it.
#[cold]
fn starts_with_one(text: &[u8], at: usize, mut begun: u64) -> bool {
    let (before, text) = text.split_at(at);
    while begun != 0 {
        let word = WORDS[begun.trailing_zeros() as usize / FIRST].as_bytes();
        let is_whole = text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if is_whole && !says_none(&text[word.len()..]) && !denies(before) {
            return true;
        }
        begun &= begun - 1;
    }
    false
}

/// Whether what stands before the word of an error says that there is none: `No syntax errors`, `0
/// failed`, `without error`.
fn denies(before: &[u8]) -> bool {
    let clause =
        before.rsplit(|byte| matches!(byte, b'.' | b';' | b',' | b':' | b'\n' | b'(')).next().unwrap_or_default();
    let mut words = clause.split(u8::is_ascii_whitespace).rev().filter(|word| !word.is_empty()).take(3);
    words.any(|word| [&b"no"[..], b"0", b"zero", b"without"].iter().any(|none| word.eq_ignore_ascii_case(none)))
}

/// Whether what follows the word of an error says that there is none: `Error: (none)`, `"error":
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
        for error in ["Error: 401 Unauthorized", "bash: x: No such file or directory", "ABORTED", long.as_str()] {
            assert!(says_error(error), "{error}");
        }
        let middle = format!("{0} error {0}", "word ".repeat(100));
        for fine in [
            "",
            "ok",
            "3 passed",
            "Error: (none)",
            "{\"error\":null}",
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
        for word in WORDS {
            for written in [word.to_owned(), word.to_uppercase(), format!("nono{word}s")] {
                assert!(says_error(&written), "{written}");
            }
            assert!(!says_error(&word[..word.len() - 1]), "{word}");
        }
    }
}
