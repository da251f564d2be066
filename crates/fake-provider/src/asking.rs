//! A request as the provider reads it. The whole body is parsed only if the script needs it,
//! because benchmarks send large ones.

use std::borrow::Cow;
use std::cell::OnceCell;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use model::{Clock, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::asking_body;
use crate::dialect::{Dialect, chat_completions, completions, gemini, messages, model_in, ollama, responses};
use crate::output::{Call, Envelope, Framing, Output};

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
    pub(crate) fn body_of(&self, output: &Output) -> Bytes {
        let envelope = self.envelope(output);
        match self.dialect {
            Dialect::ChatCompletions => chat_completions::body(&envelope, output),
            Dialect::Completions => completions::body(&envelope, output),
            Dialect::Responses => responses::body(&envelope, output),
            Dialect::Messages => messages::body(&envelope, output),
            Dialect::Gemini => gemini::body(&envelope, output),
            Dialect::OllamaChat => ollama::CHAT.body(&envelope, output),
            Dialect::OllamaGenerate => ollama::GENERATE.body(&envelope, output),
        }
    }

    /// The answer as the events of a stream, `chunks` of them with a piece of the answer.
    pub(crate) fn events_of(&self, output: &Output, chunks: usize) -> Vec<Bytes> {
        let envelope = self.envelope(output);
        match self.dialect {
            Dialect::ChatCompletions => chat_completions::events(&envelope, output, chunks),
            Dialect::Completions => completions::events(&envelope, output, chunks),
            Dialect::Responses => responses::events(&envelope, output, chunks),
            Dialect::Messages => messages::events(&envelope, output, chunks),
            Dialect::Gemini => gemini::events(&envelope, output, chunks),
            Dialect::OllamaChat => ollama::CHAT.events(&envelope, output, chunks),
            Dialect::OllamaGenerate => ollama::GENERATE.events(&envelope, output, chunks),
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

    fn envelope(&self, output: &Output) -> Envelope<'_> {
        let characters = match output {
            Output::Text(text) => text.len(),
            Output::Calls(calls) => calls.iter().map(|call| call.name.len() + call.arguments.to_string().len()).sum(),
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
