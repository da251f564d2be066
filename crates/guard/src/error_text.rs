//! Whether a tool's result says that something went wrong. Most formats have no sign for it, so the words must tell.

/// How much is looked at, from each end: tools put the error first, runtimes last.
const EDGE: usize = 200;

/// The words of errors as tools, shells, runtimes and HTTP write them, in lower case.
const WORDS: [&str; 20] = [
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
];

/// Whether `result` begins or ends with the words of an error.
pub(crate) fn says_error(result: &str) -> bool {
    let text = result.trim();
    let head = &text[..text.floor_char_boundary(EDGE)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(EDGE)).max(head.len())..];
    [head, tail].iter().any(|edge| {
        let edge = edge.to_ascii_lowercase();
        WORDS.iter().any(|word| edge.contains(word))
    })
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
        for fine in ["", "ok", "3 passed", "é".repeat(300).as_str(), middle.as_str()] {
            assert!(!says_error(fine), "{fine}");
        }
    }
}
