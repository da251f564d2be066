//! The answers of OpenAI's Chat Completions: one body with `choices[].message`, or a stream of
//! chunks with `choices[].delta` that ends with `[DONE]`. The older Completions have
//! `choices[].text` instead, streamed or not.

use model::Usage;

use crate::answer::accumulator::{Accumulator, ByteBudget};
use crate::answer::choices::{Choices, MAX_CHOICES};
use crate::answer::usage;
use crate::answer::{Answer, error_text};
use crate::content::{Part, parts};
use crate::json::{Cursor, Json, Malformed};
use crate::{Dialect, tool_call};

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct ChatAnswer {
    choices: Choices,
    usage: Usage,
    model: Option<String>,
    error: Option<String>,
    saw_end: bool,
    /// Whether a body or chunk has shown that this is the dialect.
    is_shown: bool,
}

impl ChatAnswer {
    pub(crate) fn new(limit: usize) -> ChatAnswer {
        let (usage, choices) = (Usage::default(), Choices::new(limit));
        ChatAnswer { choices, usage, model: None, error: None, saw_end: false, is_shown: false }
    }

    /// Reads one event. Returns the dialect if the event turns out to be of another one.
    pub(crate) fn event(&mut self, data: &str) -> Option<Dialect> {
        if data.trim_ascii() == "[DONE]" {
            self.saw_end = true;
            return None;
        }
        self.read(data)
    }

    /// Reads a whole body. Returns the dialect as [`ChatAnswer::event`] does.
    pub(crate) fn body(&mut self, body: &str) -> Option<Dialect> {
        let other = self.read(body);
        self.saw_end = !self.choices.is_empty();
        other
    }

    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    pub(crate) fn finish(self) -> Answer {
        // Some providers close the connection after the last choice is finished, without `[DONE]`.
        let complete = (self.saw_end || self.choices.are_finished()) && self.error.is_none();
        let (usage, model, error) = (self.usage, self.model, self.error);
        Answer { answered: self.choices.answered(), usage, model, error, complete, ..Answer::default() }
    }

    /// Reads a body or a chunk, which have the same outline. Ignores one that is invalid or of
    /// another dialect.
    fn read(&mut self, text: &str) -> Option<Dialect> {
        let mut chunk = Chunk { reported: self.usage, is_shown: self.is_shown, ..Chunk::default() };
        let checked = chunk.read(text);
        self.is_shown = chunk.is_shown;
        if checked.is_ok() {
            self.take_chunk(&chunk);
        }
        chunk.other
    }

    fn take_chunk(&mut self, chunk: &Chunk<'_>) {
        chunk.pieces.iter().for_each(|piece| self.apply(piece));
        match chunk.usage {
            // The usual case: no choice has reported usage of its own.
            Some((_, usage)) if self.usage == chunk.reported => self.usage = usage,
            Some((written, _)) => self.report(written),
            None => {}
        }
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            self.error = Some(error_text(error));
        }
        if self.model.is_none() {
            self.model = chunk.model.and_then(Json::filled_text).map(Into::into);
        }
    }

    fn report(&mut self, usage: Json<'_>) {
        // Cannot fail: a `Json` is valid by construction.
        let _ = usage::read_openai(&mut self.usage, &mut usage.cursor());
    }

    fn apply(&mut self, piece: &Piece<'_>) {
        if let Some(usage) = piece.usage {
            self.report(usage);
        }
        let Some((accumulator, budget)) = self.choices.at(piece.index) else { return };
        piece.message.read(accumulator, budget);
        if let Some(text) = piece.text.and_then(Json::text) {
            accumulator.push_text(&text, budget);
        }
        if piece.is_last {
            self.choices.finish_one(piece.index);
        }
    }
}

/// A body or a chunk.
#[derive(Default)]
struct Chunk<'a> {
    /// The usage that earlier chunks reported.
    reported: Usage,
    pieces: Vec<Piece<'a>>,
    /// The usage object of this chunk, and the sum with `reported`.
    usage: Option<(Json<'a>, Usage)>,
    model: Option<Json<'a>>,
    error: Option<Json<'a>>,
    /// Whether this or an earlier chunk has shown the dialect.
    is_shown: bool,
    /// The other dialect that this turned out to be.
    other: Option<Dialect>,
}

impl<'a> Chunk<'a> {
    fn read(&mut self, text: &'a str) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(text);
        cursor.object(|cursor, key| self.read_field(cursor, key))?;
        cursor.end()
    }

