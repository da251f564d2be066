//! A conversation that is read once, message by message, as it grew. A request holds all messages so far, so reading the
//! requests of a recorded run one by one would read its beginning as often as it has calls.

use std::borrow::Cow;

use http::HeaderMap;
use model::{Answered, Asked, Unread};

use crate::content::Content;
use crate::history::Turns;
use crate::json::Cursor;
use crate::message::{Message, Role};
use crate::{AnswerReader, Dialect};

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
    /// The last message that the user wrote. Most calls of a run have that of the call before.
    prompt: Content<'a>,
    /// The first one, if that is another.
    first_user_message: Option<Vec<Cow<'a, str>>>,
}

impl<'a> Transcript<'a> {
    /// Adds the next message.
    pub fn push(&mut self, message: TranscriptMessage<'a>) {
        let user_messages = self.turns.user_messages();
        self.turns.take(&message.0);
        if self.turns.user_messages() == user_messages {
            return;
        }
        let before = std::mem::replace(&mut self.prompt, self.turns.prompt());
        if user_messages > 0 {
            self.first_user_message.get_or_insert(before.texts);
        }
    }

    /// What a request with these messages asks: the same as [`read_request`](crate::read_request) finds in
    /// `{"messages":[…]}`.
    pub fn asked(&self) -> Asked<'a> {
        self.turns.asked_with(self.prompt.clone(), self.first_user_message.clone())
    }
}

/// What an assistant's message of Chat Completions says, given as its JSON. Keeps at most `limit` bytes.
pub fn read_assistant_message(message: &str, limit: usize) -> Option<Answered> {
    let mut reader = AnswerReader::new(Dialect::ChatCompletions, &HeaderMap::new(), limit);
    for piece in [r#"{"choices":[{"message":"#, message, "}]}"] {
        reader.feed(piece.as_bytes());
    }
    reader.finish().answered
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::read_request;

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

    #[test]
    fn an_assistants_message_is_an_answer() {
        let answered = read_assistant_message(MESSAGES[9], 1_000).unwrap();
        assert_eq!((answered.text.as_str(), answered.tool_calls.len()), ("Done.", 1));
        assert_eq!(read_assistant_message("null", 1_000), Some(Answered::default()));
    }
}
