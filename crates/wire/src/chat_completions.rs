//! The answers of OpenAI's Chat Completions: one body with `choices[].message`, or a stream of chunks with
//! `choices[].delta` that ends with `[DONE]`. The older Completions have `choices[].text` instead, streamed or not.

use model::Usage;

use crate::answer::{Answer, error_text};
use crate::choices::Choices;
use crate::content::{Part, parts};
use crate::json::{Cursor, Json, Malformed};
use crate::said::{Room, Said};
use crate::{step, usage};

/// An answer as far as it has come.
#[derive(Debug)]
pub(crate) struct ChatAnswer {
    choices: Choices,
    usage: Usage,
    model: Option<String>,
    error: Option<String>,
    saw_end: bool,
}

impl ChatAnswer {
    pub(crate) fn new(limit: usize) -> ChatAnswer {
        let (usage, choices) = (Usage::default(), Choices::new(limit));
        ChatAnswer { choices, usage, model: None, error: None, saw_end: false }
    }

    /// The data of one event.
    pub(crate) fn event(&mut self, data: &str) {
        if data.trim_ascii() == "[DONE]" {
            self.saw_end = true;
        } else {
            self.read(data);
        }
    }

    /// A whole body.
    pub(crate) fn body(&mut self, body: &str) {
        self.read(body);
        self.saw_end = !self.choices.is_empty();
    }

    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    pub(crate) fn finish(self) -> Answer {
        // Some providers close the connection after the last choice is finished, without `[DONE]`.
        let complete = (self.saw_end || self.choices.are_finished()) && self.error.is_none();
        let (usage, model, error) = (self.usage, self.model, self.error);
        Answer { answered: self.choices.answered(), usage, model, error, complete, id: None }
    }

    /// A body and a chunk have the same outline. Nothing is taken from one that is broken.
    fn read(&mut self, text: &str) {
        let (mut choices, mut usage, mut model, mut error) = (None, None, None, None);
        let checked = Json::parse_fields(text, |key, value| match key {
            "choices" => choices = Some(value),
            "usage" => usage = Some(value),
            // Groq, which has it at its own place in streams.
            "x_groq" => usage = usage.or(value.field("usage")),
            "model" => model = Some(value),
            "error" => error = Some(value),
            _ => {}
        });
        if checked.is_err() {
            return;
        }
        if let Some(choices) = choices {
            choices.each(|cursor| self.read_choice(cursor));
        }
        if let Some(usage) = usage {
            usage::read_openai(&mut self.usage, usage);
        }
        if let Some(error) = error.filter(|error| !error.is_null()) {
            self.error = Some(error_text(error));
        }
        if self.model.is_none() {
            self.model = model.and_then(Json::filled_text).map(Into::into);
        }
    }

    fn read_choice(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let (mut index, mut message, mut text, mut finished) = (0, Message::default(), None, false);
        cursor.object(|cursor, key| {
            match key {
                "message" | "delta" => {
                    let mut read = Message::default();
                    if cursor.fields(|key, value| read.see(key, value))? {
                        message = read;
                    }
                }
                "index" => index = cursor.value()?.number().unwrap_or(0),
                "finish_reason" => finished = cursor.value()?.is_text(),
                "text" => text = cursor.value()?.text(),
                // Moonshot, which has it here in streams.
                "usage" => usage::read_openai(&mut self.usage, cursor.value()?),
                _ => drop(cursor.value()?),
            }
            Ok(())
        })?;
        let Some((said, room)) = self.choices.at(index) else { return Ok(()) };
        message.read(said, room);
        if let Some(text) = text {
            said.say(&text, room);
        }
        if finished {
            self.choices.finish_one(index);
        }
        Ok(())
    }
}

/// A message, or a piece of one. Reasoning is left out: it is not what the model says.
#[derive(Default)]
struct Message<'a> {
    content: Option<Json<'a>>,
    refusal: Option<Json<'a>>,
    tool_calls: Option<Json<'a>>,
    function_call: Option<Json<'a>>,
}

impl<'a> Message<'a> {
    fn see(&mut self, key: &str, value: Json<'a>) {
        match key {
            "content" => self.content = Some(value),
            "refusal" => self.refusal = Some(value),
            "tool_calls" => self.tool_calls = Some(value),
            "function_call" => self.function_call = Some(value),
            _ => {}
        }
    }

    fn read(&self, said: &mut Said, room: &mut Room) {
        for content in [self.content, self.refusal].into_iter().flatten() {
            parts(content, |part| {
                if let Part::Text(text) = part {
                    said.say(&text.text().unwrap_or_default(), room);
                }
            });
        }
        if let Some(calls) = self.tool_calls {
            calls.items(|call| read_call(call, said, room));
        }
        if let Some(call) = self.function_call.filter(|call| !call.is_null()) {
            said.call_piece(0, &step::named(call), room);
        }
    }
}

fn read_call(call: Json<'_>, said: &mut Said, room: &mut Room) {
    let (mut index, mut body, mut begins) = (None, None, false);
    call.fields(|key, value| match key {
        "index" => index = value.number(),
        "id" => begins = value.filled_text().is_some(),
        "function" | "custom" => body = Some(value),
        _ => {}
    });
    let Some(piece) = body.map(step::named) else { return };
    // Whole messages have no indices, and some providers leave them out of streams: then an id begins a new call.
    match index.or(said.newest_index().filter(|_| !begins)) {
        Some(index) => said.call_piece(index, &piece, room),
        None => said.call(&piece, room),
    }
}
