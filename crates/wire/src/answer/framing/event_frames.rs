//! Splits a stream of AWS event-stream frames, the binary form of Bedrock's streams.
//!
//! A frame has the lengths of itself and of its headers, a checksum, the headers, the payload and
//! another checksum. The checksums are not verified: the bytes are a copy of what TCP delivered.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::json::Json;

/// The largest frame that is read, in bytes. Larger ones are skipped.
const MAX_FRAME: usize = 1 << 20;

/// Both lengths and their checksum.
const PRELUDE: usize = 12;

/// The checksum at the end of a frame.
const CHECKSUM: usize = 4;

/// Splits a stream.
#[derive(Debug, Default)]
pub(crate) struct FrameParser {
    /// The beginning of the current frame.
    frame: Vec<u8>,
    /// The rest of a frame that is too large.
    skipped: usize,
    /// Whether a length was impossible, so that the start of the next frame is unknown.
    is_broken: bool,
}

impl FrameParser {
    /// Reads the next bytes and reports the payload of every frame that they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut on_event: impl FnMut(&[u8])) {
        while !bytes.is_empty() && !self.is_broken {
            let (taken, rest) = bytes.split_at(self.missing().min(bytes.len()));
            bytes = rest;
            if self.skipped > 0 {
                self.skipped -= taken.len();
                continue;
            }
            self.frame.extend_from_slice(taken);
            if self.frame.len() == PRELUDE {
                self.begin_frame();
            } else if self.frame.len() > PRELUDE && self.missing() == 0 {
                self.end_frame(&mut on_event);
            }
        }
    }

    /// The number of bytes until the next step: to the end of the prelude, then of the frame.
    fn missing(&self) -> usize {
        if self.skipped > 0 {
            return self.skipped;
        }
        let end = if self.frame.len() < PRELUDE { PRELUDE } else { self.length_at(0) };
        end.saturating_sub(self.frame.len())
    }

    /// Checks the lengths of a frame whose prelude is complete.
    fn begin_frame(&mut self) {
        let (length, headers) = (self.length_at(0), self.length_at(4));
        if length < PRELUDE + CHECKSUM || headers > length - PRELUDE - CHECKSUM {
            self.is_broken = true;
        } else if length > MAX_FRAME {
            self.skipped = length - PRELUDE;
            self.frame.clear();
        }
    }

    fn end_frame(&mut self, on_event: &mut impl FnMut(&[u8])) {
        let (headers, payload) = self.frame[PRELUDE..self.frame.len() - CHECKSUM].split_at(self.length_at(4));
        if is_exception(headers) {
            on_event(&[b"{\"error\":", payload, b"}"].concat());
        } else {
            on_event(&unwrap_chunk(payload));
        }
        self.frame.clear();
    }

    /// The big-endian length at this offset of the prelude.
    fn length_at(&self, at: usize) -> usize {
        let bytes = self.frame.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes) as usize)
    }
}

/// Whether the headers say that the frame reports an error.
fn is_exception(mut headers: &[u8]) -> bool {
    while let Some((name, value, rest)) = split_header(headers) {
        if name == b":message-type" {
            return value == b"exception" || value == b"error";
        }
        headers = rest;
    }
    false
}

/// Splits off the first header: its name, the bytes of its value, and the rest.
fn split_header(headers: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (&length, rest) = headers.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(length))?;
    let (&kind, rest) = rest.split_first()?;
    let (length, rest) = match kind {
        0 | 1 => (0, rest),
        2 => (1, rest),
        3 => (2, rest),
        4 => (4, rest),
        5 | 8 => (8, rest),
        9 => (16, rest),
        6 | 7 => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(length)?;
    Some((name, value, rest))
}

/// The event inside a payload of `invoke-with-response-stream`: `{"bytes":"…"}` holds the model's
/// own event in Base64. Any other payload is the event itself.
fn unwrap_chunk(payload: &[u8]) -> Cow<'_, [u8]> {
    let text = simdutf8::basic::from_utf8(payload).ok();
    let bytes = text.and_then(|text| Json::parse(text).ok()).and_then(|json| json.field("bytes"));
    let decoded = bytes.and_then(Json::text).and_then(|encoded| STANDARD.decode(&*encoded).ok());
    decoded.map_or(Cow::Borrowed(payload), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut written = Vec::new();
        for (name, value) in headers {
            written.extend([name.len() as u8]);
            written.extend(name.as_bytes());
            written.extend([7]);
            written.extend((value.len() as u16).to_be_bytes());
            written.extend(value.as_bytes());
        }
        let length = (PRELUDE + written.len() + payload.len() + CHECKSUM) as u32;
        let prelude = [length.to_be_bytes(), (written.len() as u32).to_be_bytes(), [0; 4]].concat();
        [&prelude, &written[..], payload.as_bytes(), &[0; 4]].concat()
    }

    fn events(stream: &[u8], size: usize) -> Vec<String> {
        let (mut parser, mut events) = (FrameParser::default(), Vec::new());
        for piece in stream.chunks(size) {
            parser.feed(piece, |event| events.push(String::from_utf8_lossy(event).into_owned()));
        }
        events
    }

    #[test]
    fn frames_are_the_same_however_they_are_sliced() {
        let event = [(":event-type", "contentBlockDelta"), (":message-type", "event")];
        let chunk = STANDARD.encode(r#"{"type":"ping"}"#);
        let stream = [
            frame(&event, r#"{"a":1}"#),
            frame(&[], ""),
            frame(&event, &format!(r#"{{"bytes":"{chunk}"}}"#)),
            frame(
                &[(":exception-type", "throttlingException"), (":message-type", "exception")],
                r#"{"message":"slow"}"#,
            ),
        ]
        .concat();
        for size in 1..=stream.len() {
            let expected = [r#"{"a":1}"#, "", r#"{"type":"ping"}"#, r#"{"error":{"message":"slow"}}"#];
            assert_eq!(events(&stream, size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_frame_over_the_limit_is_skipped() {
        let stream = [frame(&[], &"x".repeat(MAX_FRAME)), frame(&[], "next")].concat();
        for size in [stream.len(), MAX_FRAME, 4099] {
            assert_eq!(events(&stream, size), ["next"], "in pieces of {size}");
        }
    }

    #[test]
    fn an_impossible_length_ends_the_reading() {
        for prelude in [[0, 0, 0, 15, 0, 0, 0, 0], [0, 0, 0, 20, 0, 0, 0, 5]] {
            let stream = [&prelude[..], &[0; 4], &frame(&[], "next")].concat();
            assert!(events(&stream, 5).is_empty(), "{prelude:?}");
        }
    }

    #[test]
    fn headers_of_every_type_are_skipped() {
        let mut headers = Vec::new();
        for (kind, length) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (5, 8), (8, 8), (9, 16)] {
            headers.extend([1, b'x', kind]);
            headers.extend(vec![7; length]);
        }
        headers.extend([1, b'y', 6, 0, 2, 1, 2]);
        headers.extend(b"\x0d:message-type\x07\x00\x05error");
        assert!(is_exception(&headers));
        assert!(!is_exception(&headers[..headers.len() - 1]));
        assert!(!is_exception(b"\x01x\x0a"));
    }
}
