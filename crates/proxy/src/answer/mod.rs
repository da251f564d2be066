//! The answer as it passes: a copy is read and kept as evidence. The detector hears of it before the client sees its last
//! bytes, so that it knows of it when the client's next call comes.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use http::response::Parts;
use wire::Answer;

use crate::exchange::Exchange;
use crate::listener::Listener;
use crate::recorded;

/// The answer as it passes.
pub(crate) struct Answering {
    listener: Listener,
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
        let Some(dialect) = self.dialect.or(self.embeds) else { return };
        let (core, is_evidence) = (&self.core, self.is_scored());
        let Some(listener) = core.shield.run(|| Listener::new(dialect, parts, is_evidence)) else { return };
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(copied);
        self.answering = Some(Answering { listener, content_type, framing: Framing::of(&parts.headers) });
        if !parts.status.is_success() {
            self.failed();
        }
    }

    /// `data` is about to be handed on.
    pub(crate) fn answer_passes(&mut self, data: &Bytes) {
        let Some(Answering { listener, .. }) = &mut self.answering else { return };
        if self.core.shield.run(|| listener.hear(data)).is_none() {
            listener.deafen();
        }
        if listener.heard_end() {
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
        let last_words = self.answering.as_ref().and_then(|answering| answering.last_words(why));
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
        self.shelve(&mut answering, false);
        // What cannot be read was answered all the same: taking it for a failure would make every repetition a retry.
        let answer = self.read(answering, true);
        self.settle();
        if answer.error.is_some() {
            return self.failed();
        }
        let answered = answer.answered.unwrap_or_default();
        self.remember(answer.id.as_deref(), &answer.call_items, &answered);
        self.answered(&answered);
    }

    fn answer_is_partial(&mut self) {
        let Some(mut answering) = self.answering.take() else { return self.failed() };
        self.shelve(&mut answering, true);
        self.read(answering, false);
        self.failed();
    }

    fn shelve(&self, answering: &mut Answering, broke_off: bool) {
        if let Some((copy, cut)) = answering.listener.take_copy() {
            self.core.shelf.answer(self.event.id, copy, answering.content_type.take(), cut || broke_off);
        }
    }

    /// What has been read, noted in the event.
    fn read(&mut self, mut answering: Answering, is_whole: bool) -> Answer {
        let (core, listener) = (&self.core, &mut answering.listener);
        // A stream says its tokens early; half a body says nothing, but was paid for. Vectors are not paid by their length.
        let of_body = if is_whole || self.embeds.is_some() { None } else { listener.tokens_of_body() };
        let mut answer = core.shield.run(|| listener.finish()).flatten().unwrap_or_default();
        answer.usage.output = answer.usage.output.or(of_body.filter(|_| answer.answered.is_none()));
        self.note_usage(&answer, is_whole);
        let event = &mut self.event;
        event.model = event.model.take().or_else(|| answer.model.as_deref().map(recorded::model_name));
        event.error = event.error.take().or_else(|| answer.error.as_deref().map(recorded::error_text));
        answer
    }
}

/// A copy, because the original would keep the whole head in memory. What nearly all answers have is no copy of its own.
fn copied(content_type: &HeaderValue) -> Option<HeaderValue> {
    const JSON: &str = "application/json";
    match content_type.as_bytes() {
        json if json == JSON.as_bytes() => Some(HeaderValue::from_static(JSON)),
        other => HeaderValue::from_bytes(other).ok(),
    }
}

impl Answering {
    /// Whether the end of the body cannot be the end of the answer.
    fn breaks_off(&self) -> bool {
        self.framing == Framing::Connection && self.listener.is_stream()
    }

    /// What to tell the client in the stream, if bytes of our own can follow.
    fn last_words(&self, why: &str) -> Option<Bytes> {
        if self.framing == Framing::Closed { None } else { self.listener.last_words(why) }
    }
}
