//! One entry of a list of `messages`: who wrote it and what it holds, in one look.

use crate::content::{Holds, PartKind};
use crate::json::{Cursor, Json, Malformed};

/// Who wrote a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    User,
    /// `tool`, and `function` from before there were tools.
    Tool,
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
            Some("assistant") => Role::Assistant,
            _ => Role::Other,
        }
    }
}

/// One message, its values still unread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message<'a> {
    role: Role,
    holds: Holds,
    pub(crate) content: Option<Json<'a>>,
    /// Chat Completions: the calls of an assistant's message, and their spelling before there were tools.
    pub(crate) tool_calls: Option<Json<'a>>,
    pub(crate) function_call: Option<Json<'a>>,
    /// Chat Completions: the call that a tool's message answers.
    pub(crate) tool_call_id: Option<Json<'a>>,
}

impl<'a> Message<'a> {
    /// Takes a message from the cursor. What is no object is a message of nobody's.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Message<'a>, Malformed> {
        let mut message = Message::default();
        cursor.object(|cursor, key| {
            match key {
                "role" => message.role = Role::of(cursor.value()?),
                "content" => {
                    let (content, holds) = cursor.capture(Holds::look)?;
                    (message.content, message.holds) = (Some(content), holds);
                }
                "tool_calls" => message.tool_calls = Some(cursor.value()?),
                "function_call" => message.function_call = Some(cursor.value()?),
                "tool_call_id" => message.tool_call_id = Some(cursor.value()?),
                _ => drop(cursor.value()?),
            }
            Ok(())
        })?;
        Ok(message)
    }

    /// The content, if the user wrote it: in the user role, with a text or an attachment.
    ///
    /// A message that carries a tool result is never one, whatever text stands beside it: agents put reminders of their
    /// own next to results (Claude Code's `<system-reminder>`), which change from step to step and would make every step
    /// of work look like a new turn.
    pub(crate) fn written_by_user(&self) -> Option<Json<'a>> {
        let says_something = self.holds.has(PartKind::Text) || self.holds.has(PartKind::Attachment);
        let is_prompt = self.role == Role::User && says_something && !self.holds.has(PartKind::ToolResult);
        self.content.filter(|_| is_prompt)
    }

    /// Whether the model called tools in it.
    pub(crate) fn has_calls(&self) -> bool {
        let listed = |value: Option<Json<'_>>| value.is_some_and(|value| !value.is_null() && value.raw() != "[]");
        self.role == Role::Assistant
            && (self.holds.has(PartKind::ToolUse) || listed(self.tool_calls) || listed(self.function_call))
    }

    /// Whether it answers tool calls.
    pub(crate) fn has_results(&self) -> bool {
        self.role == Role::Tool || self.has_result_parts()
    }

    /// Whether its results are parts of its content (Anthropic), not the content itself.
    pub(crate) fn has_result_parts(&self) -> bool {
        self.role == Role::User && self.holds.has(PartKind::ToolResult)
    }
}
