//! Bodies that carry their whole history as a list of `messages` (Chat Completions, Messages). One pass finds the last
//! message that the user wrote and the newest step of work on it; only those are then read in full.

use model::Asked;

use crate::content::Content;
use crate::json::{Cursor, Json, Malformed};
use crate::message::Message;
use crate::request::Unread;
use crate::session::Session;
use crate::step;

/// Reads the body of a request.
pub(crate) fn read(body: &str) -> Result<Asked<'_>, Unread> {
    let mut model = None;
    let mut streamed = false;
    let mut session = Session::default();
    let mut turns = Turns::default();
    let mut cursor = Cursor::new(body);
    let is_object = cursor.object(|cursor, key| {
        match key {
            "messages" => turns = Turns::read(cursor)?,
            "model" => model = cursor.value()?.text(),
            "stream" => streamed = cursor.value()?.is_true(),
            _ => session.see(key, cursor.value()?),
        }
        Ok(())
    })?;
    cursor.end()?;
    if !is_object {
        return Err(Unread("not an object"));
    }
    if turns.newest_message.is_empty() {
        return Err(Unread("no messages"));
    }
    Ok(Asked { model, streamed, session: session.id(), ..turns.asked() })
}

/// What is kept while the messages pass, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Turns<'a> {
    user_messages: u32,
    first_user_message: Option<Json<'a>>,
    prompt: Option<Json<'a>>,
    depth: u32,
    newest_message: &'a str,
    /// The newest message with tool calls, as long as no result has followed it.
    called: Option<Message<'a>>,
    /// The newest message with tool calls whose results have come, and those.
    step: Option<Message<'a>>,
    results: Vec<Message<'a>>,
}

impl<'a> Turns<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Turns<'a>, Malformed> {
        let mut turns = Turns::default();
        cursor.array(|cursor| turns.read_message(cursor))?;
        Ok(turns)
    }

    /// Takes the next message from the cursor.
    pub(crate) fn read_message(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let (raw, message) = cursor.capture(Message::read)?;
        self.newest_message = raw.raw();
        self.take(message);
        Ok(())
    }

    fn take(&mut self, message: Message<'a>) {
        if let Some(content) = message.written_by_user() {
            self.user_messages += 1;
            self.first_user_message.get_or_insert(content);
            self.prompt = Some(content);
            self.depth = 0;
            self.called = None;
            self.step = None;
            return;
        }
        self.depth += 1;
        if message.has_calls() {
            self.called = Some(message);
        } else if message.has_results() {
            if let Some(called) = self.called.take() {
                self.step = Some(called);
                self.results.clear();
            }
            self.results.push(message);
        }
    }

    /// What is asked with the messages so far.
    pub(crate) fn asked(&self) -> Asked<'a> {
        let prompt = self.prompt.map(Content::read).unwrap_or_default();
        let first_user_message = match self.first_user_message {
            first if first == self.prompt => prompt.texts.clone(),
            first => first.map(Content::read).unwrap_or_default().texts,
        };
        let (tool_calls, tool_results) = self.step.as_ref().map(|called| step::read(called, &self.results)).unwrap_or_default();
        Asked {
            prompt: prompt.texts,
            attachments: prompt.attachments,
            turn_position: self.user_messages.saturating_sub(1),
            depth: self.depth,
            newest_message: self.newest_message,
            tool_calls,
            tool_results,
            first_user_message,
            ..Asked::default()
        }
    }
}