    fn read_field(&mut self, cursor: &mut Cursor<'a>, key: &str) -> Result<(), Malformed> {
        match key {
            "choices" => {
                self.is_shown = true;
                self.pieces.clear();
                cursor.array(|cursor| self.read_piece(cursor))?;
            }
            "usage" => self.usage = Some(self.with_usage(cursor)?),
            // Groq's place for usage in streams.
            "x_groq" => {
                let usage = cursor.value()?.field("usage");
                if let Some(usage) = usage.filter(|_| self.usage.is_none()) {
                    self.usage = Some(self.with_usage(&mut usage.cursor())?);
                }
            }
            "model" => self.model = Some(cursor.value()?),
            "error" => self.error = Some(cursor.value()?),
            _ if self.is_shown => cursor.pass()?,
            _ => {
                self.other = Dialect::of_field(cursor, key)?;
                // Ends the visit: the rest is another dialect's.
                return if self.other.is_some() { Err(Malformed::Invalid) } else { Ok(()) };
            }
        }
        Ok(())
    }

    fn with_usage(&self, cursor: &mut Cursor<'a>) -> Result<(Json<'a>, Usage), Malformed> {
        let mut usage = self.reported;
        let (written, ()) = cursor.capture(|cursor| usage::read_openai(&mut usage, cursor))?;
        Ok((written, usage))
    }

    fn read_piece(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let piece = Piece::read(cursor)?;
        // Bounded: a million choices would take more memory than the body itself.
        if self.pieces.len() < MAX_CHOICES {
            self.pieces.push(piece);
        }
        Ok(())
    }
}

/// One choice of a body or a chunk, its values not yet read.
#[derive(Default)]
struct Piece<'a> {
    index: u64,
    message: Message<'a>,
    text: Option<Json<'a>>,
    /// Moonshot's place for usage in streams.
    usage: Option<Json<'a>>,
    is_last: bool,
}

impl<'a> Piece<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Piece<'a>, Malformed> {
        let mut piece = Piece::default();
        cursor.object(|cursor, key| {
            match key {
                "message" | "delta" => {
                    let mut message = Message::default();
                    if cursor.fields(|key, value| message.read_field(key, value))? {
                        piece.message = message;
                    }
                }
                "index" => piece.index = cursor.value()?.number().unwrap_or(0),
                "finish_reason" => piece.is_last = cursor.value()?.is_text(),
                "text" => piece.text = Some(cursor.value()?),
                "usage" => piece.usage = Some(cursor.value()?),
                _ => cursor.pass()?,
            }
            Ok(())
        })?;
        Ok(piece)
    }
}

/// A message or a piece of one. Reasoning is ignored: it is not part of the response.
#[derive(Default)]
struct Message<'a> {
    content: Option<Json<'a>>,
    refusal: Option<Json<'a>>,
    tool_calls: Option<Json<'a>>,
    function_call: Option<Json<'a>>,
}

impl<'a> Message<'a> {
    fn read_field(&mut self, key: &str, value: Json<'a>) {
        match key {
            "content" => self.content = Some(value),
            "refusal" => self.refusal = Some(value),
            "tool_calls" => self.tool_calls = Some(value),
            "function_call" => self.function_call = Some(value),
            _ => {}
        }
    }

    fn read(&self, accumulator: &mut Accumulator, budget: &mut ByteBudget) {
        for content in [self.content, self.refusal].into_iter().flatten() {
            parts(content, |part| {
                if let Part::Text(text) = part {
                    accumulator.push_text(&text.text().unwrap_or_default(), budget);
                }
            });
        }
        if let Some(calls) = self.tool_calls {
            calls.items(|call| read_call(call, accumulator, budget));
        }
        if let Some(call) = self.function_call.filter(|call| !call.is_null()) {
            accumulator.append_call(0, &tool_call::read_value(call), budget);
        }
    }
}

fn read_call(call: Json<'_>, accumulator: &mut Accumulator, budget: &mut ByteBudget) {
    let (mut index, mut body, mut begins) = (None, None, false);
    call.fields(|key, value| match key {
        "index" => index = value.number(),
        "id" => begins = value.filled_text().is_some(),
        "function" | "custom" => body = Some(value),
        _ => {}
    });
    let Some(piece) = body.map(tool_call::read_value) else { return };
    // Whole messages have no indices, and some providers omit them in streams. Then an id begins a
    // new call.
    match index.or(accumulator.newest_index().filter(|_| !begins)) {
        Some(index) => accumulator.append_call(index, &piece, budget),
        None => accumulator.push_call(&piece, budget),
    }
}
