//! The answers of Gemini: one body with `candidates[].content.parts`, or a stream of such bodies, each with the next parts.

use std::borrow::Cow;

use model::{ToolCall, Usage};

use crate::answer::{Answer, error_text};
use crate::choices::Choices;
use crate::json::Json;
use crate::said::{Room, Said};
use crate::{step, usage};

/// An answer as far as it has come.
#[derive(Debug)]
pub(crate) struct GeminiAnswer {
    candidates: Choices,
    /// The argument whose value is streamed at the moment.
    argument: String,
    usage: Usage,
    model: Option<String>,
    error: Option<String>,
    is_whole: bool,
}

impl GeminiAnswer {
    pub(crate) fn new(limit: usize) -> GeminiAnswer {
        let (candidates, usage) = (Choices::new(limit), Usage::default());
        GeminiAnswer { candidates, argument: String::new(), usage, model: None, error: None, is_whole: false }
    }

    /// The data of one event, or one element of an array.
    pub(crate) fn event(&mut self, data: &str) {
        if let Ok(response) = Json::parse(data) {
            // Google's own clients are answered inside an envelope.
            self.read(response.field("response").unwrap_or(response));
        }
    }

    /// A whole body.
    pub(crate) fn body(&mut self, body: &str) {
        self.event(body);
        self.is_whole |= !self.candidates.is_empty();
    }

    pub(crate) fn finish(self) -> Answer {
        let complete = (self.is_whole || self.candidates.are_finished()) && self.error.is_none();
        let (usage, model, error) = (self.usage, self.model, self.error);
        Answer { answered: self.candidates.answered(), usage, model, error, complete, ..Answer::default() }
    }

    fn read(&mut self, response: Json<'_>) {
        response.fields(|key, value| match key {
            "candidates" => value.items(|candidate| self.read_candidate(candidate)),
            "usageMetadata" => self.usage = usage::read_gemini(value),
            "modelVersion" => self.model = value.filled_text().map(Into::into),
            "error" if !value.is_null() => self.error = Some(error_text(value)),
            // A prompt that is not answered at all: that is the whole answer.
            "promptFeedback" => self.is_whole |= value.field("blockReason").is_some(),
            _ => {}
        });
    }

    fn read_candidate(&mut self, candidate: Json<'_>) {
        let (mut index, mut content, mut finished) = (0, None, false);
        candidate.fields(|key, value| match key {
            "index" => index = value.number().unwrap_or(0),
            "content" => content = Some(value),
            "finishReason" => finished = value.is_text(),
            _ => {}
        });
        let Some((said, room)) = self.candidates.at(index) else { return };
        if let Some(parts) = content.and_then(|content| content.field("parts")) {
            parts.items(|part| read_part(part, said, room, &mut self.argument));
        }
        if finished {
            self.candidates.finish_one(index);
        }
    }
}

/// One part. Thoughts are left out: they are not what the model says.
fn read_part(part: Json<'_>, said: &mut Said, room: &mut Room, argument: &mut String) {
    let (mut text, mut is_thought, mut call, mut code) = (None, false, None, None);
    part.fields(|key, value| match key {
        "text" => text = value.text(),
        "thought" => is_thought = value.is_true(),
        "functionCall" => call = Some(value),
        "executableCode" => code = Some(value),
        _ => {}
    });
    if let Some(text) = text.filter(|_| !is_thought) {
        said.say(&text, room);
    }
    if let Some(call) = call {
        read_call(call, said, room, argument);
    }
    if let Some(code) = code {
        said.call(&ToolCall { name: "executableCode".into(), arguments: code.raw().into() }, room);
    }
}

/// A call, or a piece of one whose arguments are streamed: only the first piece has the name.
fn read_call(call: Json<'_>, said: &mut Said, room: &mut Room, argument: &mut String) {
    let whole = step::named(call);
    let newest = said.newest_index().filter(|_| whole.name.is_empty());
    if newest.is_none() {
        argument.clear();
        said.call(&whole, room);
    }
    let (Some(index), Some(pieces)) = (newest.or(said.newest_index()), call.field("partialArgs")) else { return };
    pieces.items(|piece| {
        let arguments = Cow::Owned(argument_piece(piece, argument));
        said.call_piece(index, &ToolCall { name: Cow::default(), arguments }, room);
    });
}

/// A piece of an argument's value, after its place if that is another than before: so where the pieces are cut makes no
/// difference.
fn argument_piece(piece: Json<'_>, argument: &mut String) -> String {
    let (mut place, mut written) = (Cow::default(), Cow::default());
    piece.fields(|key, value| match key {
        "jsonPath" => place = value.text().unwrap_or_default(),
        "stringValue" | "numberValue" | "boolValue" | "nullValue" => {
            written = value.text().unwrap_or(Cow::Borrowed(value.raw()));
        }
        _ => {}
    });
    if *argument == *place {
        return written.into_owned();
    }
    argument.replace_range(.., &place);
    format!("\n{place}={written}")
}
