//! Cohere's chat: requests, answers and streams.

use serde_json::json;
use wire::{Dialect, read_request};

use crate::answers::{answered, body, stream};
use crate::requests::calls;
use crate::streams::COHERE_STREAM;

#[test]
fn tool_results_as_documents_are_read() {
    let body = json!({ "model": "command-a", "stream": true, "messages": [
        { "role": "user", "content": "Fix it" },
        { "role": "assistant", "tool_plan": "I look.", "tool_calls": [
            { "id": "1", "type": "function", "function": { "name": "read", "arguments": "{}" } },
        ] },
        { "role": "tool", "tool_call_id": "1", "content": [
            { "type": "document", "document": { "id": "1", "data": "text" } },
        ] },
    ] })
    .to_string();
    let asked = read_request(Dialect::Cohere, body.as_bytes()).unwrap();
    assert_eq!((&asked.prompt[..], asked.streamed), (&["Fix it".into()][..], true));
    assert_eq!(calls(&asked), [("read", "{}")]);
    assert_eq!(asked.tool_results, [r#"{"data":"text","id":"1"}"#]);
}

#[test]
fn a_cohere_body_is_read_on_every_path() {
    let answer = json!({
        "id": "c14c80c3", "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant", "tool_plan": "I will look.",
            "content": [{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "Hi" }],
            "tool_calls": [{ "id": "a", "type": "function", "function": { "name": "read", "arguments": "{\"a\":1}" } }],
        },
        "usage": {
            "billed_units": { "input_tokens": 5, "output_tokens": 2 },
            "tokens": { "input_tokens": 71, "output_tokens": 4 },
            "cached_tokens": 16,
        },
    });
    for dialect in Dialect::ALL {
        let read = body(dialect, &answer);
        assert_eq!(read.answered, answered("Hi", &[("read", "{\"a\":1}")]), "{dialect:?}");
        assert_eq!((read.usage.input, read.usage.output, read.usage.cached), (Some(71), Some(4), Some(16)));
        assert!(read.complete, "{dialect:?}");
    }
}

#[test]
fn a_cohere_stream_is_put_together() {
    let answer = stream(Dialect::Cohere, COHERE_STREAM);
    assert_eq!(answer.answered, answered("Hé!", &[("read", "{\"a\":1}"), ("now", "{}")]));
    assert_eq!((answer.usage.input, answer.usage.output, answer.complete), (Some(71), Some(4), true));
}

#[test]
fn a_cohere_stream_that_fails_has_its_error() {
    let end = r#"data: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"It broke"}}"#;
    let answer = stream(Dialect::Cohere, &format!("data: {{\"type\":\"message-start\"}}\n\n{end}\n\n"));
    assert_eq!((answer.error.as_deref(), answer.complete), (Some("It broke"), false));
}
