//! A request as the built-in provider reads it. The whole body is only taken apart if the script needs it: benchmarks send
//! large ones.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use model::{Clock, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::script::Call;
use super::{anthropic, openai};

/// What is said in answer.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Text(Arc<str>),
    Calls(Vec<Call>),
}

/// The two shapes of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    OpenAi,
    Anthropic,
}

/// A request that carries a conversation.
#[derive(Debug)]
pub struct Asking<'a> {
    number: u64,
    dialect: Dialect,
    headers: &'a HeaderMap,
    body: &'a [u8],
    head: Head<'a>,
    at: Timestamp,
    whole: OnceCell<Value>,
}

/// What is always read.
#[derive(Debug, Default, Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

/// What every answer names.
#[derive(Debug)]
pub(super) struct Envelope<'a> {
    pub(super) number: u64,
    pub(super) model: &'a str,
    pub(super) created: i64,
    pub(super) tokens_in: usize,
    pub(super) tokens_out: usize,
}

impl<'a> Asking<'a> {
    pub(super) fn new(number: u64, dialect: Dialect, headers: &'a HeaderMap, body: &'a [u8]) -> Asking<'a> {
        let head = serde_json::from_slice(body).unwrap_or_default();
        Asking { number, dialect, headers, body, head, at: Clock::System.now(), whole: OnceCell::new() }
    }

    /// Its number among all requests, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its headers.
    pub fn headers(&self) -> &HeaderMap {
        self.headers
    }

    /// The model that is asked.
    pub fn model(&self) -> &str {
        self.head.model.as_deref().unwrap_or("built-in")
    }

    /// Whether the answer is to be streamed.
    pub fn streamed(&self) -> bool {
        self.head.stream.unwrap_or(false)
    }

    /// The whole body; null if it is not JSON.
    pub fn json(&self) -> &Value {
        self.whole.get_or_init(|| serde_json::from_slice(self.body).unwrap_or_default())
    }

    /// Its messages.
    pub fn messages(&self) -> &[Value] {
        self.json()["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The text of the last message in the user's role that has any.
    pub fn last_user_text(&self) -> String {
        let of_user = self.messages().iter().rev().filter(|message| message["role"] == "user");
        of_user.map(|message| text_of(&message["content"])).find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// Whether the newest message brings the result of a tool.
    pub fn brings_tool_result(&self) -> bool {
        let Some(newest) = self.messages().last() else { return false };
        let parts = newest["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        newest["role"] == "tool" || parts.iter().any(|part| part["type"] == "tool_result")
    }

    /// A call of the first tool on offer, unless there is none or one was called already.
    pub(super) fn tool_on_offer(&self) -> Option<Call> {
        if self.brings_tool_result() {
            return None;
        }
        let tool = self.json()["tools"].get(0)?;
        let (name, schema) = match self.dialect {
            Dialect::OpenAi => (&tool["function"]["name"], &tool["function"]["parameters"]),
            Dialect::Anthropic => (&tool["name"], &tool["input_schema"]),
        };
        Some(Call { name: name.as_str()?.to_owned(), arguments: example_arguments(schema) })
    }

    /// The answer as one body.
    pub(super) fn body_of(&self, said: &Said) -> Bytes {
        let envelope = self.envelope(said);
        match self.dialect {
            Dialect::OpenAi => openai::body(&envelope, said),
            Dialect::Anthropic => anthropic::body(&envelope, said),
        }
    }

    /// The answer as the events of a stream, `chunks` of them with a piece of the answer.
    pub(super) fn events_of(&self, said: &Said, chunks: usize) -> Vec<Bytes> {
        let envelope = self.envelope(said);
        let include_usage =
            self.head.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true));
        match self.dialect {
            Dialect::OpenAi => openai::events(&envelope, said, chunks, include_usage),
            Dialect::Anthropic => anthropic::events(&envelope, said, chunks),
        }
    }

    /// An error in this request's format.
    pub(super) fn error(&self, status: StatusCode) -> Bytes {
        match self.dialect {
            Dialect::OpenAi => openai::error(status),
            Dialect::Anthropic => anthropic::error(status),
        }
    }

    fn envelope(&self, said: &Said) -> Envelope<'_> {
        let characters = match said {
            Said::Text(text) => text.len(),
            Said::Calls(calls) => calls.iter().map(|call| call.name.len() + call.arguments.to_string().len()).sum(),
        };
        Envelope {
            number: self.number,
            model: self.model(),
            created: self.at.as_millis() / 1000,
            tokens_in: self.body.len() / 4,
            tokens_out: characters / 4 + 1,
        }
    }
}

/// The text of a message, as a string or in parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Arguments that a schema allows, as far as its required properties go.
fn example_arguments(schema: &Value) -> Value {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let example = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => Value::from(1),
        Some("boolean") => Value::from(true),
        Some("array") => Value::Array(Vec::new()),
        Some("object") => Value::Object(Map::new()),
        _ => Value::from("example"),
    };
    required.iter().filter_map(Value::as_str).map(|name| (name.to_owned(), example(name))).collect::<Map<_, _>>().into()
}

/// `text` in `count` pieces of about the same length, some empty if it is short.
pub(super) fn pieces(text: &str, count: usize) -> impl Iterator<Item = &str> {
    let count = count.max(1);
    let border = move |index: usize| {
        let wanted = text.len() * index / count;
        (wanted..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
    };
    (0..count).map(move |index| &text[border(index)..border(index + 1)])
}

/// `text` as JSON.
pub(super) fn quoted(text: &str) -> String {
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
