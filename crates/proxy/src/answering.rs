//! The answer as it passes: a copy is read and kept as evidence. The detector hears of it before the client sees its last
//! bytes, so that it knows of it when the client's next call comes.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use http::response::Parts;
use wire::{Answer, AnswerReader};

use crate::evidence::MAX_RESPONSE;
use crate::exchange::Exchange;

/// How much text of an answer is read.
const MAX_TEXT: usize = 8 << 20;

/// The answer as it passes.
pub(crate) struct Answering {
    reader: Option<AnswerReader>,
    copy: Option<Vec<u8>>,
    cut: bool,
    content_type: Option<HeaderValue>,
    framing: Framing,
}

/// How the body says where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// With a length, or inside an encoding: nothing can be added.
    Closed,
    /// In chunks.
    Chunks,
    /// With the connection, as also a provider that dies ends it.
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

impl Exchange {
    /// The answer begins. Its headers are as the provider sent them.
    pub(crate) fn answer_begins(&mut self, parts: &Parts) {
        self.event.status = Some(parts.status.as_u16());
        self.event.first_byte_ms = Some(self.elapsed());
        let Some(dialect) = self.dialect else { return };
        let core = &self.core;
        let reader = match parts.status.is_success() {
            true => core.shield.run(|| AnswerReader::new(dialect, &parts.headers, MAX_TEXT)),
            false => None,
        };
        let content_type =
            parts.headers.get(CONTENT_TYPE).and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok());
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        self.answering = Some(Answering {
            reader,
            copy: self.is_scored().then(|| Vec::with_capacity(length.unwrap_or(0).min(MAX_RESPONSE))),
            cut: false,
            content_type,
            framing: Framing::of(&parts.headers),
        });
        if !parts.status.is_success() {
            self.failed();
        }
    }

    /// `data` is about to be handed on.
    pub(crate) fn answer_passes(&mut self, data: &Bytes) {
        let Some(answering) = &mut self.answering else { return };
        answering.keep(data);
        let Some(mut reader) = answering.reader.take() else { return };
        let core = &self.core;
        let Some(reader) = core.shield.run(move || {
            reader.feed(data);
            reader
        }) else {
            return;
        };
        let saw_end = reader.saw_end();
        answering.reader = Some(reader);
        if saw_end {
            self.answer_is_whole();
        }
    }

    /// The body came to its end. `false`: the answer did not.
    pub(crate) fn answer_ends(&mut self) -> bool {
        let broken = self.answering.as_ref().is_some_and(Answering::breaks_off);
        if !broken {
            self.answer_is_whole();
            self.record();
        }
        !broken
    }

    /// The provider died or went silent in the middle. What to tell the client in the stream, if that can be done.
    pub(crate) fn answer_breaks_off(&mut self, why: &str) -> Option<Bytes> {
        let last_words = self.dialect.zip(self.answering.as_ref()).and_then(|(dialect, answering)| {
            let reader = answering.reader.as_ref().filter(|_| answering.can_be_told())?;
            Some(wire::stream_error(dialect, why, reader.ends_between_events()))
        });
        self.event.error = Some(why.to_owned());
        self.answer_is_partial();
        self.record();
        last_words
    }

    /// Nobody listens any more. `true`: the answer had come to its own end by then.
    pub(crate) fn answer_is_abandoned(&mut self) -> bool {
        let whole = self.event.status.is_some() && self.answering.is_none() && self.dialect.is_some();
        self.answer_is_partial();
        whole
    }

    /// All that matters has been read: a stream's terminal event has passed, or the body has ended.
    fn answer_is_whole(&mut self) {
        let Some(mut answering) = self.answering.take() else { return };
        self.shelve(&mut answering);
        // What cannot be read was answered all the same: taking it for a failure would make every repetition a retry.
        let answer = self.read(answering).unwrap_or_default();
        match answer.error {
            None => self.answered(&answer.answered.unwrap_or_default()),
            Some(_) => self.failed(),
        }
    }

    fn answer_is_partial(&mut self) {
        let Some(mut answering) = self.answering.take() else { return self.failed() };
        answering.cut = true;
        self.shelve(&mut answering);
        // A stream says its tokens early; half a body says nothing.
        if answering.is_stream() {
            self.read(answering);
        }
        self.failed();
    }

    fn shelve(&self, answering: &mut Answering) {
        if let Some(copy) = answering.copy.take() {
            self.core.shelf.answer(self.event.id, copy, answering.content_type.take(), answering.cut);
        }
    }

    /// What the reader has read, noted in the event.
    fn read(&mut self, answering: Answering) -> Option<Answer> {
        let reader = answering.reader?;
        let core = &self.core;
        let mut answer = core.shield.run(|| reader.finish())?;
        self.event.usage = answer.usage;
        self.event.model = self.event.model.take().or(answer.model.take());
        if self.event.error.is_none() {
            self.event.error.clone_from(&answer.error);
        }
        Some(answer)
    }
}

impl Answering {
    fn keep(&mut self, data: &[u8]) {
        let Some(copy) = &mut self.copy else { return };
        let room = MAX_RESPONSE - copy.len();
        copy.extend_from_slice(&data[..data.len().min(room)]);
        self.cut |= data.len() > room;
    }

    fn is_stream(&self) -> bool {
        self.reader.as_ref().is_some_and(AnswerReader::is_stream)
    }

    /// Whether the end of the body cannot be the end of the answer.
    fn breaks_off(&self) -> bool {
        self.framing == Framing::Connection && self.is_stream()
    }

    /// Whether bytes of our own can follow.
    fn can_be_told(&self) -> bool {
        self.framing != Framing::Closed && self.is_stream()
    }
}
