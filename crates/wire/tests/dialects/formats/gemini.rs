//! Gemini's generateContent and streamGenerateContent: requests and answers.

use model::{Asked, Usage};
use serde_json::{Value, json};
use wire::{Answer, Dialect, read_request};

use crate::answers::{answered, body, read, stream};
use crate::requests::calls;
use crate::streams::{GEMINI_ARRAY, GEMINI_STREAM};

fn asked(body: &Value, look: impl FnOnce(&Asked<'_>)) {
    let body = body.to_string();
    look(&read_request(Dialect::Gemini, body.as_bytes()).expect(&body));
}

#[test]
fn the_last_content_of_the_user_is_the_prompt() {
    let body = json!({
        "systemInstruction": { "parts": [{ "text": "Be brief." }] },
        "contents": [
            { "role": "user", "parts": [{ "text": "First" }] },
            { "role": "model", "parts": [{ "text": "Yes" }] },
            { "parts": [{ "text": "Second" }, { "inlineData": { "mimeType": "image/png", "data": "AAAA" } }] },
        ],
        "tools": [{ "functionDeclarations": [{ "name": "never read" }] }],
    });
    asked(&body, |asked| {
        assert_eq!(asked.prompt, ["Second"]);
        assert_eq!(asked.attachments, [r#"{"data":"AAAA","mimeType":"image/png"}"#]);
        assert_eq!(asked.opening(), ["First"]);
        assert_eq!((asked.turn_position, asked.depth), (1, 0));
        assert_eq!((asked.model.as_deref(), asked.streamed), (None, false));
    });
}

#[test]
fn function_calls_and_their_responses_are_a_step() {
    for (role, call, response) in
        [("user", "functionCall", "functionResponse"), ("function", "function_call", "function_response")]
    {
        let body = json!({ "contents": [
            { "role": "user", "parts": [{ "text": "Fix it" }] },
            { "role": "model", "parts": [
                { "text": "hm", "thought": true },
                { call: { "id": "1", "name": "read", "args": { "path": "a" } }, "thoughtSignature": "c2ln" },
                { call: { "id": "2", "name": "now", "args": {} } },
            ] },
            { "role": role, "parts": [
                { response: { "id": "2", "name": "now", "response": { "result": "noon" } } },
                { response: { "id": "1", "name": "read", "response": { "output": "text" } } },
            ] },
        ] });
        asked(&body, |asked| {
            assert_eq!(asked.prompt, ["Fix it"]);
            assert_eq!((asked.turn_position, asked.depth), (0, 2));
            assert_eq!(calls(asked), [("read", r#"{"path":"a"}"#), ("now", "{}")]);
            assert_eq!((&*asked.tool_results, asked.has_failed_results), (&["text".into(), "noon".into()][..], false));
        });
    }
}

#[test]
fn response_of_a_failed_function_is_marked() {
    let step = |response: Value| {
        json!({ "contents": [
            { "role": "user", "parts": [{ "text": "Fix it" }] },
            { "role": "model", "parts": [{ "functionCall": { "name": "read", "args": {} } }] },
            { "role": "user", "parts": [{ "functionResponse": { "name": "read", "response": response } }] },
        ] })
    };
    asked(&step(json!({ "error": "gone" })), |asked| {
        assert_eq!((&*asked.tool_results, asked.has_failed_results), (&["gone".into()][..], true));
    });
    asked(&step(json!({ "rows": 3, "error": null })), |asked| {
        let result = r#"{"error":null,"rows":3}"#;
        assert_eq!((&*asked.tool_results, asked.has_failed_results), (&[result.into()][..], false));
    });
}

#[test]
fn gemini_envelopes_are_read() {
    let body = json!({
        "model": "gemini-3", "project": "p", "user_prompt_id": "u",
        "request": { "contents": [{ "role": "user", "parts": [{ "text": "Hi" }] }], "session_id": "s-1" },
    });
    asked(&body, |asked| {
        assert_eq!(asked.prompt, ["Hi"]);
        assert_eq!((asked.model.as_deref(), asked.session.as_deref()), (Some("gemini-3"), Some("s-1")));
    });
    let answer = stream(
        Dialect::Gemini,
        "data: {\"response\":{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]},\"finishReason\":\"STOP\"}]},\"traceId\":\"t\"}\n\n",
    );
    assert_eq!((answer.answered, answer.complete), (answered("Hi", &[]), true));
}

fn expected_usage() -> Usage {
    Usage { input: Some(100), output: Some(20), cached: Some(60), reasoning: Some(5), ..Usage::default() }
}

#[test]
fn gemini_stream_of_events_is_read() {
    let expected = Answer {
        answered: answered("I lóok.", &[("read", "{\"a\":1}")]),
        usage: expected_usage(),
        model: Some("gemini-3".to_owned()),
        complete: true,
        ..Answer::default()
    };
    assert_eq!(stream(Dialect::Gemini, GEMINI_STREAM), expected);
}

#[test]
fn gemini_stream_as_an_array_is_read() {
    let answer = read(Dialect::Gemini, "application/json; charset=UTF-8", GEMINI_ARRAY, 1 << 20);
    assert_eq!(answer.answered, answered("I lóok.]}\"", &[("read", "{\"a\":1}")]));
    assert_eq!((answer.usage.input, answer.usage.output, answer.complete), (Some(9), Some(4), true));
}

#[test]
fn gemini_candidates_are_read() {
    let answer = body(
        Dialect::Gemini,
        &json!({
            "candidates": [
                { "index": 1, "content": { "parts": [{ "text": " Two" }] }, "finishReason": "STOP" },
                { "content": { "parts": [{ "text": "One" }, { "executableCode": { "language": "PYTHON", "code": "1" } }] }, "finishReason": "STOP" },
            ],
            "usageMetadata": { "promptTokenCount": 90, "toolUsePromptTokenCount": 10, "cachedContentTokenCount": 60, "candidatesTokenCount": 15, "thoughtsTokenCount": 5 },
        }),
    );
    assert_eq!(answer.answered, answered("One Two", &[("executableCode", r#"{"code":"1","language":"PYTHON"}"#)]));
    assert_eq!((answer.usage, answer.complete), (expected_usage(), true));
}

#[test]
fn gemini_blocked_prompt_is_a_whole_answer() {
    let answer = body(
        Dialect::Gemini,
        &json!({ "promptFeedback": { "blockReason": "SAFETY" }, "usageMetadata": { "promptTokenCount": 4 } }),
    );
    assert_eq!((answer.answered, answer.complete, answer.usage.input), (None, true, Some(4)));
}

#[test]
fn gemini_streamed_arguments_are_joined() {
    let piece = |call: Value| {
        let event = json!({ "candidates": [{ "content": { "parts": [{ "functionCall": call }] } }] });
        format!("data: {event}\n\n")
    };
    let text =
        |path: &str, value: &str, more: bool| json!({ "jsonPath": path, "stringValue": value, "willContinue": more });
    let in_pieces = [
        piece(json!({ "name": "write", "willContinue": true })),
        piece(json!({ "partialArgs": [text("$.path", "a/", true)], "willContinue": true })),
        piece(
            json!({ "partialArgs": [text("$.path", "b", false), { "jsonPath": "$.line", "numberValue": 7 }], "willContinue": true }),
        ),
        piece(json!({})),
        piece(json!({ "name": "now", "args": {} })),
    ];
    let expected = answered("", &[("write", "\n$.path=a/b\n$.line=7"), ("now", "{}")]);
    assert_eq!(stream(Dialect::Gemini, &in_pieces.concat()).answered, expected);
}

#[test]
fn error_inside_a_stream_is_read() {
    let error = "{\"error\":{\"code\":503,\"message\":\"Try later\",\"status\":\"UNAVAILABLE\"}}";
    let events = stream(Dialect::Gemini, &format!("data: {error}\n\n"));
    let array = read(Dialect::Gemini, "application/json", &format!("[{error}]"), 1 << 20);
    for answer in [events, array] {
        assert_eq!((answer.error.as_deref(), answer.complete), (Some("Try later"), false));
    }
}
