//! Recognises a conversation by the shape of the body, for unknown paths.

use model::{Format, Unread};

use crate::Dialect;
use crate::json::{Cursor, Json, Malformed};

/// Fields of requests to Responses that requests for embeddings, moderation or speech lack.
const RESPONSES_FIELDS: [&str; 9] = [
    "instructions",
    "tools",
    "max_output_tokens",
    "previous_response_id",
    "conversation",
    "reasoning",
    "store",
    "include",
    "truncation",
];

/// Fields of requests for text that requests for images, video and sound lack.
const COMPLETIONS_FIELDS: [&str; 9] =
    ["max_tokens", "max_tokens_to_sample", "temperature", "top_p", "stop", "best_of", "echo", "options", "keep_alive"];

/// The dialect of a request's body. `None` if it carries no conversation. The provider's `format`
/// decides between dialects that look alike.
pub fn dialect_of_body(format: Format, body: &[u8]) -> Result<Option<Dialect>, Unread> {
    let text = simdutf8::basic::from_utf8(body).map_err(|_| Unread::NotUtf8)?;
    let mut shape = Shape::default();
    let mut cursor = Cursor::new(text);
    cursor.object(|cursor, key| match key {
        // Google's own clients send the request inside an envelope.
        "request" => cursor.object(|cursor, key| shape.read_field(cursor, key)).map(drop),
        _ => shape.read_field(cursor, key),
    })?;
    cursor.end()?;
    Ok(shape.dialect(format))
}

/// The fields found in a body.
#[derive(Debug, Default)]
struct Shape {
    has_messages: bool,
    has_contents: bool,
    has_input_items: bool,
    has_input_text: bool,
    has_prompt: bool,
    is_of_responses: bool,
    is_of_completions: bool,
}

impl Shape {
    fn read_field(&mut self, cursor: &mut Cursor<'_>, key: &str) -> Result<(), Malformed> {
        match key {
            "messages" => self.has_messages = has_item(cursor, &["role"])?,
            "contents" => self.has_contents = has_item(cursor, &["parts"])?,
            "input" if cursor.peek() == b'"' => self.has_input_text = is_filled(cursor.value()?),
            // Calls, outputs and references have a `type`, but so have the parts of a moderation
            // request.
            "input" => self.has_input_items = has_item(cursor, &["role", "call_id", "id"])?,
            "prompt" => self.has_prompt = is_filled(cursor.value()?),
            _ => {
                cursor.pass()?;
                self.is_of_responses |= RESPONSES_FIELDS.contains(&key);
                self.is_of_completions |= COMPLETIONS_FIELDS.contains(&key);
            }
        }
        Ok(())
    }

    fn dialect(&self, format: Format) -> Option<Dialect> {
        if self.has_messages {
            Some(match format {
                Format::Anthropic => Dialect::Messages,
                Format::Ollama => Dialect::Ollama,
                Format::Openai | Format::Gemini => Dialect::ChatCompletions,
            })
        } else if self.has_contents {
            Some(Dialect::Gemini)
        } else if self.has_input_items || (self.has_input_text && self.is_of_responses) {
            Some(Dialect::Responses)
        } else if self.has_prompt && self.is_of_completions {
            Some(if format == Format::Ollama { Dialect::Ollama } else { Dialect::Completions })
        } else {
            None
        }
    }
}

/// Reads a value from the cursor. Returns whether it is a list with an object that has one of these
/// fields.
fn has_item(cursor: &mut Cursor<'_>, fields: &[&str]) -> Result<bool, Malformed> {
    let mut found = false;
    cursor.array(|cursor| {
        cursor.object(|cursor, key| {
            found |= fields.contains(&key);
            cursor.pass()
        })?;
        Ok(())
    })?;
    Ok(found)
}

fn is_filled(value: Json<'_>) -> bool {
    !value.is_null() && !matches!(value.raw(), "\"\"" | "[]")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn check(body: &str, expected: Option<Dialect>) {
        assert_eq!(dialect_of_body(Format::Openai, body.as_bytes()).unwrap(), expected, "{body}");
    }

    #[test]
    fn conversations_are_recognised_by_shape() {
        check(r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#, Some(Dialect::ChatCompletions));
        check(r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#, Some(Dialect::Gemini));
        check(r#"{"request":{"contents":[{"role":"user","parts":[]}]}}"#, Some(Dialect::Gemini));
        check(r#"{"input":[{"role":"user","content":"hi"}]}"#, Some(Dialect::Responses));
        check(r#"{"input":[{"type":"function_call_output","call_id":"c","output":"x"}]}"#, Some(Dialect::Responses));
        check(r#"{"input":"hi","model":"m","instructions":"Be brief."}"#, Some(Dialect::Responses));
        check(r#"{"prompt":"Once","max_tokens":7}"#, Some(Dialect::Completions));
        let of = |format| dialect_of_body(format, br#"{"messages":[{"role":"user","content":"hi"}]}"#).unwrap();
        assert_eq!(of(Format::Anthropic), Some(Dialect::Messages));
        assert_eq!(of(Format::Ollama), Some(Dialect::Ollama));
        assert_eq!(of(Format::Gemini), Some(Dialect::ChatCompletions));
    }

    #[test]
    fn other_bodies_carry_no_conversation() {
        for body in [
            r#"{}"#,
            r#"[]"#,
            r#"7"#,
            r#"{"messages":[]}"#,
            r#"{"messages":"hi"}"#,
            r#"{"messages":[1,"x",{}]}"#,
            r#"{"model":"text-embedding-3-small","input":"hi"}"#,
            r#"{"model":"text-embedding-3-small","input":["a","b"],"encoding_format":"float"}"#,
            r#"{"model":"omni-moderation","input":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{}}]}"#,
            r#"{"model":"tts-1","input":"hi","voice":"alloy"}"#,
            r#"{"model":"gpt-image-1","prompt":"a cat","n":1,"stream":true}"#,
            r#"{"query":"q","documents":["a"],"top_n":1}"#,
            r#"{"input_file_id":"f","endpoint":"/v1/chat/completions"}"#,
            r#"{"metadata":{"messages":[{"role":"user"}]}}"#,
        ] {
            check(body, None);
        }
        assert_eq!(dialect_of_body(Format::Openai, b"{"), Err(Unread::InvalidJson));
        assert_eq!(dialect_of_body(Format::Openai, b"\xff"), Err(Unread::NotUtf8));
    }
}
