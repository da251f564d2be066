//! A request as the provider reads it. The whole body is parsed only if the script needs it,
//! because benchmarks send large ones.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use model::{Clock, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::asking_body;
use crate::dialect::{Dialect, Framing, chat_completions, completions, gemini, messages, model_in, ollama, responses};
use crate::script::Call;

/// The content of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    Text(Arc<str>),
    Calls(Vec<Call>),
}

/// A request that carries a conversation.
#[derive(Debug)]
pub struct Asking<'a> {
    number: u64,
    dialect: Dialect,
    request: &'a Parts,
    body: &'a [u8],
    head: Head<'a>,
    at: Timestamp,
    whole: OnceCell<Value>,
}

/// The fields that are always read.
#[derive(Debug, Default, Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    #[serde(borrow)]
    previous_response_id: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

/// The values that every answer repeats.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) number: u64,
    pub(crate) model: &'a str,
    pub(crate) at: Timestamp,
    pub(crate) framing: Framing,
    /// Whether a stream ends with its usage.
    pub(crate) include_usage: bool,
    pub(crate) previous_response: Option<&'a str>,
    /// All input, including the cached part.
    pub(crate) tokens_in: usize,
    pub(crate) tokens_cached: usize,
    pub(crate) tokens_out: usize,
}

impl Envelope<'_> {
    /// The time of the request, in seconds.
    pub(crate) fn created(&self) -> i64 {
        self.at.as_millis() / 1000
    }
}

impl<'a> Asking<'a> {
    pub(crate) fn new(number: u64, dialect: Dialect, request: &'a Parts, body: &'a [u8]) -> Asking<'a> {
        let head = serde_json::from_slice(body).unwrap_or_default();
        Asking { number, dialect, request, body, head, at: Clock::System.now(), whole: OnceCell::new() }
    }

    /// Its number among all requests, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.request.headers
    }

    /// When it came in.
    pub(crate) fn received_at(&self) -> Timestamp {
        self.at
    }

    /// The requested model.
    pub fn model(&self) -> &str {
        self.head.model.as_deref().or_else(|| model_in(self.request.uri.path())).unwrap_or("built-in")
    }

    /// Whether the answer is to be streamed.
    pub fn streamed(&self) -> bool {
        self.framing() != Framing::Whole
    }

    /// The whole body; null if it is not JSON.
    pub fn json(&self) -> &Value {
        self.whole.get_or_init(|| serde_json::from_slice(self.body).unwrap_or_default())
    }

    /// Its messages, contents or items, oldest first.
    pub fn messages(&self) -> &[Value] {
        asking_body::messages(self.json())
    }

    /// The text of the last message in the user's role that has any.
    pub fn last_user_text(&self) -> String {
        asking_body::last_user_text(self.json())
    }

    /// Whether the newest message is a tool result.
    pub fn brings_tool_result(&self) -> bool {
        asking_body::brings_tool_result(self.json())
    }

    /// Whether it offers a tool of this name.
    pub(crate) fn offers_tool(&self, name: &str) -> bool {
        asking_body::offers_tool(self.json(), name)
    }

    /// A call of the first offered tool; `None` without tools or after a call.
    pub(crate) fn tool_on_offer(&self) -> Option<Call> {
        if self.brings_tool_result() { None } else { asking_body::tool_on_offer(self.json()) }
    }

    pub(crate) fn framing(&self) -> Framing {
        self.dialect.framing(&self.request.uri, self.head.stream)
    }

    /// The answer as one body.
    pub(crate) fn body_of(&self, said: &Said) -> Bytes {
        let envelope = self.envelope(said);
        match self.dialect {
            Dialect::ChatCompletions => chat_completions::body(&envelope, said),
            Dialect::Completions => completions::body(&envelope, said),
            Dialect::Responses => responses::body(&envelope, said),
            Dialect::Messages => messages::body(&envelope, said),
            Dialect::Gemini => gemini::body(&envelope, said),
            Dialect::OllamaChat => ollama::CHAT.body(&envelope, said),
            Dialect::OllamaGenerate => ollama::GENERATE.body(&envelope, said),
        }
    }

    /// The answer as the events of a stream, `chunks` of them with a piece of the answer.
    pub(crate) fn events_of(&self, said: &Said, chunks: usize) -> Vec<Bytes> {
        let envelope = self.envelope(said);
        match self.dialect {
            Dialect::ChatCompletions => chat_completions::events(&envelope, said, chunks),
            Dialect::Completions => completions::events(&envelope, said, chunks),
            Dialect::Responses => responses::events(&envelope, said, chunks),
            Dialect::Messages => messages::events(&envelope, said, chunks),
            Dialect::Gemini => gemini::events(&envelope, said, chunks),
            Dialect::OllamaChat => ollama::CHAT.events(&envelope, said, chunks),
            Dialect::OllamaGenerate => ollama::GENERATE.events(&envelope, said, chunks),
        }
    }

    /// An error in this request's format.
    pub(crate) fn error(&self, status: StatusCode) -> Bytes {
        match self.dialect {
            Dialect::ChatCompletions | Dialect::Completions | Dialect::Responses => chat_completions::error(status),
            Dialect::Messages => messages::error(status),
            Dialect::Gemini => gemini::error(status),
            Dialect::OllamaChat | Dialect::OllamaGenerate => ollama::error(status),
        }
    }

    fn envelope(&self, said: &Said) -> Envelope<'_> {
        let characters = match said {
            Said::Text(text) => text.len(),
            Said::Calls(calls) => calls.iter().map(|call| call.name.len() + call.arguments.to_string().len()).sum(),
        };
        let tokens_in = self.body.len() / 4;
        Envelope {
            number: self.number,
            model: self.model(),
            at: self.at,
            framing: self.framing(),
            include_usage: self.head.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true)),
            previous_response: self.head.previous_response_id.as_deref(),
            tokens_in,
            // Part of every prompt counts as cached, so that tests notice mixed-up fields.
            tokens_cached: tokens_in / 4,
            tokens_out: characters / 4 + 1,
        }
    }
}

/// The message of an error.
pub(crate) fn scripted_error(status: StatusCode) -> String {
    format!("The built-in provider was told to answer {status}.")
}

/// `text` in `count` pieces of about the same length, some empty if it is short.
pub(crate) fn pieces(text: &str, count: usize) -> impl Iterator<Item = &str> {
    let count = count.max(1);
    let border = move |index: usize| {
        let wanted = text.len() * index / count;
        (wanted..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
    };
    (0..count).map(move |index| &text[border(index)..border(index + 1)])
}

/// `text` as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_whole() {
        for text in ["", "a", "日本語です", "a longer text with ümlauts"] {
            for count in [1, 2, 3, 50] {
                let cut: Vec<&str> = pieces(text, count).collect();
                assert_eq!((cut.len(), cut.concat().as_str()), (count, text));
            }
        }
    }
}
