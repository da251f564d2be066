//! A recorded conversation, read once, message by message. Each request of a run repeats all
//! messages before it, so reading whole requests would take quadratic time.

use std::borrow::Cow;

use model::{Asked, Unread};

use super::history::Turns;
use super::message::{Message, Role};
use crate::content::Content;
use crate::json::Cursor;

/// One message of a transcript.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptMessage<'a>(Message<'a>);

impl<'a> TranscriptMessage<'a> {
    /// Reads a message from its JSON.
    pub fn read(message: &'a str) -> Result<TranscriptMessage<'a>, Unread> {
        let mut cursor = Cursor::new(message);
        let read = Message::read(&mut cursor, Role::Other)?;
        cursor.end()?;
        Ok(TranscriptMessage(read))
    }

    /// Whether the model wrote it.
    pub fn is_by_model(&self) -> bool {
        self.0.is_by_model()
    }
}

/// The messages so far.
#[derive(Debug, Default)]
pub struct Transcript<'a> {
    turns: Turns<'a>,
    /// The user's last message. Most calls of a run have that of the call before.
    prompt: Content<'a>,
    /// The user's first message, if it is another one.
    first_user_message: Option<Vec<Cow<'a, str>>>,
}

impl<'a> Transcript<'a> {
    /// Adds the next message.
    pub fn push(&mut self, message: TranscriptMessage<'a>) {
        let user_messages = self.turns.user_messages();
        self.turns.add(&message.0);
        if self.turns.user_messages() == user_messages {
            return;
        }
        let before = std::mem::replace(&mut self.prompt, self.turns.prompt());
        if user_messages > 0 {
            self.first_user_message.get_or_insert(before.texts);
        }
    }

    /// The request that these messages make, equal to what [`read_request`](crate::read_request)
    /// finds in `{"messages":[…]}`.
    pub fn asked(&self) -> Asked<'a> {
        self.turns.asked_with(self.prompt.clone(), self.first_user_message.clone())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::{Dialect, read_request};

    const MESSAGES: [&str; 10] = [
        r#"{"role":"system","content":"Be brief."}"#,
        r#"{"role":"user","content":"Find \"it\"."}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"a","content":"x.rs"}"#,
        r#"{"role":"assistant","content":"There."}"#,
        r#"{"role":"user","content":[{"type":"text","text":"And this?"},{"type":"image_url","image_url":{"url":"u"}}]}"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"cat","input":{"p":1}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"text"}]}"#,
        "7",
        r#"{"role":"assistant","content":"Done.","function_call":{"name":"end","arguments":"{}"}}"#,
    ];

    #[test]
    fn a_growing_transcript_asks_what_each_request_asks() {
        let mut transcript = Transcript::default();
        for (place, message) in MESSAGES.iter().enumerate() {
            transcript.push(TranscriptMessage::read(message).unwrap());
            let body = format!(r#"{{"messages":[{}]}}"#, MESSAGES[..=place].join(","));
            assert_eq!(transcript.asked(), read_request(Dialect::ChatCompletions, body.as_bytes()).unwrap());
        }
    }

    #[test]
    fn a_message_must_be_json() {
        assert!(TranscriptMessage::read("{} {}").is_err());
        assert!(TranscriptMessage::read("{").is_err());
    }
}
