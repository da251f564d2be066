//! Recorded bodies as JSON on one line. An answer that is not JSON, such as a stream, becomes a
//! message.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use model::Answered;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use wire::{AnswerReader, Dialect};

/// The request; `None` if it is not JSON.
pub(crate) fn request(body: &[u8]) -> Option<Box<RawValue>> {
    on_one_line(serde_json::from_slice(body).ok()?)
}

/// The answer; `None` if it is unreadable.
pub(crate) fn answer(body: &[u8]) -> Option<Box<RawValue>> {
    match serde_json::from_slice(body) {
        Ok(body) => on_one_line(body),
        Err(_) => serde_json::value::to_raw_value(&as_message(&read_stream(body)?)).ok(),
    }
}

/// The same value without line ends and indentation. JSON strings contain no raw line ends, so the
/// white space around one is never part of a string; everything else stays, including numbers and
/// the order of keys.
fn on_one_line(json: Box<RawValue>) -> Option<Box<RawValue>> {
    if !json.get().contains(['\n', '\r']) {
        return Some(json);
    }
    let line = json.get().split(['\n', '\r']).map(str::trim_ascii).collect();
    RawValue::from_string(line).ok()
}

/// The answer in a stream: events, lines, or an array that was cut (a complete one is JSON).
fn read_stream(body: &[u8]) -> Option<Answered> {
    let (dialect, content_type) = match body.trim_ascii_start().first()? {
        b'{' => (Dialect::Ollama, "application/x-ndjson"),
        b'[' => (Dialect::Gemini, "application/json"),
        _ => (Dialect::ChatCompletions, "text/event-stream"),
    };
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
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
        assert_eq!(answer(body.as_bytes()).unwrap().get(), expected, "{body}");
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
    fn a_body_is_on_one_line_however_it_was_laid_out() {
        let pretty = "{\r\n  \"b\": 1.50,\n\t\"a\": [\n\n    \"two  words\\n\"\r  ]\n}\n";
        let line = r#"{"b": 1.50,"a": ["two  words\n"]}"#;
        check(pretty, line);
        assert_eq!(request(pretty.as_bytes()).unwrap().get(), line);
        assert!(request(b"model=gpt").is_none());
    }

    #[test]
    fn complete_array_stays_and_a_cut_one_becomes_a_message() {
        let part = |text: &str| json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]});
        let (first, second) = (part("Hel"), part("lo"));
        check(&format!("[{first}\n,\r\n{second}\n]\n"), &format!("[{first},{second}]"));
        check(&format!("[{first}\n,\r\n{second}\n,{{\"cand"), r#"{"content":"Hello","role":"assistant"}"#);
    }

    #[test]
    fn unreadable_body_is_none() {
        assert!(answer(b"<html>").is_none());
    }
}
