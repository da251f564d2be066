//! One dialect on the path of another: the shape of a body decides its dialect.

use serde_json::{Value, json};
use wire::{Dialect, read_request};

use crate::answers::{answered, body, read};
use crate::requests::calls;
use crate::streams::STREAMS;

/// A body of each dialect that asks "Fix it" and answers a call `read({})` with "text", as far as
/// the dialect can.
fn bodies() -> [(Value, bool); 6] {
    [
        (
            json!({ "messages": [
                { "role": "user", "content": "Fix it" },
                { "role": "assistant", "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "read", "arguments": "{}" } }] },
                { "role": "tool", "tool_call_id": "1", "content": "text" },
            ] }),
            true,
        ),
        (
            json!({ "input": [
                { "role": "user", "content": "Fix it" },
                { "type": "function_call", "call_id": "1", "name": "read", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "1", "output": "text" },
            ] }),
            true,
        ),
        (
            json!({ "system": "Be brief.", "messages": [
                { "role": "user", "content": "Fix it" },
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": "read", "input": {} }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "1", "content": "text" }] },
            ] }),
            true,
        ),
        (
            json!({ "contents": [
                { "role": "user", "parts": [{ "text": "Fix it" }] },
                { "role": "model", "parts": [{ "functionCall": { "name": "read", "args": {} } }] },
                { "role": "user", "parts": [{ "functionResponse": { "name": "read", "response": "text" } }] },
            ] }),
            true,
        ),
        (json!({ "prompt": "Fix it" }), false),
        (json!({ "input": "Fix it" }), false),
    ]
}

#[test]
fn every_request_is_read_on_every_path() {
    for (body, has_step) in bodies() {
        let body = body.to_string();
        for dialect in Dialect::ALL {
            let asked = read_request(dialect, body.as_bytes()).expect(&body);
            assert_eq!(asked.prompt, ["Fix it"], "{dialect:?}: {body}");
            assert_eq!(calls(&asked), if has_step { vec![("read", "{}")] } else { vec![] }, "{dialect:?}: {body}");
            assert_eq!(asked.tool_results, if has_step { vec!["text"] } else { vec![] }, "{dialect:?}: {body}");
        }
    }
}

#[test]
fn every_answer_is_read_on_every_path() {
    for (own, content_type, stream) in STREAMS {
        let expected = read(own, content_type, stream, 1 << 20);
        for dialect in Dialect::ALL {
            assert_eq!(read(dialect, content_type, stream, 1 << 20), expected, "{own:?} on the path of {dialect:?}");
        }
    }
    for answer in [
        json!({ "choices": [{ "message": { "content": "Hi" } }] }),
        json!({ "choices": [{ "text": "Hi" }] }),
        json!({ "object": "response", "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "Hi" }] }] }),
        json!({ "type": "message", "content": [{ "type": "text", "text": "Hi" }] }),
        json!({ "candidates": [{ "content": { "parts": [{ "text": "Hi" }] } }] }),
        json!({ "message": { "content": "Hi" }, "done": true }),
        json!({ "response": "Hi", "done": true }),
    ] {
        for dialect in Dialect::ALL {
            let read = body(dialect, &answer);
            assert_eq!((read.answered, read.complete), (answered("Hi", &[]), true), "{dialect:?}: {answer}");
        }
    }
}

#[test]
fn an_error_in_no_dialect_s_shape_is_read_in_every_stream() {
    for (dialect, content_type, stream) in STREAMS.into_iter().filter(|(_, kind, _)| *kind == "text/event-stream") {
        let first = stream.split_inclusive("\n\n").next().unwrap();
        let failed = format!("{first}\n\ndata: {{\"error\":{{\"message\":\"It broke\"}}}}\n\n");
        let answer = read(dialect, content_type, &failed, 1 << 20);
        assert_eq!((answer.error.as_deref(), answer.complete), (Some("It broke"), false), "{dialect:?}");
    }
}

#[test]
fn a_body_that_could_be_of_several_is_read_as_its_path_says() {
    let body = json!({
        "messages": [{ "role": "user", "content": "messages" }], "input": "input", "prompt": "prompt",
        "contents": [{ "parts": [{ "text": "contents" }] }],
    })
    .to_string();
    for (dialect, expected) in [
        (Dialect::ChatCompletions, "messages"),
        (Dialect::Completions, "prompt"),
        (Dialect::Responses, "input"),
        (Dialect::Messages, "messages"),
        (Dialect::Gemini, "contents"),
        (Dialect::Ollama, "messages"),
        (Dialect::Converse, "messages"),
        (Dialect::Cohere, "messages"),
    ] {
        assert_eq!(read_request(dialect, body.as_bytes()).unwrap().prompt, [expected], "{dialect:?}");
    }
}
