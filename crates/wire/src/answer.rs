//! What a model answered, put together from a body or a stream as its bytes pass.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use model::{Answered, Usage};

use crate::Dialect;
use crate::chat_completions::ChatAnswer;
use crate::json::Json;
use crate::messages::MessagesAnswer;
use crate::sse::EventParser;

/// Reads a copy of a response as it passes. Never fails: what cannot be read is left out.
#[derive(Debug)]
pub struct AnswerReader {
    limit: usize,
    is_stream: bool,
    framing: Framing,
    gathered: Gathered,
}

/// What was read of a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What the model said and called; none if the response held no answer that could be read.
    pub answered: Option<Answered>,
    /// Tokens, as reported.
    pub usage: Usage,
    /// The model that answered.
    pub model: Option<String>,
    /// The error that the provider sent inside a stream that began well.
    pub error: Option<String>,
    /// Whether the answer came to its own end (a whole body, a stream's terminal event or last finished choice) and not to
    /// an error.
    pub complete: bool,
}

/// How the bytes are cut into pieces that can be read.
#[derive(Debug)]
enum Framing {
    Events(Box<EventParser>),
    Body(Vec<u8>),
    Unreadable,
}

/// What has been read, by dialect.
#[derive(Debug)]
enum Gathered {
    ChatCompletions(ChatAnswer),
    Messages(MessagesAnswer),
}

impl AnswerReader {
    /// A reader for a successful response with these headers (its content type tells a stream from a body; a content
    /// encoding makes it unreadable). Keeps at most `limit` bytes of text.
    pub fn new(dialect: Dialect, headers: &HeaderMap, limit: usize) -> AnswerReader {
        let is_stream = is_event_stream(headers);
        let framing = match is_encoded(headers) {
            true => Framing::Unreadable,
            false if is_stream => Framing::Events(Box::default()),
            false => Framing::Body(Vec::new()),
        };
        let gathered = match dialect {
            Dialect::ChatCompletions => Gathered::ChatCompletions(ChatAnswer::new(limit)),
            Dialect::Messages => Gathered::Messages(MessagesAnswer::new(limit)),
        };
        AnswerReader { limit, is_stream, framing, gathered }
    }

    /// Whether this is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.framing {
            Framing::Events(parser) => parser.feed(bytes, |data| self.gathered.event(data)),
            Framing::Body(body) if body.len() + bytes.len() <= self.limit => body.extend_from_slice(bytes),
            Framing::Body(_) => self.framing = Framing::Unreadable,
            Framing::Unreadable => {}
        }
    }

    /// Whether a stream's terminal event has passed: the client may act on it before the connection ends.
    pub fn saw_end(&self) -> bool {
        self.gathered.saw_end()
    }

    /// Whether the bytes so far end between two events of a stream: the next one can follow as it is. A stream that
    /// cannot be read never says so.
    pub fn ends_between_events(&self) -> bool {
        matches!(&self.framing, Framing::Events(parser) if parser.is_between_events())
    }

    /// What was read.
    pub fn finish(mut self) -> Answer {
        match self.framing {
            Framing::Events(mut parser) => parser.finish(|data| self.gathered.event(data)),
            Framing::Body(body) => self.gathered.body(&body),
            Framing::Unreadable => {}
        }
        self.gathered.finish()
    }
}

impl Gathered {
    fn event(&mut self, data: &[u8]) {
        let Ok(data) = std::str::from_utf8(data) else { return };
        match self {
            Gathered::ChatCompletions(answer) => answer.event(data),
            Gathered::Messages(answer) => answer.event(data),
        }
    }

    fn body(&mut self, body: &[u8]) {
        let Ok(body) = std::str::from_utf8(body) else { return };
        match self {
            Gathered::ChatCompletions(answer) => answer.body(body),
            Gathered::Messages(answer) => answer.body(body),
        }
    }

    fn saw_end(&self) -> bool {
        match self {
            Gathered::ChatCompletions(answer) => answer.saw_end(),
            Gathered::Messages(answer) => answer.saw_end(),
        }
    }

    fn finish(self) -> Answer {
        match self {
            Gathered::ChatCompletions(answer) => answer.finish(),
            Gathered::Messages(answer) => answer.finish(),
        }
    }
}

/// What an error inside an answer says: its message, else the error as it is written.
pub(crate) fn error_text(error: Json<'_>) -> String {
    let message = error.field("message").and_then(Json::filled_text).or_else(|| error.filled_text());
    message.map_or_else(|| error.raw().to_owned(), Into::into)
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("text/event-stream")
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let plain = |coding: &[u8]| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity");
    headers.get_all(CONTENT_ENCODING).iter().any(|value| !plain(value.as_bytes()))
}
