//! The answers of Ollama's chat (`message`) and generate (`response`): one body, or a stream of lines of which the last
//! one is `done`.

use model::Usage;

use crate::answer::{Answer, error_text};
use crate::json::Json;
use crate::said::{Room, Said};
use crate::{step, usage};

/// An answer as far as it has come.
#[derive(Debug)]
pub(crate) struct OllamaAnswer {
    said: Option<Said>,
    room: Room,
    usage: Usage,
    model: Option<String>,
    error: Option<String>,
    saw_end: bool,
}

impl OllamaAnswer {
    pub(crate) fn new(limit: usize) -> OllamaAnswer {
        let usage = Usage::default();
        OllamaAnswer { said: None, room: Room(limit), usage, model: None, error: None, saw_end: false }
    }

    /// One line, or a whole body: they look the same.
    pub(crate) fn event(&mut self, line: &str) {
        let Ok(line) = Json::parse(line) else { return };
        line.fields(|key, value| match key {
            "message" => self.read_message(value),
            "response" => {
                let piece = value.text().unwrap_or_default();
                self.said.get_or_insert_default().say(&piece, &mut self.room);
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
        Answer { answered: self.said.map(Said::finish), usage, model, error, complete, ..Answer::default() }
    }

    /// A message, or the next piece of one; its calls are always whole. Thinking is not what the model says.
    fn read_message(&mut self, message: Json<'_>) {
        let said = self.said.get_or_insert_default();
        message.fields(|key, value| match key {
            "content" => said.say(&value.text().unwrap_or_default(), &mut self.room),
            "tool_calls" => value.items(|call| {
                if let Some(function) = call.field("function") {
                    said.call(&step::named(function), &mut self.room);
                }
            }),
            _ => {}
        });
    }
}
