//! Ollama's answers to chat (`message`) and generate (`response`): a body, or a stream of lines
//! that ends with `done`.

use model::Usage;

use crate::answer::accumulator::{Accumulator, ByteBudget};
use crate::answer::usage;
use crate::answer::{Answer, error_text};
use crate::json::Json;
use crate::tool_call;

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct OllamaAnswer {
    accumulator: Option<Accumulator>,
    budget: ByteBudget,
    usage: Usage,
    model: Option<String>,
    error: Option<String>,
    saw_end: bool,
}

impl OllamaAnswer {
    pub(crate) fn new(limit: usize) -> OllamaAnswer {
        let usage = Usage::default();
        OllamaAnswer { accumulator: None, budget: ByteBudget(limit), usage, model: None, error: None, saw_end: false }
    }

    /// Reads one line or a whole body, which have the same form.
    pub(crate) fn event(&mut self, line: &str) {
        let Ok(line) = Json::parse(line) else { return };
        line.fields(|key, value| match key {
            "message" => self.read_message(value),
            "response" => {
                let piece = value.text().unwrap_or_default();
                self.accumulator.get_or_insert_default().push_text(&piece, &mut self.budget);
            }
            "model" if self.model.is_none() => self.model = value.filled_text().map(Into::into),
            "prompt_eval_count" => self.usage.input = usage::tokens(value),
            "eval_count" => self.usage.output = usage::tokens(value),
            "done" => self.saw_end |= value.is_true(),
            "error" if !value.is_null() => self.error = Some(error_text(value)),
            _ => {}
        });
    }

    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    pub(crate) fn finish(self) -> Answer {
        let complete = self.saw_end && self.error.is_none();
        let (usage, model, error) = (self.usage, self.model, self.error);
        Answer {
            answered: self.accumulator.map(Accumulator::finish),
            usage,
            model,
            error,
            complete,
            ..Answer::default()
        }
    }

    /// Reads a message or the next piece of one. Calls are always whole. Thinking is ignored: it is
    /// not part of the response.
    fn read_message(&mut self, message: Json<'_>) {
        let accumulator = self.accumulator.get_or_insert_default();
        message.fields(|key, value| match key {
            "content" => accumulator.push_text(&value.text().unwrap_or_default(), &mut self.budget),
            "tool_calls" => value.items(|call| {
                if let Some(function) = call.field("function") {
                    accumulator.push_call(&tool_call::read_value(function), &mut self.budget);
                }
            }),
            _ => {}
        });
    }
}
