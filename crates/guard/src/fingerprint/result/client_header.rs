//! The header that clients put before the output of a command: an id, how long it took, how it
//! ended. Codex writes `Chunk ID: …`, then `Process exited with code 1`, then `Output:`.

/// How a header begins and ends.
const START: &str = "Chunk ID:";
const END: &str = "\nOutput:";
/// A longer text is not a header.
const LONGEST: usize = 320;
/// The words before the exit code.
const EXITED: &str = "exited with code ";

/// A result without the header, if it has one.
pub(crate) fn without_header(result: &str) -> &str {
    split(result).map_or(result, |(_, output)| output)
}

/// Whether the header says that the command failed; `None` if it does not say how it ended.
pub(crate) fn has_failed(result: &str) -> Option<bool> {
    let (_, code) = split(result)?.0.split_once(EXITED)?;
    Some(code.lines().next() != Some("0"))
}

/// Whether a terminal shows nothing new of a program that still runs: behind the header of Codex,
/// or in the tags that Claude Code writes.
pub(crate) fn runs_silently(result: &str) -> bool {
    match split(result) {
        Some((header, output)) => header.contains("Process running") && output.trim().is_empty(),
        None => {
            let is_short = result.len() <= LONGEST && result.trim_start().starts_with('<');
            is_short && result.contains("<status>running</status>") && !result.contains("<std")
        }
    }
}

fn split(result: &str) -> Option<(&str, &str)> {
    if !result.starts_with(START) {
        return None;
    }
    let end = result[..result.floor_char_boundary(LONGEST)].find(END)?;
    Some((&result[..end], &result[end + END.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_not_part_of_the_output() {
        let result = |code: i32| {
            format!("Chunk ID: 4fe6ad\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\nnpm error x")
        };
        assert_eq!(without_header(&result(1)), "\nnpm error x");
        assert_eq!([0, 1, 127].map(|code| has_failed(&result(code))), [Some(false), Some(true), Some(true)]);
        let running = |output: &str| format!("Chunk ID: 4fe6ad\nProcess running with session ID 7\nOutput:\n{output}");
        assert_eq!(["", "\n", "a"].map(|output| runs_silently(&running(output))), [true, true, false]);
        assert_eq!(["<status>running</status>\n", "running", &result(0)].map(runs_silently), [true, false, false]);
        for none in ["", "Output:\nx", "Chunk ID: 1", "process exited with code 1"] {
            assert_eq!(without_header(none), none);
            assert_eq!(has_failed(none), None, "{none}");
        }
    }
}
