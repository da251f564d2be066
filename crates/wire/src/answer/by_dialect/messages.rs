//! Anthropic's answers: a body with `content` blocks, or a stream of events that build such blocks.

use model::ToolCall;

use crate::answer::accumulator::{Accumulator, ByteBudget};
use crate::answer::usage::AnthropicUsage;
use crate::answer::{Answer, error_text};
use crate::content::{Part, parts};
use crate::json::Json;
use crate::tool_call;

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct MessagesAnswer {
    /// `None` before the message begins.
    accumulator: Option<Accumulator>,
    budget: ByteBudget,
    usage: AnthropicUsage,
    model: Option<String>,
    id: Option<String>,
    error: Option<String>,
    saw_end: bool,
}

/// The relevant fields of a message.
#[derive(Default)]
struct MessageFields<'a> {
    content: Option<Json<'a>>,
    model: Option<Json<'a>>,
    id: Option<Json<'a>>,
    usage: Option<Json<'a>>,
    error: Option<Json<'a>>,
}

impl<'a> MessageFields<'a> {
    fn read_field(&mut self, key: &str, value: Json<'a>) {
        match key {
            "content" => self.content = Some(value),
            "model" => self.model = Some(value),
            "id" => self.id = Some(value),
            "usage" => self.usage = Some(value),
            "error" if !value.is_null() => self.error = Some(value),
            _ => {}
        }
    }
}

impl MessagesAnswer {
    pub(crate) fn new(limit: usize) -> MessagesAnswer {
        let usage = AnthropicUsage::default();
        MessagesAnswer {
            accumulator: None,
            budget: ByteBudget(limit),
            usage,
            model: None,
            id: None,
            error: None,
            saw_end: false,
        }
    }

    /// Reads one event.
    pub(crate) fn event(&mut self, data: &str) {
        let mut fields = EventFields::default();
        let checked = Json::parse_fields(data, |key, value| match key {
            "type" => fields.kind = Some(value),
            "index" => fields.index = value.number().unwrap_or(0),
            "message" => fields.message = Some(value),
            "content_block" => fields.block = Some(value),
            "delta" => fields.delta = Some(value),
            "usage" => fields.usage = Some(value),
            "error" if !value.is_null() => fields.error = Some(value),
            _ => {}
        });
        if checked.is_ok() {
            self.apply(&fields);
        }
    }

    /// Reads a whole body.
    pub(crate) fn body(&mut self, body: &str) {
        let mut message = MessageFields::default();
        if Json::parse_fields(body, |key, value| message.read_field(key, value)).is_ok() {
            self.take_message(&message);
            self.saw_end = self.accumulator.is_some();
        }
    }

    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    pub(crate) fn finish(self) -> Answer {
        let complete = self.saw_end && self.error.is_none();
        let (usage, model, error) = (self.usage.total(), self.model, self.error);
        Answer {
            answered: self.accumulator.map(Accumulator::finish),
            usage,
            model,
            error,
            complete,
            id: self.id,
            ..Answer::default()
        }
    }

    fn apply(&mut self, event: &EventFields<'_>) {
        match event.kind.and_then(Json::text).as_deref() {
            Some("message_start") => {
                if let Some(message) = event.message {
                    self.read_message(message);
                }
            }
            Some("content_block_start") => self.begin_block(event),
            Some("content_block_delta") => self.extend_block(event),
            Some("message_delta") => {
                if let Some(usage) = event.usage {
                    self.usage.read(usage);
                }
            }
            Some("message_stop") => self.saw_end = true,
            Some("error") => self.error = Some(event.error.map(error_text).unwrap_or_default()),
            // Gateways send errors without a type, or with one of another dialect.
            _ if event.error.is_some() => self.error = event.error.map(error_text),
            // Pings, ends of blocks and unknown events.
            _ => {}
        }
    }

    fn read_message(&mut self, message: Json<'_>) {
        let mut fields = MessageFields::default();
        message.fields(|key, value| fields.read_field(key, value));
        self.take_message(&fields);
    }

    fn take_message(&mut self, message: &MessageFields<'_>) {
        if let Some(content) = message.content {
            let accumulator = self.accumulator.get_or_insert_default();
            parts(content, |part| match part {
                Part::Text(text) => accumulator.push_text(&text.text().unwrap_or_default(), &mut self.budget),
                Part::ToolUse(part) => accumulator.push_call(&tool_call::read_value(part), &mut self.budget),
                // Thinking and the results of the provider's own tools are not part of the
                // response.
                Part::Attachment(_) | Part::ToolResult(_) => {}
            });
        }
        let text_of = |value: Json<'_>| value.filled_text().map(Into::into);
        self.model = message.model.map_or_else(|| self.model.take(), text_of);
        self.id = message.id.map_or_else(|| self.id.take(), text_of);
        if let Some(usage) = message.usage {
            self.usage.read(usage);
        }
        if let Some(error) = message.error {
            self.error = Some(error_text(error));
        }
    }

    fn begin_block(&mut self, event: &EventFields<'_>) {
        let accumulator = self.accumulator.get_or_insert_default();
        let Some(block) = event.block else { return };
        let (mut kind, mut text) = (None, None);
        block.fields(|key, value| match key {
            "type" => kind = value.text(),
            "text" => text = value.text(),
            _ => {}
        });
        match kind.as_deref() {
            Some("text") => accumulator.push_text(&text.unwrap_or_default(), &mut self.budget),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let ToolCall { name, arguments } = tool_call::read_value(block);
                accumulator.begin_call(event.index, &name, &arguments, &mut self.budget);
            }
            _ => {}
        }
    }

    fn extend_block(&mut self, event: &EventFields<'_>) {
        let accumulator = self.accumulator.get_or_insert_default();
        let Some(delta) = event.delta else { return };
        delta.fields(|key, value| match key {
            "text" => accumulator.push_text(&value.text().unwrap_or_default(), &mut self.budget),
            "partial_json" => {
                let piece = ToolCall { name: Default::default(), arguments: value.text().unwrap_or_default() };
                accumulator.append_call(event.index, &piece, &mut self.budget);
            }
            _ => {}
        });
    }
}

/// The fields of an event, which may come in any order.
#[derive(Debug, Default)]
struct EventFields<'a> {
    kind: Option<Json<'a>>,
    index: u64,
    message: Option<Json<'a>>,
    block: Option<Json<'a>>,
    delta: Option<Json<'a>>,
    usage: Option<Json<'a>>,
    error: Option<Json<'a>>,
}
