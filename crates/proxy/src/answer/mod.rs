//! The answer side of a call: bytes pass to the client as they come, and a copy is read and kept as
//! evidence. The detector gets the answer before the client gets its last bytes, so that the
//! client's next call is judged with it.

pub(crate) mod body;
mod coalesce;
mod decoder;
mod error_body;
pub(crate) mod expected;
mod observer;
pub(crate) mod tee;
pub(crate) mod usage;

use bytes::Bytes;
use http::response::Parts;
use wire::Answer;

use self::error_body::ErrorBody;
use self::expected::{Content, Expected};
use self::observer::Observer;
use self::usage::note_usage;
use crate::call::Call;
use crate::truncate;

/// A call whose answer is passing to the client.
pub(crate) struct Answering {
    call: Box<Call>,
    expected: Expected,
    /// Reads the answer, until it is complete. Boxed, because it is moved several times before it
    /// begins to read.
    observer: Option<Box<Observer>>,
    /// Reads the provider's message, if the answer is an error.
    error_body: Option<Box<ErrorBody>>,
    /// Whether the answer was complete when its last event passed; the end of the body may follow
    /// later.
    is_complete: bool,
}

impl Answering {
    /// Begins the answer. `parts` is as the provider sent it.
    pub(crate) fn begin(mut call: Box<Call>, expected: Expected, parts: &Parts) -> Answering {
        call.event.status = Some(parts.status.as_u16());
        call.event.first_byte_ms = Some(call.elapsed());
        call.sent_tokens = None;
        let (core, is_evidence) = (&call.core, call.awaits_outcome());
        let observe = |dialect| core.catch_panic.run(|| Box::new(Observer::new(dialect, parts, is_evidence)));
        let observer = expected.content.dialect().and_then(observe);
        if observer.is_some() && !parts.status.is_success() {
            call.report_failure();
        }
        Answering { call, expected, observer, error_body: ErrorBody::new(parts), is_complete: false }
    }

    /// Reads `data`, which is about to be passed on.
    fn observe(&mut self, data: &Bytes) {
        self.read_error(data);
        let Some(observer) = &mut self.observer else { return };
        if self.call.core.catch_panic.run(|| observer.read(data)).is_none() {
            observer.stop_reading();
        }
        if observer.saw_end() {
            self.complete();
        }
    }

    fn read_error(&mut self, data: &Bytes) {
        let Some(error_body) = &mut self.error_body else { return };
        if self.call.core.catch_panic.run(|| error_body.read(data)) != Some(true) {
            self.note_error();
        }
    }

    /// Adds the provider's message to the event. It replaces a note on why the call has no score,
    /// because the error of a failed call matters more.
    fn note_error(&mut self) {
        let Some(error_body) = self.error_body.take() else { return };
        let message = self.call.core.catch_panic.run(|| error_body.message()).flatten();
        self.call.event.error = message.or(self.call.event.error.take());
    }

    /// Ends the body. Returns `false` if the answer in it is incomplete.
    fn end(&mut self) -> bool {
        let is_broken = self.observer.as_ref().is_some_and(|observer| observer.must_not_end_here());
        if !is_broken {
            self.note_error();
            self.complete();
            self.call.record();
        }
        !is_broken
    }

    /// Ends an answer whose provider died or went silent before the end. Returns an error for the
    /// client, if the stream can still carry one.
    fn break_off(&mut self, why: &str) -> Option<Bytes> {
        let error = self.observer.as_ref().and_then(|observer| observer.stream_error(why));
        self.call.event.error = Some(why.to_owned());
        self.read_partial();
        self.call.record();
        error
    }

    /// Completes the answer: the last event of a stream has passed, or the body has ended.
    fn complete(&mut self) {
        let Some(mut observer) = self.observer.take() else { return };
        self.is_complete = matches!(self.expected.content, Content::Conversation(_));
        self.keep_evidence(&mut observer, false);
        // An unreadable answer still counts as an answer: counted as a failure, it would make every
        // repetition a retry.
        let answer = self.read(observer, true);
        self.call.settle();
        if answer.error.is_some() {
            return self.call.report_failure();
        }
        if let Some(link) = self.expected.link.take() {
            self.call.core.chains.lock().remember(&self.call.event.agent, *link, &answer);
        }
        let answered = answer.answered.unwrap_or_default();
        if let Some(run) = self.expected.run {
            self.call.core.rebuilt.lock().answered(run, &answered);
        }
        self.call.report_answer(&answered);
    }

    /// Reads an answer that ends before it is complete.
    fn read_partial(&mut self) {
        if let Some(mut observer) = self.observer.take() {
            self.keep_evidence(&mut observer, true);
            self.read(observer, false);
        }
        self.call.report_failure();
    }

    fn keep_evidence(&self, observer: &mut Observer, broke_off: bool) {
        if let Some((copy, is_cut)) = observer.take_copy() {
            let content_type = observer.take_content_type();
            self.call.core.evidence.answer(self.call.event.id, copy, content_type, is_cut || broke_off);
        }
    }

    /// Reads the answer as far as it came, and adds it to the event.
    fn read(&mut self, mut observer: Box<Observer>, is_whole: bool) -> Answer {
        let is_embedding = matches!(self.expected.content, Content::Embeddings(_));
        // A stream reports its tokens early; half a body reports none, but costs money. Embeddings
        // are not charged by their length.
        let of_body = if is_whole || is_embedding { None } else { observer.tokens_of_body() };
        let mut answer = self.call.core.catch_panic.run(|| observer.finish()).flatten().unwrap_or_default();
        answer.usage.output = answer.usage.output.or(of_body.filter(|_| answer.answered.is_none()));
        note_usage(&mut self.call, &self.expected, &answer, is_whole);
        let event = &mut self.call.event;
        event.model = event.model.take().or_else(|| answer.model.as_deref().map(truncate::model_name));
        event.error = event.error.take().or_else(|| answer.error.as_deref().map(wire::error_excerpt));
        answer
    }
}

/// The client disconnected in the middle of the answer, unless the answer was complete.
impl Drop for Answering {
    fn drop(&mut self) {
        self.note_error();
        if self.is_complete {
            self.call.record();
        } else if self.observer.is_some() {
            self.read_partial();
        }
    }
}
