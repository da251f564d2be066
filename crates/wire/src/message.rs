//! One entry of a history: who wrote it and what it holds, in one look.

use std::borrow::Cow;

use crate::client_context::{is_setup, users_words};
use crate::content::{Content, Holds, PartKind};
use crate::json::{Cursor, Json, Malformed};

/// Who wrote a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    /// `tool`, and `function` from before there were tools.
    Tool,
    /// `assistant`, and Gemini's `model`.
    Assistant,
    /// `system`, `developer` and whatever else there is.
    #[default]
    Other,
}

impl Role {
    fn of(value: Json<'_>) -> Role {
        match value.text().as_deref() {
            Some("user") => Role::User,
            Some("tool" | "function") => Role::Tool,
            Some("assistant" | "model") => Role::Assistant,
            _ => Role::Other,
        }
    }
}

/// What an entry is, where it says so: the items of Responses are messages, tool calls and their outputs side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Message,
    Call,
    Output,
    /// Stands for an item of an earlier answer, which the provider keeps.
    Reference,
}

impl Kind {
    /// By its `type`: `function_call`, `custom_tool_call` and the calls of all built-in tools, and what they gave.
    fn of(value: Json<'_>) -> Kind {
        let kind = value.text().unwrap_or_default();
        if kind.ends_with("_call") {
            Kind::Call
        } else if kind.ends_with("_call_output") {
            Kind::Output
        } else if kind == "item_reference" {
            Kind::Reference
        } else {
            Kind::Message
        }
    }
}

/// One message, its values still unread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message<'a> {
    whole: Option<Json<'a>>,
    role: Role,
    kind: Kind,
    holds: Holds,
    /// Its `content`; Gemini's `parts`.
    pub(crate) content: Option<Json<'a>>,
    /// Chat Completions: the calls of an assistant's message, and their spelling before there were tools.
    pub(crate) tool_calls: Option<Json<'a>>,
    pub(crate) function_call: Option<Json<'a>>,
    /// Chat Completions: the call that a tool's message answers.
    pub(crate) tool_call_id: Option<Json<'a>>,
    /// Ollama: what is attached.
    images: Option<Json<'a>>,
}

impl<'a> Message<'a> {
    /// Takes a message from the cursor. One that does not say who wrote it is of `nobody`; so is what is no object.
    pub(crate) fn read(cursor: &mut Cursor<'a>, nobody: Role) -> Result<Message<'a>, Malformed> {
        let mut message = Message { role: nobody, ..Message::default() };
        let (whole, is_object) = cursor.capture(|cursor| cursor.object(|cursor, key| message.take(cursor, key)))?;
        if !is_object {
            message.role = Role::Other;
        }
        message.whole = Some(whole);
        Ok(message)
    }

    /// What a user wrote who has no history.
    pub(crate) fn of_user(content: Json<'a>, images: Option<Json<'a>>) -> Message<'a> {
        let holds = Holds::of_prompt(content);
        Message { whole: Some(content), role: Role::User, holds, content: Some(content), images, ..Message::default() }
    }

    fn take(&mut self, cursor: &mut Cursor<'a>, key: &str) -> Result<(), Malformed> {
        match key {
            "role" => self.role = Role::of(cursor.value()?),
            "content" | "parts" => {
                let (content, holds) = cursor.capture(Holds::look)?;
                (self.content, self.holds) = (Some(content), holds);
            }
            "type" => self.kind = Kind::of(cursor.value()?),
            "tool_calls" => self.tool_calls = Some(cursor.value()?),
            "function_call" => self.function_call = Some(cursor.value()?),
            "tool_call_id" => self.tool_call_id = Some(cursor.value()?),
            "images" => self.images = Some(cursor.value()?),
            _ => cursor.pass()?,
        }
        Ok(())
    }

    /// As it is written.
    pub(crate) fn raw(&self) -> &'a str {
        self.whole.map_or("", Json::raw)
    }

    /// Whether the user wrote it: in the user role, with a text or an attachment.
    ///
    /// A message that carries a tool result is never one, whatever text stands beside it: agents put reminders of their
    /// own next to results (Claude Code's `<system-reminder>`), which change from step to step and would make every step
    /// of work look like a new turn.
    pub(crate) fn is_by_user(&self) -> bool {
        let says_something =
            self.holds.has(PartKind::Text) || self.holds.has(PartKind::Attachment) || self.has_images();
        self.role == Role::User && says_something && !self.holds.has(PartKind::ToolResult) && !self.is_setup()
    }

    /// Whether the client wrote it to set up the context.
    fn is_setup(&self) -> bool {
        self.content.is_some_and(is_setup)
    }

    /// Whether the model wrote it.
    pub(crate) fn is_by_model(&self) -> bool {
        self.role == Role::Assistant
    }

    /// What the user says and attaches in it.
    pub(crate) fn content(&self) -> Content<'a> {
        let mut read = self.content.map(Content::read).unwrap_or_default();
        read.texts = users_words(read.texts);
        if let Some(images) = self.images {
            images.items(|image| read.attachments.push(image.raw()));
        }
        if self.holds.has(PartKind::Attachment) && read.texts.is_empty() && read.attachments.is_empty() {
            read.attachments.extend(self.content.map(Json::raw));
        }
        read
    }

    /// What the model said in it, if it is the model's and calls no tools.
    pub(crate) fn said_by_model(&self) -> Option<Json<'a>> {
        self.content.filter(|_| self.role == Role::Assistant && !self.has_calls())
    }

    /// Whether the model called tools in it.
    pub(crate) fn has_calls(&self) -> bool {
        let in_message = || self.has_call_parts() || is_listed(self.tool_calls) || is_listed(self.function_call);
        // What an item stood for is not told, but calls are what agents refer to.
        let is_call_item = matches!(self.kind, Kind::Call | Kind::Reference);
        is_call_item || (self.role == Role::Assistant && in_message())
    }

    /// Responses: the id of the item that it stands for.
    pub(crate) fn referenced_item(&self) -> Option<Cow<'a, str>> {
        self.whole.filter(|_| self.kind == Kind::Reference)?.field("id")?.filled_text()
    }

    /// Whether calls are parts of its content (Anthropic, Gemini).
    pub(crate) fn has_call_parts(&self) -> bool {
        self.holds.has(PartKind::ToolUse)
    }

    /// Whether it answers tool calls.
    pub(crate) fn has_results(&self) -> bool {
        self.kind == Kind::Output || self.role == Role::Tool || self.has_result_parts()
    }

    /// Whether its results are parts of its content (Anthropic, Gemini), not the content itself.
    pub(crate) fn has_result_parts(&self) -> bool {
        self.role != Role::Assistant && self.holds.has(PartKind::ToolResult)
    }

    /// Responses: the message itself, if it is a tool call.
    pub(crate) fn call_item(&self) -> Option<Json<'a>> {
        self.whole.filter(|_| self.kind == Kind::Call)
    }

    /// Responses: the message itself, if it is what a tool call gave.
    pub(crate) fn output_item(&self) -> Option<Json<'a>> {
        self.whole.filter(|_| self.kind == Kind::Output)
    }

    fn has_images(&self) -> bool {
        is_listed(self.images)
    }
}

fn is_listed(value: Option<Json<'_>>) -> bool {
    value.is_some_and(|value| !value.is_null() && value.raw() != "[]")
}
