//! Reads a body's history: `messages` (Chat Completions, Messages, Ollama), `input` (Responses) or
//! `contents` (Gemini). One pass finds the user's last message and the newest step of work; only
//! those are read in full.

use std::borrow::Cow;

use model::Asked;

use super::message::{Message, Role};
use super::step;
use super::talk::Talk;
use super::written::{WrittenHistory, WrittenStep, page_of};
use crate::content::Content;
use crate::json::{Cursor, Json, Malformed};

/// The state while the messages are visited, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Turns<'a> {
    user_messages: u32,
    first_user_message: Option<Message<'a>>,
    prompt: Option<Message<'a>>,
    /// The number of turns, and the message that began the newest one.
    turns: u32,
    turn_message: Option<Message<'a>>,
    /// The number of messages after that one.
    depth: u32,
    /// The number of messages after the one that began the turn before.
    depth_before: u32,
    newest_message: &'a str,
    /// The newest messages with tool calls, then their results, then messages with calls that have
    /// no result yet.
    work: Vec<Message<'a>>,
    /// Where the results begin and end in `work`.
    results: (usize, usize),
    /// The model's last message, if nothing follows it.
    said: Option<Json<'a>>,
    /// The model's message right before the prompt.
    before_prompt: Option<Json<'a>>,
    talk: Talk<'a>,
}

impl<'a> Turns<'a> {
    /// Reads a list of messages from the cursor and replaces any earlier one. A message without a
    /// role gets `default_role`.
    pub(crate) fn read(&mut self, cursor: &mut Cursor<'a>, default_role: Role) -> Result<(), Malformed> {
        *self = Turns::default();
        cursor.array(|cursor| self.read_message(cursor, default_role)).map(drop)
    }

    /// Reads the next message from the cursor.
    fn read_message(&mut self, cursor: &mut Cursor<'a>, default_role: Role) -> Result<(), Malformed> {
        self.add(&Message::read(cursor, default_role)?);
        Ok(())
    }

