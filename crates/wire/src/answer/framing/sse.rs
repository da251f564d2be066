//! Splits a stream of server-sent events. An event that arrives in one piece is not copied; a cut
//! one is copied into buffers that are reused.
//!
//! Names (`event:`) and ids are ignored: in every dialect the data says what the event is.

use memchr::memchr2;

/// The largest event that is read, in bytes without line ends. Larger ones are skipped.
const MAX_EVENT: usize = 1 << 20;

/// Splits a stream.
#[derive(Debug, Default)]
pub(crate) struct EventParser {
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// The data of the current event that had to be copied.
    data: Vec<u8>,
    /// Whether `data` holds a line, which may be empty.
    has_data: bool,
    /// The current event's length so far.
    size: usize,
    /// Whether the last byte was a carriage return. A line feed then belongs to it.
    after_return: bool,
    /// Whether the first line has passed. Only that one may start with a byte order mark.
    begun: bool,
}

impl EventParser {
    /// Reads the next bytes and reports the data of every event that they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut on_event: impl FnMut(&[u8])) {
        if !bytes.is_empty() && std::mem::take(&mut self.after_return) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        // The data of the current event while it is a single line of these bytes.
        let mut in_place = None;
        while let Some((line, rest)) = self.split_line(bytes) {
            bytes = rest;
            if self.begun && self.line.is_empty() {
                self.size += line.len();
                self.take_line(line, &mut in_place, &mut on_event);
            } else {
                self.take_cut_line(line, &mut on_event);
            }
        }
        self.append(in_place);
        self.buffer(bytes);
    }

    /// Whether the last byte ended an event.
    pub(crate) fn is_between_events(&self) -> bool {
        self.size == 0
    }

    /// Ends the stream. Clients accept a last event without its empty line, so it is reported too.
    pub(crate) fn finish(&mut self, on_event: impl FnMut(&[u8])) {
        self.after_return = false;
        self.feed(b"\n\n", on_event);
    }

    /// Splits off the first complete line, without its line end.
    fn split_line<'b>(&mut self, bytes: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
        let end = memchr2(b'\n', b'\r', bytes)?;
        let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
        if bytes[end] == b'\n' {
            return Some((line, rest));
        }
        self.after_return = rest.is_empty();
        Some((line, rest.strip_prefix(b"\n").unwrap_or(rest)))
    }

    fn take_line<'l>(&mut self, line: &'l [u8], in_place: &mut Option<&'l [u8]>, on_event: &mut impl FnMut(&[u8])) {
        if line.is_empty() {
            return self.dispatch(in_place.take(), on_event);
        }
        let Some(value) = data_of(line) else { return };
        if self.has_data || in_place.is_some() {
            self.append(in_place.take());
            self.append(Some(value));
        } else {
            *in_place = Some(value);
        }
    }

    /// Reads a line that began in earlier bytes, or the first line of the stream.
    fn take_cut_line(&mut self, end: &[u8], on_event: &mut impl FnMut(&[u8])) {
        self.buffer(end);
        let mut line = std::mem::take(&mut self.line);
        let text = if self.begun { &line[..] } else { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) };
        self.begun = true;
        let mut value = None;
        self.take_line(text, &mut value, on_event);
        self.append(value);
        line.clear();
        self.line = line;
    }

    fn dispatch(&mut self, in_place: Option<&[u8]>, on_event: &mut impl FnMut(&[u8])) {
        let data = in_place.unwrap_or(&self.data);
        if !data.is_empty() && self.size <= MAX_EVENT {
            on_event(data);
        }
        self.data.clear();
        self.has_data = false;
        self.size = 0;
    }

    /// Copies a line of data, because its bytes will be gone or another line follows.
    fn append(&mut self, value: Option<&[u8]>) {
        let Some(value) = value.filter(|_| self.size <= MAX_EVENT) else { return };
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
    }

    /// Buffers a piece of an incomplete line.
    fn buffer(&mut self, piece: &[u8]) {
        self.size += piece.len();
        if self.size <= MAX_EVENT {
            self.line.extend_from_slice(piece);
        } else {
            // The event is skipped, so the rest of the line may pass as a comment.
            self.line.clear();
            self.line.push(b':');
        }
    }
}

/// The value of a `data:` line.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"data")?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of `stream`, fed in pieces of `size` bytes.
    fn events(stream: &[u8], size: usize) -> Vec<String> {
        let mut parser = EventParser::default();
        let mut events = Vec::new();
        for piece in stream.chunks(size) {
            parser.feed(piece, |data| events.push(String::from_utf8_lossy(data).into_owned()));
        }
        parser.finish(|data| events.push(String::from_utf8_lossy(data).into_owned()));
        events
    }

    fn check(stream: &str, expected: &[&str]) {
        for size in 1..=stream.len() {
            assert_eq!(events(stream.as_bytes(), size), expected, "{stream:?} in pieces of {size}");
        }
    }

    #[test]
    fn lines_end_in_three_ways() {
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("data: a\r\n\ndata: b\n\r\n", &["a", "b"]);
    }

    #[test]
    fn sse_fields_other_than_data_are_ignored() {
        check(": hello\n\nevent: x\nid: 7\ndata:a\nretry: 1\n\nevent: y\n\n", &["a"]);
        check("database: a\ndatum\n\ndata\n\ndata:\n\n", &[]);
    }

    #[test]
    fn several_lines_of_data_are_one_event() {
        check("data: a\ndata\nevent: x\ndata:  b\n\n", &["a\n\n b"]);
    }

    #[test]
    fn a_byte_order_mark_may_come_first() {
        check("\u{feff}data: a\n\n\u{feff}data: b\n\n", &["a"]);
        check("\u{feff}\n\ndata: b\n\n", &["b"]);
    }

    #[test]
    fn the_last_event_may_lack_its_end() {
        check("data: a\n\ndata: b\n", &["a", "b"]);
        check("data: a\n\ndata: b", &["a", "b"]);
        check("data: a\r", &["a"]);
    }

    #[test]
    fn sse_event_over_the_limit_is_skipped() {
        let stream = format!("data: a\n\ndata: {}\n\ndata: b\n\n", "x".repeat(MAX_EVENT));
        for size in [stream.len(), MAX_EVENT, 4099] {
            assert_eq!(events(stream.as_bytes(), size), ["a", "b"], "in pieces of {size}");
        }
    }

    #[test]
    fn is_between_events_after_a_whole_event() {
        for (stream, expected) in
            [("", true), ("data: a\n\n", true), ("data: a\r\n\r", true), ("data: a\n", false), ("dat", false)]
        {
            let mut parser = EventParser::default();
            parser.feed(stream.as_bytes(), |_| {});
            assert_eq!(parser.is_between_events(), expected, "{stream:?}");
        }
    }
}
