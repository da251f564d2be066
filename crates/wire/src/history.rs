//! Bodies that carry their history as a list: `messages` (Chat Completions, Messages, Ollama), `input` (Responses) or
//! `contents` (Gemini). One pass finds the last message that the user wrote and the newest step of work on it; only those
//! are then read in full.

use std::borrow::Cow;

use model::Asked;

use crate::content::Content;
use crate::fenced;
use crate::json::{Cursor, Json, Malformed};
use crate::message::{Message, Role};
use crate::step;

/// What is kept while the messages pass, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Turns<'a> {
    user_messages: u32,
    first_user_message: Option<Message<'a>>,
    prompt: Option<Message<'a>>,
    depth: u32,
    newest_message: &'a str,
    /// The newest messages with tool calls whose results have come, those results, and the messages with tool calls that
    /// no result has followed yet.
    work: Vec<Message<'a>>,
    /// Where in `work` the results begin and end.
    results: (usize, usize),
    /// What the model said last, as long as nothing has followed it.
    said: Option<Json<'a>>,
    /// What the model said right before the prompt.
    said_before: Option<Json<'a>>,
}

impl<'a> Turns<'a> {
    /// Takes a list of messages from the cursor, in the place of any before. A message that does not say who wrote it is
    /// of `nobody`.
    pub(crate) fn read(&mut self, cursor: &mut Cursor<'a>, nobody: Role) -> Result<(), Malformed> {
        *self = Turns::default();
        cursor.array(|cursor| self.read_message(cursor, nobody)).map(drop)
    }

    /// Takes the next message from the cursor.
    fn read_message(&mut self, cursor: &mut Cursor<'a>, nobody: Role) -> Result<(), Malformed> {
        self.take(&Message::read(cursor, nobody)?);
        Ok(())
    }

    /// A body without a history: one message, which the user wrote.
    pub(crate) fn of_prompt(prompt: Json<'a>, images: Option<Json<'a>>) -> Turns<'a> {
        let mut turns = Turns::default();
        turns.take(&Message::of_user(prompt, images));
        turns
    }

    /// Whether there was no message at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest_message.is_empty()
    }

    /// Adds the next message.
    pub(crate) fn take(&mut self, message: &Message<'a>) {
        self.newest_message = message.raw();
        if message.is_by_user() {
            self.user_messages += 1;
            self.first_user_message.get_or_insert(*message);
            self.prompt = Some(*message);
            self.depth = 0;
            self.work.clear();
            self.results = (0, 0);
            self.said_before = self.said.take();
            return;
        }
        self.depth += 1;
        self.said = message.said_by_model();
        if message.has_calls() {
            self.work.push(*message);
        } else if message.has_results() {
            self.take_result(message);
        }
    }

    /// Adds a result: of the newest calls, or one more of those before.
    fn take_result(&mut self, message: &Message<'a>) {
        let (_, results_end) = self.results;
        if results_end < self.work.len() {
            self.work.drain(..results_end);
            self.results.0 = self.work.len();
        }
        self.work.push(*message);
        self.results.1 = self.work.len();
    }

    /// How many messages the user wrote.
    pub(crate) fn user_messages(&self) -> u32 {
        self.user_messages
    }

    /// The last message that the user wrote.
    pub(crate) fn prompt(&self) -> Content<'a> {
        self.prompt.map(|message| message.content()).unwrap_or_default()
    }

    /// What is asked with the messages so far.
    pub(crate) fn asked(&self) -> Asked<'a> {
        let first_user_message = self.first_user_message.filter(|_| self.user_messages > 1);
        self.asked_with(self.prompt(), first_user_message.map(|first| first.content().texts))
    }

    /// The same, for those who have read the user's messages already.
    pub(crate) fn asked_with(&self, prompt: Content<'a>, first_user_message: Option<Vec<Cow<'a, str>>>) -> Asked<'a> {
        let written = self.said_before.filter(|_| self.depth == 0).map(fenced::calls).unwrap_or_default();
        let calls_are_written = !written.is_empty();
        let (tool_calls, tool_results) = match calls_are_written {
            true => (written, prompt.texts.clone()),
            false => step::read(&self.work[..self.results.0], &self.work[self.results.0..self.results.1]),
        };
        Asked {
            prompt: prompt.texts,
            attachments: prompt.attachments,
            turn_position: self.user_messages.saturating_sub(1),
            depth: self.depth,
            newest_message: self.newest_message,
            tool_calls,
            tool_results,
            calls_are_written,
            first_user_message,
            ..Asked::default()
        }
    }
}
