//! What a model answered, put together from a body or a stream as its bytes pass.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use model::{Answered, Usage};

use crate::array::ArrayParser;
use crate::gathered::Gathered;
use crate::json::Json;
use crate::lines::LineParser;
use crate::sse::EventParser;
use crate::{Dialect, last_words};

/// Reads a copy of a response as it passes. Never fails: what cannot be read is left out.
#[derive(Debug)]
pub struct AnswerReader {
    limit: usize,
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
    /// The answer's id, where later requests may go on from it.
    pub id: Option<String>,
    /// The ids of items that are tool calls, each with its place in [`Answered::tool_calls`]: later requests may refer to
    /// them.
    pub call_items: Vec<(String, usize)>,
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
    Lines(LineParser),
    Array(ArrayParser),
    Body(Vec<u8>),
    Unreadable { is_stream: bool },
}

impl Framing {
    /// By the content type; a content encoding makes it unreadable. A body that turns out to be an array is a stream, too.
    fn of(headers: &HeaderMap) -> Framing {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim_ascii();
        let is = |name: &str| essence.eq_ignore_ascii_case(name);
        let framing = if is("text/event-stream") {
            Framing::Events(Box::default())
        } else if is("application/x-ndjson") || is("application/ndjson") || is("application/jsonl") {
            Framing::Lines(LineParser::default())
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
    /// A reader for a successful response with these headers. Keeps at most `limit` bytes of text. What the answer looks
    /// like decides how it is read; `dialect` is only where that is not told.
    pub fn new(dialect: Dialect, headers: &HeaderMap, limit: usize) -> AnswerReader {
        AnswerReader { limit, framing: Framing::of(headers), gathered: Gathered::new(dialect, limit) }
    }

    /// Whether this is a stream.
    pub fn is_stream(&self) -> bool {
        match self.framing {
            Framing::Events(_) | Framing::Lines(_) | Framing::Array(_) => true,
            Framing::Body(_) => false,
            Framing::Unreadable { is_stream } => is_stream,
        }
    }

    /// What has come so far, if this is a body and no stream.
    pub fn body(&self) -> Option<&[u8]> {
        match &self.framing {
            Framing::Body(body) => Some(body),
            _ => None,
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.framing {
            Framing::Events(parser) => parser.feed(bytes, |data| self.gathered.event(data)),
            Framing::Lines(parser) => parser.feed(bytes, |line| self.gathered.event(line)),
            Framing::Array(parser) => parser.feed(bytes, |element| self.gathered.event(element)),
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

    /// Whether a stream's terminal event has passed: the client may act on it before the connection ends.
    pub fn saw_end(&self) -> bool {
        match &self.framing {
            Framing::Array(parser) => parser.has_ended(),
            _ => self.gathered.saw_end(),
        }
    }

    /// The bytes that tell the client of a stream, in its own words, that the provider died: `why`. None: bytes of ours
    /// cannot follow what it has got so far.
    pub fn last_words(&self, why: &str) -> Option<Bytes> {
        let (dialect, response) = (self.gathered.dialect(), self.gathered.response_id());
        match &self.framing {
            Framing::Events(parser) => {
                // Else the broken event is closed first.
                let close = if parser.is_between_events() { "" } else { "\n\n" };
                Some(Bytes::from(format!("{close}{}", last_words::events(dialect, why, response))))
            }
            Framing::Lines(parser) => {
                let close = if parser.is_between_lines() { "" } else { "\n" };
                Some(Bytes::from(format!("{close}{}\n", last_words::error(dialect, why))))
            }
            Framing::Array(parser) => {
                let separator = parser.separator()?;
                Some(Bytes::from(format!("{separator}{}]", last_words::error(dialect, why))))
            }
            Framing::Body(_) | Framing::Unreadable { .. } => None,
        }
    }

    /// What was read.
    pub fn finish(mut self) -> Answer {
        match self.framing {
            Framing::Events(mut parser) => parser.finish(|data| self.gathered.event(data)),
            Framing::Lines(mut parser) => parser.finish(|line| self.gathered.event(line)),
            Framing::Body(body) => self.gathered.body(&body),
            Framing::Array(_) | Framing::Unreadable { .. } => {}
        }
        self.gathered.finish()
    }
}

/// What an error inside an answer says: its message, else the error as it is written.
pub(crate) fn error_text(error: Json<'_>) -> String {
    let message = error.field("message").and_then(Json::filled_text).or_else(|| error.filled_text());
    message.map_or_else(|| error.raw().to_owned(), Into::into)
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let plain = |coding: &[u8]| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity");
    headers.get_all(CONTENT_ENCODING).iter().any(|value| !plain(value.as_bytes()))
}
