//! Paths with dot segments. A provider, or a gateway before it, may resolve `..` after decoding it:
//! the call would leave the provider's base URL, or reach a chat endpoint under a path that does
//! not look like one.

/// Whether a segment of `path` decodes to `.` or `..`: encoded any number of times, with encoded
/// slashes and backslashes, before a `;` and between blanks.
pub(crate) fn has_dot_segments(path: &str) -> bool {
    // Nearly no path has a dot outside of a name.
    if !path.contains('.') && !path.contains('%') {
        return false;
    }
    let mut segment = Segment::default();
    let mut rest = path.as_bytes();
    while let Some((byte, after)) = decoded(rest) {
        if matches!(byte, b'/' | b'\\') {
            if segment.is_dots() {
                return true;
            }
            segment = Segment::default();
        } else {
            segment.push(byte);
        }
        rest = after;
    }
    segment.is_dots()
}

/// The first byte of `path` with its percent encoding decoded, and the rest. `%252e` is `.` too,
/// for a server that decodes twice.
fn decoded(path: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, after) = path.split_first()?;
    if first != b'%' {
        return Some((first, after));
    }
    let mut digits = after;
    while let Some(nested) = digits.strip_prefix(b"25") {
        digits = nested;
    }
    match digits {
        [high, low, rest @ ..] => match (hex(*high), hex(*low)) {
            (Some(high), Some(low)) => Some((high << 4 | low, rest)),
            _ => Some((first, after)),
        },
        _ => Some((first, after)),
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// The state of a segment.
#[derive(Default)]
struct Segment {
    dots: usize,
    has_other: bool,
    /// After a `;`: servers cut parameters off before they resolve the segment.
    is_over: bool,
}

impl Segment {
    fn push(&mut self, byte: u8) {
        match byte {
            _ if self.is_over => {}
            b';' => self.is_over = true,
            b'.' => self.dots += 1,
            // Some servers trim blanks and control characters.
            0..=b' ' | 0x7f => {}
            _ => self.has_other = true,
        }
    }

    fn is_dots(&self) -> bool {
        !self.has_other && matches!(self.dots, 1 | 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_segments_are_seen_however_they_are_written() {
        for path in [
            "/..",
            "/../v1/models",
            "/v1/../admin",
            "/v1/./models",
            "/v1/.",
            "/v1/%2e%2e/x",
            "/v1/%2E%2e/x",
            "/v1/.%2e/x",
            "/v1/%2e./x",
            "/v1%2f..%2fx",
            "/v1%2F%2e%2E%2Fx",
            "/v1\\..\\x",
            "/v1%5c..%5Cx",
            "/v1/..%5cx",
            "/v1/%252e%252e/x",
            "/v1/%25252e%25252e%25252fx",
            "/v1/..;/x",
            "/v1/..;a=b/x",
            "/v1/%2e%2e%3bx/y",
            "/v1/..%00/x",
            "/v1/..%20/x",
            "/v1/%09../x",
            "..",
        ] {
            assert!(has_dot_segments(path), "{path}");
        }
    }

    #[test]
    fn dots_inside_names_are_not_segments() {
        for path in [
            "",
            "/",
            "//",
            "/v1/models/gpt-4.1",
            "/v1/models/gemini-2.5-pro:generateContent",
            "/v1/files/.hidden",
            "/v1/files/a..b",
            "/v1/files/...",
            "/v1/files/a.",
            "/v1/files/..a",
            "/v1/files/a%2Fb",
            "/v1/files/a%2eb",
            "/v1/%zz/%2",
            "/v1/100%",
            "/v1;x=../y",
        ] {
            assert!(!has_dot_segments(path), "{path}");
        }
    }

    #[test]
    fn a_long_path_of_nested_encodings_is_read_once() {
        let path = format!("/{}2e", "%25".repeat(1 << 20));
        assert!(!has_dot_segments(&path));
    }
}
