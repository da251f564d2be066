//! Bedrock's converse and invoke: requests, answers and binary streams.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::Usage;
use serde_json::{Value, json};
use wire::{Answer, AnswerReader, Dialect, read_request};

use crate::answers::{answered, body, headers};
use crate::requests::calls;

const FRAMES: &str = "application/vnd.amazon.eventstream";

/// A frame with these headers, all of them strings. The checksums are not read.
fn frame(headers: &[(&str, &str)], payload: &Value) -> Vec<u8> {
    let mut written = Vec::new();
    for (name, value) in headers {
        written.push(u8::try_from(name.len()).unwrap());
        written.extend_from_slice(name.as_bytes());
        written.push(7);
        written.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        written.extend_from_slice(value.as_bytes());
    }
    let payload = payload.to_string();
    let length = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    let total = length(12 + written.len() + payload.len() + 4);
    [&total, &length(written.len()), &[0; 4], &written[..], payload.as_bytes(), &[0; 4]].concat()
}

fn event(name: &str, payload: Value) -> Vec<u8> {
    frame(&[(":event-type", name), (":content-type", "application/json"), (":message-type", "event")], &payload)
}

fn converse_stream() -> Vec<u8> {
    let delta = |index: u64, delta: Value| {
        event("contentBlockDelta", json!({ "contentBlockIndex": index, "delta": delta, "p": "abcd" }))
    };
    let start = json!({ "contentBlockIndex": 1, "start": { "toolUse": { "toolUseId": "t", "name": "read" } } });
    let usage = json!({ "inputTokens": 10, "outputTokens": 7, "totalTokens": 20, "cacheReadInputTokens": 3 });
    [
        event("messageStart", json!({ "role": "assistant" })),
        delta(0, json!({ "reasoningContent": { "text": "hidden" } })),
        delta(0, json!({ "text": "I lóok" })),
        delta(0, json!({ "text": "." })),
        event("contentBlockStop", json!({ "contentBlockIndex": 0 })),
        event("contentBlockStart", start),
        delta(1, json!({ "toolUse": { "input": "{\"a\":" } })),
        delta(1, json!({ "toolUse": { "input": "1}" } })),
        event("messageStop", json!({ "stopReason": "tool_use" })),
        event("metadata", json!({ "usage": usage, "metrics": { "latencyMs": 7 } })),
    ]
    .concat()
}

fn read_frames<'a>(dialect: Dialect, slices: impl IntoIterator<Item = &'a [u8]>) -> Answer {
    let mut reader = AnswerReader::new(dialect, &headers(FRAMES), 1 << 20);
    assert!(reader.is_stream());
    slices.into_iter().for_each(|slice| reader.feed(slice));
    reader.finish()
}

#[test]
fn converse_tool_use_and_results_are_a_step() {
    let body = json!({
        "system": [{ "text": "Be brief." }],
        "messages": [
            { "role": "user", "content": [{ "text": "Fix it" }, { "cachePoint": { "type": "default" } }] },
            { "role": "assistant", "content": [
                { "reasoningContent": { "reasoningText": { "text": "hm" } } },
                { "text": "I look." },
                { "toolUse": { "toolUseId": "1", "name": "read", "input": { "path": "a" } } },
                { "toolUse": { "toolUseId": "2", "name": "now", "input": {} } },
            ] },
            { "role": "user", "content": [
                { "toolResult": { "toolUseId": "2", "content": [{ "json": { "time": "noon" } }], "status": "success" } },
                { "toolResult": { "toolUseId": "1", "content": [{ "text": "some" }, { "text": "text" }] } },
                { "cachePoint": { "type": "default" } },
            ] },
        ],
        "inferenceConfig": { "maxTokens": 77 },
        "toolConfig": { "tools": [{ "toolSpec": { "name": "never read" } }] },
    })
    .to_string();
    for dialect in [Dialect::Converse, Dialect::Messages] {
        let asked = read_request(dialect, body.as_bytes()).unwrap();
        assert_eq!((&asked.prompt[..], asked.attachments.len()), (&["Fix it".into()][..], 0));
        assert_eq!((asked.turn_position, asked.depth, asked.max_output), (0, 2, Some(77)));
        assert_eq!(calls(&asked), [("read", r#"{"path":"a"}"#), ("now", "{}")]);
        assert_eq!(asked.tool_results, ["some\ntext", r#"{"time":"noon"}"#]);
    }
}

#[test]
fn a_converse_body_is_read_on_every_path() {
    let answer = json!({
        "metrics": { "latencyMs": 7 },
        "output": { "message": { "role": "assistant", "content": [
            { "reasoningContent": { "reasoningText": { "text": "hm" } } },
            { "text": "I look." },
            { "toolUse": { "toolUseId": "1", "name": "read", "input": { "path": "a" } } },
        ] } },
        "stopReason": "tool_use",
        "usage": { "inputTokens": 10, "outputTokens": 7, "cacheReadInputTokens": 20, "cacheWriteInputTokens": 5 },
    });
    for dialect in Dialect::ALL {
        let read = body(dialect, &answer);
        assert_eq!(read.answered, answered("I look.", &[("read", r#"{"path":"a"}"#)]), "{dialect:?}");
        let usage =
            Usage { input: Some(35), output: Some(7), cached: Some(20), cache_write: Some(5), ..Usage::default() };
        assert_eq!((read.usage, read.complete), (usage, true), "{dialect:?}");
    }
}

#[test]
fn a_converse_stream_reads_the_same_wherever_it_is_cut() {
    let stream = converse_stream();
    let whole = read_frames(Dialect::Converse, [&stream[..]]);
    assert_eq!(whole.answered, answered("I lóok.", &[("read", r#"{"a":1}"#)]));
    assert_eq!((whole.usage.input, whole.usage.output, whole.complete), (Some(13), Some(7), true));
    for at in 0..stream.len() {
        let (left, right) = stream.split_at(at);
        assert_eq!(read_frames(Dialect::Messages, [left, right]), whole, "cut at {at}");
        let broken = read_frames(Dialect::Converse, [left]);
        assert!(!broken.complete || broken.answered == whole.answered, "broken off at {at}");
    }
}

#[test]
fn a_converse_stream_that_fails_has_its_error() {
    let headers = [(":exception-type", "throttlingException"), (":message-type", "exception")];
    let failed =
        [event("messageStart", json!({ "role": "assistant" })), frame(&headers, &json!({ "message": "Slow" }))];
    let answer = read_frames(Dialect::Converse, [&failed.concat()[..]]);
    assert_eq!((answer.error.as_deref(), answer.complete), (Some("Slow"), false));
}

#[test]
fn an_invoke_stream_holds_the_model_s_own_events() {
    let events = [
        json!({ "type": "message_start", "message": { "model": "claude", "content": [], "usage": { "input_tokens": 7 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Hi" } }),
        json!({ "type": "message_stop" }),
    ];
    let chunks = events.map(|own| event("chunk", json!({ "bytes": STANDARD.encode(own.to_string()) })));
    let answer = read_frames(Dialect::Messages, chunks.iter().map(|chunk| &chunk[..]));
    assert_eq!((answer.answered, answer.complete), (answered("Hi", &[]), true));
    assert_eq!((answer.usage.input, answer.model.as_deref()), (Some(7), Some("claude")));
}

#[test]
fn bytes_that_are_no_frames_are_no_answer() {
    for stream in [&b"data: {}\n\n"[..], &[0; 64], &[0xff; 64]] {
        assert_eq!(read_frames(Dialect::Converse, [stream]), Answer::default());
    }
}
