//! The dialects in which conversations are written.

use model::Format;
use strum::{EnumString, IntoStaticStr};

use crate::json::{Cursor, Malformed};

/// One form of requests, responses and streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Dialect {
    /// OpenAI Chat Completions.
    ChatCompletions,
    /// OpenAI's legacy Completions.
    Completions,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Gemini's generateContent and streamGenerateContent.
    Gemini,
    /// Ollama's own chat and generate.
    Ollama,
    /// Bedrock's Converse.
    Converse,
    /// Cohere's chat.
    Cohere,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 8] = [
        Dialect::ChatCompletions,
        Dialect::Completions,
        Dialect::Responses,
        Dialect::Messages,
        Dialect::Gemini,
        Dialect::Ollama,
        Dialect::Converse,
        Dialect::Cohere,
    ];

    /// Its name, as it is written to disk.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(name: &str) -> Option<Dialect> {
        name.parse().ok()
    }

    /// The format whose error shape clients of this dialect expect.
    pub fn format(self) -> Format {
        match self {
            Dialect::ChatCompletions | Dialect::Completions | Dialect::Responses | Dialect::Cohere => Format::Openai,
            // Bedrock has no format of its own; its clients show any body of an error.
            Dialect::Messages | Dialect::Converse => Format::Anthropic,
            Dialect::Gemini => Format::Gemini,
            Dialect::Ollama => Format::Ollama,
        }
    }

    /// The dialect of an answer's body or event, by fields that only one dialect has. `None` if it
    /// has no such field.
    ///
    /// The path does not decide: gateways answer on one dialect's path in another dialect.
    pub(crate) fn of_answer(text: &str) -> Option<Dialect> {
        let mut found = None;
        let _ = Cursor::new(text).object(|cursor, key| {
            found = Dialect::of_field(cursor, key)?;
            // Ends the visit: one such field is enough.
            if found.is_some() { Err(Malformed::Invalid) } else { Ok(()) }
        });
        found
    }

    /// The dialect that a field of an answer belongs to. Reads the value from the cursor if it
    /// belongs to none.
    pub(crate) fn of_field(cursor: &mut Cursor<'_>, key: &str) -> Result<Option<Dialect>, Malformed> {
        Ok(match key {
            "choices" => Some(Dialect::ChatCompletions),
            "candidates" | "usageMetadata" | "promptFeedback" => Some(Dialect::Gemini),
            "done" => Some(Dialect::Ollama),
            "output" if cursor.peek() == b'{' => Some(Dialect::Converse),
            "output" => Some(Dialect::Responses),
            "contentBlockIndex" | "stopReason" => Some(Dialect::Converse),
            // Chat Completions have it only inside of choices.
            "finish_reason" => Some(Dialect::Cohere),
            // Google's own clients get the answer inside an envelope.
            "response" => cursor.value()?.field("candidates").map(|_| Dialect::Gemini),
            "type" => Dialect::of_type(&cursor.value()?.text().unwrap_or_default()),
            _ => cursor.pass().map(|()| None)?,
        })
    }

    fn of_type(kind: &str) -> Option<Dialect> {
        match kind {
            "message" | "message_start" => Some(Dialect::Messages),
            "message-start" | "content-start" | "content-delta" | "tool-plan-delta" | "tool-call-start"
            | "message-end" => Some(Dialect::Cohere),
            _ if kind.starts_with("response.") => Some(Dialect::Responses),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_disk_do_not_change() {
        let names = Dialect::ALL.map(Dialect::as_str);
        let expected =
            ["chat_completions", "completions", "responses", "messages", "gemini", "ollama", "converse", "cohere"];
        assert_eq!(names, expected);
        assert_eq!(names.map(Dialect::parse), Dialect::ALL.map(Some));
        assert_eq!(Dialect::parse("Chat"), None);
    }
}
