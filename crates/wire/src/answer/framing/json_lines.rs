//! Splits a stream of JSON lines. A line that arrives in one piece is not copied.

use memchr::memchr;

/// The longest line that is read, in bytes. Longer ones are skipped.
const MAX_LINE: usize = 1 << 20;

/// Splits a stream.
#[derive(Debug, Default)]
pub(crate) struct LineParser {
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// The current line's length so far, kept or not.
    size: usize,
}

impl LineParser {
    /// Reads the next bytes and reports every line that they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut on_line: impl FnMut(&[u8])) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.size == 0 && line.len() <= MAX_LINE {
                report(line, &mut on_line);
            } else {
                self.buffer(line);
                report(&self.line, &mut on_line);
            }
            self.line.clear();
            self.size = 0;
            bytes = rest;
        }
        self.buffer(bytes);
    }

    /// Whether the last byte ended a line.
    pub(crate) fn is_between_lines(&self) -> bool {
        self.size == 0
    }

    /// Ends the stream. The last line may lack its line end.
    pub(crate) fn finish(&mut self, on_line: impl FnMut(&[u8])) {
        self.feed(b"\n", on_line);
    }

    fn buffer(&mut self, piece: &[u8]) {
        self.size += piece.len();
        if self.size <= MAX_LINE {
            self.line.extend_from_slice(piece);
        } else {
            self.line.clear();
        }
    }
}

fn report(line: &[u8], on_line: &mut impl FnMut(&[u8])) {
    let line = line.trim_ascii();
    if !line.is_empty() {
        on_line(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(stream: &str, size: usize) -> Vec<String> {
        let (mut parser, mut lines) = (LineParser::default(), Vec::new());
        for piece in stream.as_bytes().chunks(size) {
            parser.feed(piece, |line| lines.push(String::from_utf8_lossy(line).into_owned()));
        }
        parser.finish(|line| lines.push(String::from_utf8_lossy(line).into_owned()));
        lines
    }

    #[test]
    fn lines_are_the_same_however_they_are_sliced() {
        let stream = "{\"a\":1}\n\r\n {\"b\":2}\r\n\n{\"c\":3}";
        for size in 1..=stream.len() {
            assert_eq!(lines(stream, size), ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"], "in pieces of {size}");
        }
    }

    #[test]
    fn line_over_the_limit_is_skipped() {
        let stream = format!("a\n{}\nb\n", "x".repeat(MAX_LINE + 1));
        for size in [stream.len(), MAX_LINE, 4099] {
            assert_eq!(lines(&stream, size), ["a", "b"], "in pieces of {size}");
        }
    }

    #[test]
    fn is_between_lines_after_a_line_end() {
        for (stream, expected) in [("", true), ("a\n", true), ("a\nb", false)] {
            let mut parser = LineParser::default();
            parser.feed(stream.as_bytes(), |_| {});
            assert_eq!(parser.is_between_lines(), expected, "{stream:?}");
        }
    }
}
