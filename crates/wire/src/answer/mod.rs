//! Reads answers from a copy of their bytes, whole or streamed.

mod accumulator;
mod assistant_message;
mod by_dialect;
mod choices;
mod error_message;
mod framing;
mod stream_error;
mod usage;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use model::{Answered, Usage};

pub use assistant_message::read_assistant_message;
pub use error_message::{error_excerpt, error_message};

use crate::Dialect;
use crate::json::Json;
use by_dialect::PartialAnswer;
use framing::{ArrayParser, EventParser, FrameParser, LineParser};

/// Reads a copy of a response as it passes. Never fails: unreadable parts are ignored.
#[derive(Debug)]
pub struct AnswerReader {
    limit: usize,
    framing: Framing,
    partial: PartialAnswer,
}

/// The content of a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Text and tool calls. `None` if the response held no readable answer.
    pub answered: Option<Answered>,
    /// Tokens as the provider reported them.
    pub usage: Usage,
    /// The model that answered.
    pub model: Option<String>,
    /// The answer's id, if later requests may continue from it.
    pub id: Option<String>,
    /// The ids of tool-call items with their index in [`Answered::tool_calls`]. Later requests may
    /// refer to them.
    pub call_items: Vec<(String, usize)>,
    /// An error that the provider sent inside a successful stream.
    pub error: Option<String>,
    /// Whether the answer is complete: a whole body, a stream's terminal event or its last finished
    /// choice, and no error.
    pub complete: bool,
}

/// How the bytes are cut into readable pieces.
#[derive(Debug)]
enum Framing {
    Events(Box<EventParser>),
    Lines(LineParser),
    Array(ArrayParser),
    Frames(FrameParser),
    Body(Vec<u8>),
    Unreadable { is_stream: bool },
}

impl Framing {
    /// Decides by the content type. A content encoding makes the response unreadable. A body that
    /// begins an array becomes a stream later.
    fn of(headers: &HeaderMap) -> Framing {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim_ascii();
        let is = |name: &str| essence.eq_ignore_ascii_case(name);
        let framing = if is("text/event-stream") {
            Framing::Events(Box::default())
        } else if is("application/x-ndjson") || is("application/ndjson") || is("application/jsonl") {
            Framing::Lines(LineParser::default())
        } else if is("application/vnd.amazon.eventstream") {
            Framing::Frames(FrameParser::default())
        } else {
            Framing::Body(Vec::new())
        };
        match is_encoded(headers) {
            true => Framing::Unreadable { is_stream: !matches!(framing, Framing::Body(_)) },
            false => framing,
        }
    }
}

impl AnswerReader {
    /// Creates a reader for a successful response with these headers, which keeps at most `limit`
    /// bytes of text. The answer's own shape decides its dialect; `dialect` is the fallback.
    pub fn new(dialect: Dialect, headers: &HeaderMap, limit: usize) -> AnswerReader {
        AnswerReader { limit, framing: Framing::of(headers), partial: PartialAnswer::new(dialect, limit) }
    }

    /// Whether this is a stream.
    pub fn is_stream(&self) -> bool {
        match self.framing {
            Framing::Events(_) | Framing::Lines(_) | Framing::Array(_) | Framing::Frames(_) => true,
            Framing::Body(_) => false,
            Framing::Unreadable { is_stream } => is_stream,
        }
    }

    /// The body so far, unless this is a stream.
    pub fn body(&self) -> Option<&[u8]> {
        match &self.framing {
            Framing::Body(body) => Some(body),
            _ => None,
        }
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.framing {
            Framing::Events(parser) => parser.feed(bytes, |data| self.partial.event(data)),
            Framing::Lines(parser) => parser.feed(bytes, |line| self.partial.event(line)),
            Framing::Array(parser) => parser.feed(bytes, |element| self.partial.event(element)),
            Framing::Frames(parser) => parser.feed(bytes, |event| self.partial.event(event)),
            Framing::Body(body) if body.is_empty() => self.begin_body(bytes.trim_ascii_start()),
            Framing::Body(body) if body.len() + bytes.len() <= self.limit => body.extend_from_slice(bytes),
            Framing::Body(_) => self.framing = Framing::Unreadable { is_stream: false },
            Framing::Unreadable { .. } => {}
        }
    }

    fn begin_body(&mut self, bytes: &[u8]) {
        if bytes.first() == Some(&b'[') {
            self.framing = Framing::Array(ArrayParser::default());
            self.feed(bytes);
        } else if bytes.len() <= self.limit {
            self.framing = Framing::Body(bytes.to_vec());
        } else {
            self.framing = Framing::Unreadable { is_stream: false };
        }
    }

    /// Whether a stream's terminal event has passed: the client may act on it before the connection
    /// ends.
    pub fn saw_end(&self) -> bool {
        match &self.framing {
            Framing::Array(parser) => parser.has_ended(),
            _ => self.partial.saw_end(),
        }
    }

    /// The error in the stream's own dialect that tells the client why the provider failed. `None`
    /// if no bytes can follow those already sent.
    pub fn stream_error(&self, why: &str) -> Option<Bytes> {
        let (dialect, response) = (self.partial.dialect(), self.partial.response_id());
        match &self.framing {
            Framing::Events(parser) => {
                // An incomplete event is closed first.
                let close = if parser.is_between_events() { "" } else { "\n\n" };
                Some(Bytes::from(format!("{close}{}", stream_error::events(dialect, why, response))))
            }
            Framing::Lines(parser) => {
                let close = if parser.is_between_lines() { "" } else { "\n" };
                Some(Bytes::from(format!("{close}{}\n", stream_error::object(dialect, why))))
            }
            Framing::Array(parser) => {
                let separator = parser.separator()?;
                Some(Bytes::from(format!("{separator}{}]", stream_error::object(dialect, why))))
            }
            // A frame needs checksums, and no client expects an error of ours inside it.
            Framing::Frames(_) | Framing::Body(_) | Framing::Unreadable { .. } => None,
        }
    }

    /// Ends the answer.
    pub fn finish(mut self) -> Answer {
        match self.framing {
            Framing::Events(mut parser) => parser.finish(|data| self.partial.event(data)),
            Framing::Lines(mut parser) => parser.finish(|line| self.partial.event(line)),
            Framing::Body(body) => self.partial.body(&body),
            Framing::Array(_) | Framing::Frames(_) | Framing::Unreadable { .. } => {}
        }
        self.partial.finish()
    }
}

/// The message of an error object, or the whole object if it has no message.
pub(crate) fn error_text(error: Json<'_>) -> String {
    let message = error.field("message").and_then(Json::filled_text).or_else(|| error.filled_text());
    message.map_or_else(|| error.raw().to_owned(), Into::into)
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let plain = |coding: &[u8]| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity");
    headers.get_all(CONTENT_ENCODING).iter().any(|value| !plain(value.as_bytes()))
}
