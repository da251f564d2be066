//! The shapes that conversations are written in.

use model::Format;

use crate::json::{Cursor, Malformed};

/// One shape of requests, responses and streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI Chat Completions.
    ChatCompletions,
    /// OpenAI's Completions from before there were chats.
    Completions,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Gemini's generateContent and streamGenerateContent.
    Gemini,
    /// Ollama's own chat and generate.
    Ollama,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 6] = [
        Dialect::ChatCompletions,
        Dialect::Completions,
        Dialect::Responses,
        Dialect::Messages,
        Dialect::Gemini,
        Dialect::Ollama,
    ];

    /// The format whose clients speak it: their errors have its shape.
    pub fn format(self) -> Format {
        match self {
            Dialect::ChatCompletions | Dialect::Completions | Dialect::Responses => Format::Openai,
            Dialect::Messages => Format::Anthropic,
            Dialect::Gemini => Format::Gemini,
            Dialect::Ollama => Format::Ollama,
        }
    }

    /// The dialect of an answer's body or event, by the fields that only one dialect has. None: it could be of any.
    ///
    /// The path does not decide: gateways answer on one dialect's path in another.
    pub(crate) fn of_answer(text: &str) -> Option<Dialect> {
        let mut found = None;
        let _ = Cursor::new(text).object(|cursor, key| {
            found = Dialect::of_field(cursor, key)?;
            // The first that tells it is enough.
            if found.is_some() { Err(Malformed::Invalid) } else { Ok(()) }
        });
        found
    }

    /// The dialect that a field of an answer tells; one that tells none is taken from the cursor.
    pub(crate) fn of_field(cursor: &mut Cursor<'_>, key: &str) -> Result<Option<Dialect>, Malformed> {
        Ok(match key {
            "choices" => Some(Dialect::ChatCompletions),
            "candidates" | "usageMetadata" | "promptFeedback" => Some(Dialect::Gemini),
            "done" => Some(Dialect::Ollama),
            "output" => Some(Dialect::Responses),
            // Google's own clients are answered inside an envelope.
            "response" => cursor.value()?.field("candidates").map(|_| Dialect::Gemini),
            "type" => Dialect::of_type(&cursor.value()?.text().unwrap_or_default()),
            _ => cursor.pass().map(|()| None)?,
        })
    }

    fn of_type(kind: &str) -> Option<Dialect> {
        match kind {
            "message" | "message_start" => Some(Dialect::Messages),
            _ if kind.starts_with("response.") => Some(Dialect::Responses),
            _ => None,
        }
    }
}
