//! Reads a copy of an answer as it passes: the decoded bytes go to `wire` and to the evidence, up
//! to their limits.

use std::io;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use http::response::Parts;
use wire::{Answer, AnswerReader, Dialect};

use super::decoder::Decoder;
use crate::encoding::Encoding;
use crate::evidence::cache::MAX_RESPONSE;

/// The most bytes of an answer that are read.
const MAX_READ: usize = 8 << 20;
/// The most decoded bytes of a compressed answer. A stream may be long; one that expands further is
/// not read.
const MAX_DECODED: usize = 64 << 20;

/// Reads a copy of an answer.
pub(crate) struct Observer {
    decoder: Decoder<Sink>,
    content_type: Option<HeaderValue>,
    framing: Framing,
}

/// Receives the decoded bytes.
struct Sink {
    reader: Option<AnswerReader>,
    copy: Option<Vec<u8>>,
    is_cut: bool,
    /// The number of bytes it still accepts.
    left: usize,
}

/// How the end of a body is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// With a length, or inside an encoding: no bytes can be added.
    Closed,
    /// In chunks.
    Chunks,
    /// By closing the connection, which also happens when the provider dies.
    Connection,
}

impl Framing {
    fn of(headers: &HeaderMap) -> Framing {
        if headers.contains_key(CONTENT_LENGTH) || headers.contains_key(CONTENT_ENCODING) {
            Framing::Closed
        } else if headers.contains_key(TRANSFER_ENCODING) {
            Framing::Chunks
        } else {
            Framing::Connection
        }
    }
}

impl Observer {
    /// Observes the answer with this head; keeps a copy if `is_evidence`.
    pub(crate) fn new(dialect: Dialect, parts: &Parts, is_evidence: bool) -> Observer {
        let headers = &parts.headers;
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let encoding = Encoding::of(headers);
        let reads = |headers| parts.status.is_success().then(|| AnswerReader::new(dialect, headers, MAX_READ));
        let sink = |reader| Sink {
            reader,
            copy: is_evidence.then(|| Vec::with_capacity(length.unwrap_or(0).min(MAX_RESPONSE))),
            is_cut: false,
            left: if encoding == Some(Encoding::Identity) { usize::MAX } else { MAX_DECODED },
        };
        let decoder = match encoding {
            None | Some(Encoding::Identity) => Ok(Decoder::Plain(sink(reads(headers)))),
            Some(encoding) => Decoder::new(encoding, sink(reads(&decoded_headers(headers)))),
        };
        Observer {
            decoder: decoder.unwrap_or_else(|_| Decoder::Plain(sink(None))),
            content_type: headers.get(CONTENT_TYPE).and_then(copied),
            framing: Framing::of(headers),
        }
    }

    /// Reads the next bytes. Stops if they cannot be decoded.
    pub(crate) fn read(&mut self, data: &[u8]) {
        if self.decoder.pass(data).is_err() {
            self.stop_reading();
        }
    }

    /// Stops reading and keeps the partial copy.
    pub(crate) fn stop_reading(&mut self) {
        let sink = self.decoder.sink_mut();
        sink.reader = None;
        sink.left = 0;
        sink.is_cut = true;
    }

    /// Whether a stream's last event has passed.
    pub(crate) fn saw_end(&self) -> bool {
        self.reader().is_some_and(AnswerReader::saw_end)
    }

    /// Whether the end of the connection cannot be the end of the answer.
    pub(crate) fn must_not_end_here(&self) -> bool {
        self.framing == Framing::Connection && self.reader().is_some_and(AnswerReader::is_stream)
    }

    /// The approximate number of tokens so far, for a body that is not a stream.
    pub(crate) fn tokens_of_body(&self) -> Option<u64> {
        self.reader().and_then(AnswerReader::body).map(wire::body_tokens)
    }

    /// An error event for the client of a stream, if bytes can be added to it.
    pub(crate) fn stream_error(&self, why: &str) -> Option<Bytes> {
        let reader = self.reader().filter(|_| self.framing != Framing::Closed);
        reader.and_then(|reader| reader.stream_error(why))
    }

    /// The copy, and whether it was cut.
    pub(crate) fn take_copy(&mut self) -> Option<(Vec<u8>, bool)> {
        let sink = self.decoder.sink_mut();
        sink.copy.take().map(|copy| (copy, sink.is_cut))
    }

    pub(crate) fn take_content_type(&mut self) -> Option<HeaderValue> {
        self.content_type.take()
    }

    /// The answer as far as it was read; `None` if it was unreadable.
    pub(crate) fn finish(&mut self) -> Option<Answer> {
        self.decoder.sink_mut().reader.take().map(AnswerReader::finish)
    }

    fn reader(&self) -> Option<&AnswerReader> {
        self.decoder.sink().reader.as_ref()
    }
}

impl io::Write for Sink {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(data.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        if let Some(reader) = &mut self.reader {
            reader.feed(data);
        }
        if let Some(copy) = &mut self.copy {
            let left = MAX_RESPONSE - copy.len();
            copy.extend_from_slice(&data[..data.len().min(left)]);
            self.is_cut |= data.len() > left;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The headers of the decoded body that reading it needs.
fn decoded_headers(headers: &HeaderMap) -> HeaderMap {
    headers.get(CONTENT_TYPE).map(|value| (CONTENT_TYPE, value.clone())).into_iter().collect()
}

/// A copy, because the original would keep the whole head in memory. The most frequent value needs
/// no allocation.
fn copied(content_type: &HeaderValue) -> Option<HeaderValue> {
    const JSON: &str = "application/json";
    match content_type.as_bytes() {
        json if json == JSON.as_bytes() => Some(HeaderValue::from_static(JSON)),
        other => HeaderValue::from_bytes(other).ok(),
    }
}
