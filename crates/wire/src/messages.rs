//! The answers of Anthropic's Messages: one body with `content` blocks, or a stream of events that build such blocks.

use model::ToolCall;

use crate::answer::{Answer, error_text};
use crate::content::{Part, parts};
use crate::json::Json;
use crate::said::{Room, Said};
use crate::step;
use crate::usage::AnthropicUsage;

/// An answer as far as it has come.
#[derive(Debug)]
pub(crate) struct MessagesAnswer {
    /// What was said; none before the message has begun.
    said: Option<Said>,
    room: Room,
    usage: AnthropicUsage,
    model: Option<String>,
    id: Option<String>,
    error: Option<String>,
    saw_end: bool,
}

impl MessagesAnswer {
    pub(crate) fn new(limit: usize) -> MessagesAnswer {
        let usage = AnthropicUsage::default();
        MessagesAnswer { said: None, room: Room(limit), usage, model: None, id: None, error: None, saw_end: false }
    }

    /// The data of one event.
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
            self.take(&fields);
        }
    }

    /// A whole body.
    pub(crate) fn body(&mut self, body: &str) {
        let Ok(message) = Json::parse(body) else { return };
        self.read_message(message);
        self.saw_end = self.said.is_some();
    }

    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    pub(crate) fn finish(self) -> Answer {
        let complete = self.saw_end && self.error.is_none();
        let (usage, model, error) = (self.usage.total(), self.model, self.error);
        Answer {
            answered: self.said.map(Said::finish),
            usage,
            model,
            error,
            complete,
            id: self.id,
            ..Answer::default()
        }
    }

    fn take(&mut self, event: &EventFields<'_>) {
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
            // Gateways send errors in a shape of their own.
            None if event.error.is_some() => self.error = event.error.map(error_text),
            // Pings, ends of blocks, and what is yet to be invented.
            _ => {}
        }
    }

    fn read_message(&mut self, message: Json<'_>) {
        message.fields(|key, value| match key {
            "content" => {
                let said = self.said.get_or_insert_default();
                parts(value, |part| match part {
                    Part::Text(text) => said.say(&text.text().unwrap_or_default(), &mut self.room),
                    Part::ToolUse(part) => said.call(&step::named(part), &mut self.room),
                    // Thinking is not what the model says; results of the provider's own tools are not either.
                    Part::Attachment(_) | Part::ToolResult(_) => {}
                });
            }
            "model" => self.model = value.filled_text().map(Into::into),
            "id" => self.id = value.filled_text().map(Into::into),
            "usage" => self.usage.read(value),
            "error" if !value.is_null() => self.error = Some(error_text(value)),
            _ => {}
        });
    }

    fn begin_block(&mut self, event: &EventFields<'_>) {
        let said = self.said.get_or_insert_default();
        let Some(block) = event.block else { return };
        let (mut kind, mut text) = (None, None);
        block.fields(|key, value| match key {
            "type" => kind = value.text(),
            "text" => text = value.text(),
            _ => {}
        });
        match kind.as_deref() {
            Some("text") => said.say(&text.unwrap_or_default(), &mut self.room),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let ToolCall { name, arguments } = step::named(block);
                said.begin_call(event.index, &name, &arguments, &mut self.room);
            }
            _ => {}
        }
    }

    fn extend_block(&mut self, event: &EventFields<'_>) {
        let said = self.said.get_or_insert_default();
        let Some(delta) = event.delta else { return };
        delta.fields(|key, value| match key {
            "text" => said.say(&value.text().unwrap_or_default(), &mut self.room),
            "partial_json" => {
                let piece = ToolCall { name: Default::default(), arguments: value.text().unwrap_or_default() };
                said.call_piece(event.index, &piece, &mut self.room);
            }
            _ => {}
        });
    }
}

/// The fields that events have, in whatever order they stand.
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
