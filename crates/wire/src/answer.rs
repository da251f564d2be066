//! What a model answered, put together from a body or a stream as its bytes pass.

use http::HeaderMap;
use model::{Answered, Usage};

use crate::Dialect;

/// Reads a copy of a response as it passes. Never fails: what cannot be read is left out.
#[derive(Debug)]
pub struct AnswerReader {}

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
    /// Whether the answer came to its own end (a whole body, a stream's terminal event).
    pub complete: bool,
}

impl AnswerReader {
    /// A reader for a successful response with these headers (its content type tells a stream from a body; a content
    /// encoding makes it unreadable). Keeps at most `limit` bytes of text.
    pub fn new(dialect: Dialect, headers: &HeaderMap, limit: usize) -> AnswerReader {
        let _ = (dialect, headers, limit);
        todo!()
    }

    /// Whether this is a stream of events.
    pub fn is_stream(&self) -> bool {
        todo!()
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let _ = bytes;
        todo!()
    }

    /// Whether a stream's terminal event has passed: the client may act on it before the connection ends.
    pub fn saw_end(&self) -> bool {
        todo!()
    }

    /// What was read.
    pub fn finish(self) -> Answer {
        todo!()
    }
}
