//! One entry of a history, with its role and the kinds of its parts.

use std::borrow::Cow;

use super::client_context::{is_setup, users_words};
use crate::content::{Content, PartKind, PartKinds};
use crate::json::{Cursor, Json, Malformed};

/// The author of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    /// `tool`, and the legacy `function`.
    Tool,
    /// `assistant`, Gemini's `model`.
    Assistant,
    /// `system`, `developer` and unknown roles.
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

/// The kind of an entry. In Responses messages, tool calls and their outputs stand side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Message,
    Call,
    Output,
    /// Refers to an item of an earlier answer that the provider stores.
    Reference,
}

impl Kind {
    /// The kind that a `type` names: `function_call`, `custom_tool_call` and all built-in tools,
    /// and their outputs.
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

/// One message, its values not yet read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message<'a> {
    whole: Option<Json<'a>>,
    role: Role,
    kind: Kind,
    kinds: PartKinds,
    /// Its `content`; Gemini's `parts`.
    pub(crate) content: Option<Json<'a>>,
    /// Chat Completions: the calls of an assistant's message, and the legacy form.
    pub(crate) tool_calls: Option<Json<'a>>,
    pub(crate) function_call: Option<Json<'a>>,
    /// Chat Completions: the call that a tool's message answers.
    pub(crate) tool_call_id: Option<Json<'a>>,
    /// Ollama: attached images.
    images: Option<Json<'a>>,
}

impl<'a> Message<'a> {
    /// Reads a message from the cursor. One without a role gets `default_role`; a value that is not
    /// an object gets `Role::Other`.
    pub(crate) fn read(cursor: &mut Cursor<'a>, default_role: Role) -> Result<Message<'a>, Malformed> {
        let mut message = Message { role: default_role, ..Message::default() };
        let (whole, is_object) =
            cursor.capture(|cursor| cursor.object(|cursor, key| message.read_field(cursor, key)))?;
        if !is_object {
            message.role = Role::Other;
        }
        message.whole = Some(whole);
        Ok(message)
    }

    /// Creates a user's message from a prompt.
    pub(crate) fn of_user(content: Json<'a>, images: Option<Json<'a>>) -> Message<'a> {
        let kinds = PartKinds::of_prompt(content);
        Message { whole: Some(content), role: Role::User, kinds, content: Some(content), images, ..Message::default() }
    }

    fn read_field(&mut self, cursor: &mut Cursor<'a>, key: &str) -> Result<(), Malformed> {
        match key {
            "role" => self.role = Role::of(cursor.value()?),
            "content" | "parts" => {
                let (content, kinds) = cursor.capture(PartKinds::read)?;
                (self.content, self.kinds) = (Some(content), kinds);
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

    /// Whether the user wrote it: it has the user role, and a text or an attachment.
    ///
    /// A message with a tool result is never the user's, even with text beside the result: clients
    /// put reminders there (Claude Code's `<system-reminder>`) that change with each step and would
    /// make each step look like a new turn.
    pub(crate) fn is_by_user(&self) -> bool {
        let says_something =
            self.kinds.has(PartKind::Text) || self.kinds.has(PartKind::Attachment) || self.has_images();
        self.role == Role::User && says_something && !self.kinds.has(PartKind::ToolResult) && !self.is_setup()
    }

    /// Whether it only sets up the context.
    fn is_setup(&self) -> bool {
        self.content.is_some_and(is_setup)
    }

    /// Whether the model wrote it.
    pub(crate) fn is_by_model(&self) -> bool {
        self.role == Role::Assistant
    }

    /// The user's words and attachments.
    pub(crate) fn content(&self) -> Content<'a> {
        let mut read = self.content.map(Content::read).unwrap_or_default();
        read.texts = users_words(read.texts);
        if let Some(images) = self.images {
            images.items(|image| read.attachments.push(image.raw()));
        }
        if self.kinds.has(PartKind::Attachment) && read.texts.is_empty() && read.attachments.is_empty() {
            read.attachments.extend(self.content.map(Json::raw));
        }
        read
    }

    /// The content, if the model wrote it and called no tools.
    pub(crate) fn said_by_model(&self) -> Option<Json<'a>> {
        self.content.filter(|_| self.role == Role::Assistant && !self.has_calls())
    }

    /// Whether the model called tools in it.
    pub(crate) fn has_calls(&self) -> bool {
        let in_message = || self.has_call_parts() || is_listed(self.tool_calls) || is_listed(self.function_call);
        // A reference does not say what it refers to; agents use it for calls.
        let is_call_item = matches!(self.kind, Kind::Call | Kind::Reference);
        is_call_item || (self.role == Role::Assistant && in_message())
    }

    /// Responses: the id of the item that it refers to.
    pub(crate) fn referenced_item(&self) -> Option<Cow<'a, str>> {
        self.whole.filter(|_| self.kind == Kind::Reference)?.field("id")?.filled_text()
    }

    /// Whether calls are parts of its content (Anthropic, Gemini).
    pub(crate) fn has_call_parts(&self) -> bool {
        self.kinds.has(PartKind::ToolUse)
    }

    /// Whether it answers tool calls.
    pub(crate) fn has_results(&self) -> bool {
        self.kind == Kind::Output || self.role == Role::Tool || self.has_result_parts()
    }

    /// Whether its results are parts of its content (Anthropic, Gemini), not the content itself.
    pub(crate) fn has_result_parts(&self) -> bool {
        self.role != Role::Assistant && self.kinds.has(PartKind::ToolResult)
    }

    /// Responses: the message itself, if it is a tool call.
    pub(crate) fn call_item(&self) -> Option<Json<'a>> {
        self.whole.filter(|_| self.kind == Kind::Call)
    }

    /// Responses: the message itself, if it is the output of a tool call.
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
