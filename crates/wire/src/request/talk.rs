//! The newest messages of a conversation in which no tool is used. It takes several messages to
//! tell that a conversation repeats itself.

use std::borrow::Cow;

use crate::content::Content;
use crate::json::Json;

/// The fewest messages: a repetition needs more than these.
const FEWEST: usize = 6;
/// The most messages that are read.
const MOST: usize = 18;
/// A longer message is content, not talk.
const LONGEST: usize = 4 * 1024;

/// The contents of the newest messages, unread.
#[derive(Debug, Default)]
pub(crate) struct Talk<'a> {
    newest: Vec<Json<'a>>,
    /// Whether the last one is the user's.
    ends_with_prompt: bool,
}

impl<'a> Talk<'a> {
    /// Adds a message of the model.
    pub(crate) fn push(&mut self, content: Json<'a>) {
        if self.newest.len() >= 2 * MOST {
            self.newest.drain(..MOST);
        }
        self.newest.push(content);
        self.ends_with_prompt = false;
    }

    /// Adds a message of the user.
    pub(crate) fn add_prompt(&mut self, content: Option<Json<'a>>) {
        content.into_iter().for_each(|content| self.push(content));
        self.ends_with_prompt = true;
    }

    /// Removes all messages, because a tool was used.
    pub(crate) fn clear(&mut self) {
        self.newest.clear();
    }

    /// The texts, oldest first. Empty if there are too few, or if one of the last two is long.
    pub(crate) fn texts(&self) -> Vec<Cow<'a, str>> {
        let newest = &self.newest[self.newest.len().saturating_sub(MOST)..];
        let is_long = |content: &Json<'_>| content.raw().len() > LONGEST;
        if !self.ends_with_prompt || newest.len() < FEWEST || newest.iter().rev().take(2).any(is_long) {
            return Vec::new();
        }
        newest.iter().filter(|content| !is_long(content)).map(|content| text_of(*content)).collect()
    }
}

fn text_of(content: Json<'_>) -> Cow<'_, str> {
    let mut texts = Content::read(content).texts;
    match texts.len() {
        1 => texts.pop().unwrap_or_default(),
        _ => Cow::Owned(texts.join("\n")),
    }
}
