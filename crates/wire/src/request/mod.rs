//! Reads requests.

mod bounded_map;
mod chain;
mod client_context;
mod conversation;
mod history;
mod known_values;
mod message;
mod rebuilt;
mod session;
mod step;
mod talk;
mod text_encoding;
mod transcript;
mod written;

use std::borrow::Cow;

use model::{Asked, Unread};

pub use chain::{Chains, EarlierAnswers, KeptLink};
pub use conversation::{conversation_of, is_side_call};
pub use rebuilt::{RebuiltPrompt, RebuiltPrompts, RunId};
pub use text_encoding::utf8_body;
pub use transcript::{Transcript, TranscriptMessage};

use crate::Dialect;
use crate::json::{Cursor, Json, Malformed};
use history::Turns;
use message::Role;
use session::Session;

/// Reads a request's body in one pass. Its fields decide the dialect, because some clients send one
/// dialect to the path of another; `dialect` decides only between several that are possible.
pub fn read_request(dialect: Dialect, body: &[u8]) -> Result<Asked<'_>, Unread> {
    let text = simdutf8::basic::from_utf8(body).map_err(|_| Unread::NotUtf8)?;
    let mut fields = Fields::default();
    let mut cursor = Cursor::new(text);
    let is_object = cursor.object(|cursor, key| match key {
        // Google's own clients send the request inside an envelope.
        "request" => cursor.object(|cursor, key| fields.read_field(cursor, key)).map(drop),
        _ => fields.read_field(cursor, key),
    })?;
    cursor.end()?;
    if !is_object {
        return Err(Unread::NotAnObject);
    }
    fields.asked(dialect).ok_or(Unread::NoMessages)
}

/// The relevant fields of a body.
#[derive(Debug, Default)]
struct Fields<'a> {
    model: Option<Cow<'a, str>>,
    stream: Option<Json<'a>>,
    max_output: Option<u64>,
    session: Session<'a>,
    messages: Turns<'a>,
    input: Turns<'a>,
    contents: Turns<'a>,
    prompt: Option<Json<'a>>,
    images: Option<Json<'a>>,
}

impl<'a> Fields<'a> {
    fn read_field(&mut self, cursor: &mut Cursor<'a>, key: &str) -> Result<(), Malformed> {
        match key {
            "messages" => self.messages.read(cursor, Role::Other)?,
            "input" if cursor.peek() == b'"' => self.input = Turns::of_prompt(cursor.value()?, None),
            "input" => self.input.read(cursor, Role::Other)?,
            "contents" => self.contents.read(cursor, Role::User)?,
            "prompt" => self.prompt = Some(cursor.value()?),
            "images" => self.images = Some(cursor.value()?),
            "model" => self.model = cursor.value()?.text(),
            "stream" => self.stream = Some(cursor.value()?),
            "max_tokens" | "max_completion_tokens" | "max_output_tokens" => self.limit(Some(cursor.value()?)),
            "inferenceConfig" => self.limit(cursor.value()?.field("maxTokens")),
            "generationConfig" => self.limit(cursor.value()?.field("maxOutputTokens")),
            "options" => self.limit(cursor.value()?.field("num_predict")),
            "tools" | "functions" | "toolConfig" => known_values::pass(cursor)?,
            _ => self.session.keep_field(key, cursor.value()?),
        }
        Ok(())
    }

    fn limit(&mut self, tokens: Option<Json<'_>>) {
        self.max_output = tokens.and_then(Json::number).or(self.max_output);
    }

    fn asked(&mut self, dialect: Dialect) -> Option<Asked<'a>> {
        // Ollama streams by default.
        let streamed = self.stream.filter(|stream| !stream.is_null()).map_or(dialect == Dialect::Ollama, Json::is_true);
        let prompt = self.prompt.map(|prompt| Turns::of_prompt(prompt, self.images)).unwrap_or_default();
        let (messages, input, contents, prompt) = (&self.messages, &self.input, &self.contents, &prompt);
        let candidates = match dialect {
            Dialect::ChatCompletions | Dialect::Messages | Dialect::Ollama | Dialect::Converse | Dialect::Cohere => {
                [messages, input, contents, prompt]
            }
            Dialect::Responses => [input, messages, contents, prompt],
            Dialect::Gemini => [contents, messages, input, prompt],
            Dialect::Completions => [prompt, messages, input, contents],
        };
        let turns = candidates.into_iter().find(|turns| !turns.is_empty())?;
        let (continues, is_kept) = (self.session.continues(), self.session.is_kept(dialect));
        let (model, max_output) = (self.model.take(), self.max_output);
        let (session, referenced_items) = (self.session.id(), turns.referenced_items());
        let person = self.session.person();
        let asked = Asked { model, streamed, max_output, session, person, continues, is_kept, ..turns.asked() };
        Some(Asked { referenced_items, ..asked })
    }
}
