//! Bedrock's answers to Converse: a body with `output.message.content`, or a stream of frames that
//! build such blocks.

use model::{ToolCall, Usage};

use crate::answer::accumulator::{Accumulator, ByteBudget};
use crate::answer::usage;
use crate::answer::{Answer, error_text};
use crate::content::{Part, parts};
use crate::json::Json;
use crate::tool_call;

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct ConverseAnswer {
    /// `None` before the message begins.
    accumulator: Option<Accumulator>,
    budget: ByteBudget,
    usage: Usage,
    error: Option<String>,
    has_stopped: bool,
    saw_end: bool,
}

/// The fields of an event, which may come in any order. Its name is in the frame's headers, but the
/// fields alone tell the events apart.
#[derive(Debug, Default)]
struct EventFields<'a> {
    index: u64,
    output: Option<Json<'a>>,
    begins: bool,
    start: Option<Json<'a>>,
    delta: Option<Json<'a>>,
    stop_reason: Option<Json<'a>>,
    usage: Option<Json<'a>>,
    error: Option<Json<'a>>,
}

impl ConverseAnswer {
    pub(crate) fn new(limit: usize) -> ConverseAnswer {
        let (budget, usage) = (ByteBudget(limit), Usage::default());
        ConverseAnswer { accumulator: None, budget, usage, error: None, has_stopped: false, saw_end: false }
    }

    /// Reads one event or a whole body, which have different fields.
    pub(crate) fn event(&mut self, data: &str) {
        let mut fields = EventFields::default();
        let checked = Json::parse_fields(data, |key, value| match key {
            "contentBlockIndex" => fields.index = value.number().unwrap_or(0),
            "output" => fields.output = Some(value),
            "role" => fields.begins = true,
            "start" => fields.start = Some(value),
            "delta" => fields.delta = Some(value),
            "stopReason" => fields.stop_reason = Some(value),
            "usage" => fields.usage = Some(value),
            "error" if !value.is_null() => fields.error = Some(value),
            _ => {}
        });
        if checked.is_ok() {
            self.apply(&fields);
        }
    }

    /// Whether the last event has passed: the usage, which follows the end of the message.
    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    pub(crate) fn finish(self) -> Answer {
        let complete = self.has_stopped && self.error.is_none();
        let answered = self.accumulator.map(Accumulator::finish);
        Answer { answered, usage: self.usage, error: self.error, complete, ..Answer::default() }
    }

    fn apply(&mut self, event: &EventFields<'_>) {
        if event.begins {
            self.accumulator.get_or_insert_default();
        }
        if let Some(message) = event.output.and_then(|output| output.field("message")) {
            self.read_message(message);
        }
        if let Some(tool) = event.start.and_then(|start| start.field("toolUse")) {
            let name = tool.field("name").and_then(Json::text).unwrap_or_default();
            self.accumulator.get_or_insert_default().begin_call(event.index, &name, "{}", &mut self.budget);
        }
        if let Some(delta) = event.delta {
            self.extend_block(event.index, delta);
        }
        self.has_stopped |= event.stop_reason.is_some_and(Json::is_text);
        if let Some(usage) = event.usage {
            self.usage = usage::read_converse(usage);
            self.saw_end |= self.has_stopped;
        }
        if let Some(error) = event.error {
            self.error = Some(error_text(error));
        }
    }

    fn read_message(&mut self, message: Json<'_>) {
        let accumulator = self.accumulator.get_or_insert_default();
        let Some(content) = message.field("content") else { return };
        parts(content, |part| match part {
            Part::Text(text) => accumulator.push_text(&text.text().unwrap_or_default(), &mut self.budget),
            Part::ToolUse(call) => accumulator.push_call(&tool_call::read_value(call), &mut self.budget),
            // Reasoning is not part of the response.
            Part::Attachment(_) | Part::ToolResult(_) => {}
        });
    }

    fn extend_block(&mut self, index: u64, delta: Json<'_>) {
        let accumulator = self.accumulator.get_or_insert_default();
        delta.fields(|key, value| match key {
            "text" => accumulator.push_text(&value.text().unwrap_or_default(), &mut self.budget),
            "toolUse" => {
                let arguments = value.field("input").and_then(Json::text).unwrap_or_default();
                let piece = ToolCall { name: Default::default(), arguments };
                accumulator.append_call(index, &piece, &mut self.budget);
            }
            _ => {}
        });
    }
}
