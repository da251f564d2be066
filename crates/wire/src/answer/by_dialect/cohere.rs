//! Cohere's answers to `/v2/chat`: a body with a `message`, or a stream of events that build one.

use model::Usage;

use crate::answer::accumulator::{Accumulator, ByteBudget};
use crate::answer::usage;
use crate::answer::{Answer, error_text};
use crate::content::{Part, parts};
use crate::json::Json;
use crate::tool_call;

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct CohereAnswer {
    /// `None` before the message begins.
    accumulator: Option<Accumulator>,
    budget: ByteBudget,
    usage: Usage,
    error: Option<String>,
    saw_end: bool,
}

impl CohereAnswer {
    pub(crate) fn new(limit: usize) -> CohereAnswer {
        let (budget, usage) = (ByteBudget(limit), Usage::default());
        CohereAnswer { accumulator: None, budget, usage, error: None, saw_end: false }
    }

    /// Reads one event.
    pub(crate) fn event(&mut self, data: &str) {
        let (mut kind, mut index, mut delta, mut error) = (None, 0, None, None);
        let checked = Json::parse_fields(data, |key, value| match key {
            "type" => kind = value.text(),
            "index" => index = value.number().unwrap_or(0),
            "delta" => delta = Some(value),
            "error" if !value.is_null() => error = Some(value),
            _ => {}
        });
        if checked.is_err() {
            return;
        }
        if let Some(error) = error {
            self.error = Some(error_text(error));
        }
        if let Some(message) = delta.and_then(|delta| delta.field("message")) {
            self.read_message(message, Some(index));
        }
        if kind.as_deref() == Some("message-end") {
            self.end(delta);
        }
    }

    /// Reads a whole body.
    pub(crate) fn body(&mut self, body: &str) {
        let Ok(response) = Json::parse(body) else { return };
        if let Some(message) = response.field("message").filter(|message| !message.is_text()) {
            self.read_message(message, None);
        }
        self.end(Some(response));
        self.saw_end = self.accumulator.is_some();
    }

    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    pub(crate) fn finish(self) -> Answer {
        let complete = self.saw_end && self.error.is_none();
        let answered = self.accumulator.map(Accumulator::finish);
        Answer { answered, usage: self.usage, error: self.error, complete, ..Answer::default() }
    }

    /// Reads a message, or the piece of one at `index`. A piece has a single content or call where
    /// a message has a list. The tool plan is reasoning, which is not part of the response.
    fn read_message(&mut self, message: Json<'_>, index: Option<u64>) {
        let accumulator = self.accumulator.get_or_insert_default();
        let budget = &mut self.budget;
        message.fields(|key, value| match key {
            "content" if value.raw().starts_with('{') => {
                let text = value.field("text").and_then(Json::text).unwrap_or_default();
                accumulator.push_text(&text, budget);
            }
            "content" => parts(value, |part| {
                if let Part::Text(text) = part {
                    accumulator.push_text(&text.text().unwrap_or_default(), budget);
                }
            }),
            "tool_calls" if value.raw().starts_with('{') => {
                if let Some(function) = value.field("function") {
                    accumulator.append_call(index.unwrap_or(0), &tool_call::read_value(function), budget);
                }
            }
            "tool_calls" => value.items(|call| {
                if let Some(function) = call.field("function") {
                    accumulator.push_call(&tool_call::read_value(function), budget);
                }
            }),
            _ => {}
        });
    }

    /// Reads the end of an answer: the usage, and the error if there is one.
    fn end(&mut self, end: Option<Json<'_>>) {
        self.saw_end = true;
        let Some(end) = end else { return };
        end.fields(|key, value| match key {
            "usage" => self.usage = usage::read_cohere(value),
            "error" if !value.is_null() => self.error = Some(error_text(value)),
            _ => {}
        });
    }
}