    /// Creates the history of a body with a single prompt.
    pub(crate) fn of_prompt(prompt: Json<'a>, images: Option<Json<'a>>) -> Turns<'a> {
        let mut turns = Turns::default();
        turns.add(&Message::of_user(prompt, images));
        turns
    }

    /// Whether there is no message.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest_message.is_empty()
    }

    /// Adds the next message.
    pub(crate) fn add(&mut self, message: &Message<'a>) {
        self.newest_message = message.raw();
        if message.is_by_user() {
            return self.add_prompt(message);
        }
        self.depth += 1;
        self.said = message.said_by_model();
        match self.said {
            Some(said) => self.talk.push(said),
            None if message.has_calls() || message.has_results() => self.talk.clear(),
            None => {}
        }
        if message.has_calls() {
            self.work.push(*message);
        } else if message.has_results() {
            self.add_result(message);
        }
    }

    /// Adds a message of the user.
    fn add_prompt(&mut self, message: &Message<'a>) {
        self.user_messages += 1;
        self.first_user_message.get_or_insert(*message);
        self.prompt = Some(*message);
        self.talk.add_prompt(message.content);
        if self.has_fresh_results() {
            // A reminder of the client, or input that was queued: the turn continues, and its
            // newest step stays.
            self.depth += 1;
            return;
        }
        self.turns += 1;
        self.turn_message = Some(*message);
        self.depth_before = std::mem::take(&mut self.depth);
        self.work.clear();
        self.results = (0, 0);
        self.before_prompt = self.said.take();
    }

    /// Whether the newest step has its results and no message of the model follows.
    fn has_fresh_results(&self) -> bool {
        let (_, results_end) = self.results;
        results_end > 0 && results_end == self.work.len() && self.said.is_none()
    }

    /// Adds a result of the newest calls, or a further result of the calls before them.
    fn add_result(&mut self, message: &Message<'a>) {
        let (_, results_end) = self.results;
        if results_end < self.work.len() {
            self.work.drain(..results_end);
            self.results.0 = self.work.len();
        }
        self.work.push(*message);
        self.results.1 = self.work.len();
    }

    /// The number of the user's messages.
    pub(crate) fn user_messages(&self) -> u32 {
        self.user_messages
    }

    /// The ids of earlier items that the newest step refers to.
    pub(crate) fn referenced_items(&self) -> Vec<Cow<'a, str>> {
        self.work[..self.results.0].iter().filter_map(Message::referenced_item).collect()
    }

    /// The user's last message.
    pub(crate) fn prompt(&self) -> Content<'a> {
        self.prompt.map(|message| message.content()).unwrap_or_default()
    }

    /// The request that these messages make.
    pub(crate) fn asked(&self) -> Asked<'a> {
        let first_user_message = self.first_user_message.filter(|_| self.user_messages > 1);
        self.asked_with(self.prompt(), first_user_message.map(|first| first.content().texts))
    }

    /// As [`Turns::asked`], with the user's messages already read.
    pub(crate) fn asked_with(&self, prompt: Content<'a>, first_user_message: Option<Vec<Cow<'a, str>>>) -> Asked<'a> {
        let asked = Asked {
            turn_position: self.turns.saturating_sub(1),
            depth: self.depth,
            newest_message: self.newest_message,
            first_user_message,
            ..Asked::default()
        };
        let asked = match self.work.is_empty() {
            true => self.with_written_step(asked, &prompt),
            false => self.with_tool_step(asked, &prompt),
        };
        Asked { prompt: prompt.texts, attachments: prompt.attachments, ..asked }
    }

    /// Adds the newest step of an agent that calls tools.
    fn with_tool_step(&self, mut asked: Asked<'a>, prompt: &Content<'a>) -> Asked<'a> {
        let (results_start, results_end) = self.results;
        let step = step::read(&self.work[..results_start], &self.work[results_start..results_end]);
        (asked.tool_calls, asked.tool_results) = (step.calls, step.results);
        asked.has_failed_results = step.has_failed;
        let began = self.turn_message.map_or("", |message| message.raw());
        let newest = self.prompt.map_or("", |message| message.raw());
        if std::ptr::eq(began, newest) {
            return asked;
        }
        asked.turn_message = self.turn_message.map(|message| message.content().texts);
        // Browser agents send the page after the results of their actions.
        if self.newest_message == newest {
            let pages = prompt.texts.iter().filter_map(|text| page_of(text));
            asked.tool_results.extend(pages.chain(prompt.attachments.iter().map(|picture| Cow::Borrowed(*picture))));
        }
        asked
    }

    /// Adds the newest step of an agent that writes its actions as text, if there is one.
    fn with_written_step(&self, mut asked: Asked<'a>, prompt: &Content<'a>) -> Asked<'a> {
        let step = match WrittenHistory::of_prompt(prompt) {
            Some(history) => {
                asked.turn_message = Some(vec![history.task.into()]);
                // Earlier messages are examples, or the same task at earlier steps.
                asked.first_user_message = None;
                asked.depth = self.depth.saturating_add(history.actions.max(self.user_messages.saturating_sub(1)));
                asked.turn_position = 0;
                Some(history.step)
            }
            None => self.step_before_prompt(&mut asked, prompt),
        };
        let step = self.said.and_then(WrittenStep::with_observation).or(step).unwrap_or_default();
        asked.calls_are_written = !step.calls.is_empty();
        if step.calls.is_empty() && self.depth == 0 && prompt.attachments.is_empty() {
            asked.talk = self.talk.texts();
        }
        (asked.tool_calls, asked.tool_results) = (step.calls, step.results);
        asked
    }

    /// The step that the model wrote right before the prompt.
    fn step_before_prompt(&self, asked: &mut Asked<'a>, prompt: &Content<'a>) -> Option<WrittenStep<'a>> {
        let said = self.before_prompt.filter(|_| self.depth == 0)?;
        let Some(step) = WrittenStep::with_observation(said).filter(|_| !WrittenStep::is_result(prompt)) else {
            return Some(WrittenStep::before_prompt(said, prompt));
        };
        // The result is already there; the prompt only asks to continue.
        asked.depth = asked.depth.saturating_add(self.depth_before).saturating_add(1);
        asked.turn_position = asked.turn_position.saturating_sub(1);
        Some(step)
    }
}
