//! Gemini's answers: a body with `candidates[].content.parts`, or a stream of such bodies, each
//! with the next parts.

use std::borrow::Cow;

use model::{ToolCall, Usage};

use crate::answer::accumulator::{Accumulator, ByteBudget};
use crate::answer::choices::Choices;
use crate::answer::usage;
use crate::answer::{Answer, error_text};
use crate::json::Json;
use crate::tool_call;

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct GeminiAnswer {
    candidates: Choices,
    /// The JSON path of the argument that is being streamed.
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

    /// Reads one event or one array element.
    pub(crate) fn event(&mut self, data: &str) {
        if let Ok(response) = Json::parse(data) {
            // Google's own clients get the answer inside an envelope.
            self.read(response.field("response").unwrap_or(response));
        }
    }

    /// Reads a whole body.
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
            // A blocked prompt has no candidates: this is the whole answer.
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
        let Some((accumulator, budget)) = self.candidates.at(index) else { return };
        if let Some(parts) = content.and_then(|content| content.field("parts")) {
            parts.items(|part| read_part(part, accumulator, budget, &mut self.argument));
        }
        if finished {
            self.candidates.finish_one(index);
        }
    }
}

/// Reads one part. Thoughts are ignored: they are not part of the response.
fn read_part(part: Json<'_>, accumulator: &mut Accumulator, budget: &mut ByteBudget, argument: &mut String) {
    let (mut text, mut is_thought, mut call, mut code) = (None, false, None, None);
    part.fields(|key, value| match key {
        "text" => text = value.text(),
        "thought" => is_thought = value.is_true(),
        "functionCall" => call = Some(value),
        "executableCode" => code = Some(value),
        _ => {}
    });
    if let Some(text) = text.filter(|_| !is_thought) {
        accumulator.push_text(&text, budget);
    }
    if let Some(call) = call {
        read_call(call, accumulator, budget, argument);
    }
    if let Some(code) = code {
        accumulator.push_call(&ToolCall { name: "executableCode".into(), arguments: code.raw().into() }, budget);
    }
}

/// Reads a call, or a piece of a call whose arguments are streamed. Only the first piece has a
/// name.
fn read_call(call: Json<'_>, accumulator: &mut Accumulator, budget: &mut ByteBudget, argument: &mut String) {
    let whole = tool_call::read_value(call);
    let newest = accumulator.newest_index().filter(|_| whole.name.is_empty());
    if newest.is_none() {
        argument.clear();
        accumulator.push_call(&whole, budget);
    }
    let (Some(index), Some(pieces)) = (newest.or(accumulator.newest_index()), call.field("partialArgs")) else {
        return;
    };
    pieces.items(|piece| {
        let arguments = Cow::Owned(argument_piece(piece, argument));
        accumulator.append_call(index, &ToolCall { name: Cow::default(), arguments }, budget);
    });
}

/// A piece of an argument's value, prefixed with its JSON path when the path changes. The result
/// does not depend on where the pieces are cut.
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
