//! Listens to an answer: what was decoded is read by `wire` and copied as evidence, up to their limits.

use std::io;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::response::Parts;
use wire::{Answer, AnswerReader, Dialect};

use crate::answer_decoder::Decoder;
use crate::decoding::Encoding;
use crate::evidence::MAX_RESPONSE;

/// How much of an answer is read.
const MAX_READ: usize = 8 << 20;
/// How far a compressed answer is followed: a stream may be long, one that swells is not worth it.
const MAX_DECODED: usize = 64 << 20;

/// Listens to an answer.
pub(crate) struct Listener {
    decoder: Decoder<Ears>,
}

/// What listens behind the decoder.
struct Ears {
    reader: Option<AnswerReader>,
    copy: Option<Vec<u8>>,
    cut: bool,
    left: usize,
}

impl Listener {
    /// Listens to the answer with this head; keeps a copy if it is to be evidence.
    pub(crate) fn new(dialect: Dialect, parts: &Parts, is_evidence: bool) -> Listener {
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let encoding = Encoding::of(&parts.headers);
        let is_answer = parts.status.is_success();
        let ears = |reader| Ears {
            reader,
            copy: is_evidence.then(|| Vec::with_capacity(length.unwrap_or(0).min(MAX_RESPONSE))),
            cut: false,
            left: if encoding == Some(Encoding::Identity) { usize::MAX } else { MAX_DECODED },
        };
        let decoder = match encoding {
            None | Some(Encoding::Identity) => {
                Ok(Decoder::Plain(ears(is_answer.then(|| AnswerReader::new(dialect, &parts.headers, MAX_READ)))))
            }
            Some(encoding) => {
                let headers = decoded_headers(&parts.headers);
                let reader = is_answer.then(|| AnswerReader::new(dialect, &headers, MAX_READ));
                Decoder::new(encoding, ears(reader))
            }
        };
        Listener { decoder: decoder.unwrap_or_else(|_| Decoder::Plain(ears(None))) }
    }

    /// Takes the next bytes. What cannot be decoded is not listened to any further.
    pub(crate) fn hear(&mut self, data: &[u8]) {
        if self.decoder.pass(data).is_err() {
            self.deafen();
        }
    }

    /// Reads no more: what has been heard is all there is.
    pub(crate) fn deafen(&mut self) {
        let ears = self.decoder.sink_mut();
        ears.reader = None;
        ears.left = 0;
        ears.cut = true;
    }

    /// Whether a stream's terminal event has passed.
    pub(crate) fn heard_end(&self) -> bool {
        self.reader().is_some_and(AnswerReader::saw_end)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.reader().is_some_and(AnswerReader::is_stream)
    }

    /// About how many tokens have come, if this is the body of an answer and no stream.
    pub(crate) fn tokens_of_body(&self) -> Option<u64> {
        self.reader().and_then(AnswerReader::body).map(wire::body_tokens)
    }

    /// What tells the client of a stream that its provider died, if that can be told in it.
    pub(crate) fn last_words(&self, why: &str) -> Option<Bytes> {
        self.reader().and_then(|reader| reader.stream_error(why))
    }

    /// The copy, and whether it is only the beginning.
    pub(crate) fn take_copy(&mut self) -> Option<(Vec<u8>, bool)> {
        let ears = self.decoder.sink_mut();
        ears.copy.take().map(|copy| (copy, ears.cut))
    }

    /// What was read; none if nothing could be.
    pub(crate) fn finish(&mut self) -> Option<Answer> {
        self.decoder.sink_mut().reader.take().map(AnswerReader::finish)
    }

    fn reader(&self) -> Option<&AnswerReader> {
        self.decoder.sink().reader.as_ref()
    }
}

impl io::Write for Ears {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(data.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        if let Some(reader) = &mut self.reader {
            reader.feed(data);
        }
        if let Some(copy) = &mut self.copy {
            let room = MAX_RESPONSE - copy.len();
            copy.extend_from_slice(&data[..data.len().min(room)]);
            self.cut |= data.len() > room;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The headers of the body behind its encoding, as far as reading it needs them.
fn decoded_headers(headers: &HeaderMap) -> HeaderMap {
    headers.get(CONTENT_TYPE).map(|value| (CONTENT_TYPE, value.clone())).into_iter().collect()
}
