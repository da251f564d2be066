//! The output of the model, and the values that answers of every dialect repeat.

use std::sync::Arc;

use http::StatusCode;
use model::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// The output of the model.
#[derive(Clone, Debug)]
pub(crate) enum Output {
    Text(Arc<str>),
    Calls(Vec<Call>),
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// The framing of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// One body, without framing.
    Whole,
    /// Server-sent events.
    Events,
    /// One JSON object per line.
    Lines,
    /// The elements of one JSON array.
    Array,
}

impl Framing {
    /// The content type of an answer with this framing.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Framing::Whole | Framing::Array => "application/json",
            Framing::Events => "text/event-stream; charset=utf-8",
            Framing::Lines => "application/x-ndjson",
        }
    }
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
