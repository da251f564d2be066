//! One assistant message of a recorded run, read as an answer.

use http::HeaderMap;
use model::Answered;

use super::AnswerReader;
use crate::Dialect;

/// Reads the JSON of an assistant's message of Chat Completions. Keeps at most `limit` bytes.
pub fn read_assistant_message(message: &str, limit: usize) -> Option<Answered> {
    let mut reader = AnswerReader::new(Dialect::ChatCompletions, &HeaderMap::new(), limit);
    for piece in [r#"{"choices":[{"message":"#, message, "}]}"] {
        reader.feed(piece.as_bytes());
    }
    reader.finish().answered
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn an_assistants_message_is_an_answer() {
        let answered = read_assistant_message(
            r#"{"role":"assistant","content":"Done.","function_call":{"name":"end","arguments":"{}"}}"#,
            1_000,
        )
        .unwrap();
        assert_eq!((answered.text.as_str(), answered.tool_calls.len()), ("Done.", 1));
        assert_eq!(read_assistant_message("null", 1_000), Some(Answered::default()));
    }
}
