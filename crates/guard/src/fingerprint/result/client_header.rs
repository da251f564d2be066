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
        for none in ["", "Output:\nx", "Chunk ID: 1", "process exited with code 1"] {
            assert_eq!(without_header(none), none);
            assert_eq!(has_failed(none), None, "{none}");
        }
    }
}
