//! Recorded answers as one JSON value: a body is one already, a stream becomes the message that it told.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use model::Answered;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use wire::{AnswerReader, Dialect};

/// The answer; none if nothing of it can be read.
pub(crate) fn as_json(body: &[u8]) -> Option<Box<RawValue>> {
    if let Ok(body) = serde_json::from_slice(body) {
        return Some(body);
    }
    serde_json::value::to_raw_value(&as_message(&read_stream(body)?)).ok()
}

fn read_stream(body: &[u8]) -> Option<Answered> {
    let is_lines = body.trim_ascii_start().starts_with(b"{");
    let content_type = if is_lines { "application/x-ndjson" } else { "text/event-stream" };
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
    let dialect = if is_lines { Dialect::Ollama } else { Dialect::ChatCompletions };
    let mut reader = AnswerReader::new(dialect, &headers, usize::MAX);
    reader.feed(body);
    reader.finish().answered
}

/// The answer as an assistant's message of Chat Completions.
fn as_message(answered: &Answered) -> Value {
    let call = |(place, call): (usize, &model::ToolCall<'_>)| {
        let function = json!({"name": call.name, "arguments": call.arguments});
        json!({"id": format!("call_{place}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = answered.tool_calls.iter().enumerate().map(call).collect();
    match calls.is_empty() {
        true => json!({"role": "assistant", "content": answered.text}),
        false => json!({"role": "assistant", "content": answered.text, "tool_calls": calls}),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    fn check(body: &str, expected: &str) {
        assert_eq!(as_json(body.as_bytes()).unwrap().get(), expected, "{body}");
    }

    #[test]
    fn an_answer_is_one_value() {
        check(r#"{"choices":[]}"#, r#"{"choices":[]}"#);
        let stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n\
                      data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\ndata: [DONE]\n\n";
        check(stream, r#"{"content":"Hello","role":"assistant"}"#);
        let lines = "{\"message\":{\"role\":\"assistant\",\"content\":\"Hel\"},\"done\":false}\n\
                     {\"message\":{\"role\":\"assistant\",\"content\":\"lo\"},\"done\":true}\n";
        check(lines, r#"{"content":"Hello","role":"assistant"}"#);
    }

    #[test]
    fn noise_is_none() {
        assert!(as_json(b"<html>").is_none());
    }
}
