//! Reading answers.

use http::HeaderMap;
use model::{Answered, ToolCall, Usage};
use serde_json::{Value, json};
use wire::{Answer, AnswerReader, Dialect};

use crate::streams::{CHAT_STREAM, MESSAGES_STREAM, STREAMS};

pub(crate) fn headers(content_type: &str) -> HeaderMap {
    HeaderMap::from_iter([(http::header::CONTENT_TYPE, content_type.parse().unwrap())])
}

pub(crate) fn read(dialect: Dialect, content_type: &str, body: &str, limit: usize) -> Answer {
    let mut reader = AnswerReader::new(dialect, &headers(content_type), limit);
    reader.feed(body.as_bytes());
    reader.finish()
}

pub(crate) fn body(dialect: Dialect, body: &Value) -> Answer {
    read(dialect, "application/json", &body.to_string(), 1 << 20)
}

pub(crate) fn stream(dialect: Dialect, stream: &str) -> Answer {
    read(dialect, "text/event-stream; charset=utf-8", stream, 1 << 20)
}

pub(crate) fn answered(text: &str, calls: &[(&'static str, &'static str)]) -> Option<Answered> {
    let tool_calls =
        calls.iter().map(|(name, arguments)| ToolCall { name: (*name).into(), arguments: (*arguments).into() });
    Some(Answered { text: text.to_owned(), tool_calls: tool_calls.collect() })
}

#[test]
fn chat_body_is_read() {
    let answer = body(
        Dialect::ChatCompletions,
        &json!({
            "id": "c1", "model": "gpt-5-2026", "created": 7,
            "choices": [
                { "index": 1, "message": { "role": "assistant", "content": null, "refusal": " No." } },
                { "index": 0, "message": { "role": "assistant", "content": "Hello", "tool_calls": [
                    { "id": "a", "type": "function", "function": { "name": "run", "arguments": "{\"n\": 1}" } },
                    { "id": "b", "type": "custom", "custom": { "name": "patch", "input": "raw" } },
                ] }, "finish_reason": "tool_calls" },
            ],
            "usage": { "prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": { "cached_tokens": 4, "cache_write_tokens": 2 } },
        }),
    );
    let usage = Usage { input: Some(10), output: Some(5), cached: Some(4), cache_write: Some(2), ..Usage::default() };
    let expected = Answer {
        answered: answered("Hello No.", &[("run", "{\"n\": 1}"), ("patch", "raw")]),
        usage,
        model: Some("gpt-5-2026".to_owned()),
        complete: true,
        ..Answer::default()
    };
    assert_eq!(answer, expected);
}

#[test]
fn usage_is_read_from_several_fields() {
    let check = |chunk: &str, expected: (Option<u64>, Option<u64>, Option<u64>)| {
        let usage = stream(Dialect::ChatCompletions, &format!("data: {chunk}\n\n")).usage;
        assert_eq!((usage.input, usage.output, usage.cached), expected, "{chunk}");
    };
    let usage = r#""usage":{"prompt_tokens":5,"completion_tokens":2}"#;
    let other = r#""usage":{"prompt_tokens":6,"cached_tokens":1}"#;
    check(&format!(r#"{{"choices":[],{usage}}}"#), (Some(5), Some(2), None));
    check(&format!(r#"{{"choices":[],{usage},{other}}}"#), (Some(6), None, Some(1)));
    check(&format!(r#"{{"choices":[],"x_groq":{{{usage}}}}}"#), (Some(5), Some(2), None));
    check(&format!(r#"{{"choices":[],{other},"x_groq":{{{usage}}}}}"#), (Some(6), None, Some(1)));
    check(&format!(r#"{{"choices":[{{"index":0,{usage}}}]}}"#), (Some(5), Some(2), None));
    check(&format!(r#"{{"choices":[{{"index":0,{usage}}}],"usage":null}}"#), (Some(5), Some(2), None));
    check(&format!(r#"{{{other},"choices":[{{"index":0,{usage}}}]}}"#), (Some(6), Some(2), Some(1)));
    check(&format!(r#"{{"choices":[],{usage}"#), (None, None, None));
}

#[test]
fn chat_stream_is_read() {
    let usage = Usage { input: Some(100), output: Some(20), cached: Some(60), reasoning: Some(5), ..Usage::default() };
    let expected = Answer {
        answered: answered("Héllo 😀", &[("run", "{\"n\":1}"), ("stop", "{}")]),
        usage,
        model: Some("gpt-5".to_owned()),
        complete: true,
        ..Answer::default()
    };
    assert_eq!(stream(Dialect::ChatCompletions, CHAT_STREAM), expected);
}

#[test]
fn chat_stream_calls_need_no_index() {
    let answer = stream(
        Dialect::ChatCompletions,
        concat!(
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"one\",\"arguments\":\"{\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"b\",\"function\":{\"name\":\"two\",\"arguments\":\"{}\"}}]}}]}\n\n",
        ),
    );
    assert_eq!(answer.answered, answered("", &[("one", "{}"), ("two", "{}")]));
    assert!(!answer.complete);
}

#[test]
fn chat_stream_may_lack_its_last_event() {
    let cut_off = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n";
    assert!(!stream(Dialect::ChatCompletions, cut_off).complete);
    let finished = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert!(stream(Dialect::ChatCompletions, finished).complete);
}

#[test]
fn messages_body_is_read() {
    let answer = body(
        Dialect::Messages,
        &json!({
            "type": "message", "model": "claude", "content": [
                { "type": "thinking", "thinking": "hidden" },
                { "type": "text", "text": "I look." },
                { "type": "tool_use", "id": "t", "name": "read", "input": { "a": 1 } },
            ],
            "usage": { "input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4 },
        }),
    );
    let usage = Usage { input: Some(8), output: Some(2), cached: Some(4), cache_write: Some(3), ..Usage::default() };
    assert_eq!(answer.answered, answered("I look.", &[("read", "{\"a\":1}")]));
    assert_eq!(answer.usage, usage);
    assert!(answer.complete);
}

#[test]
fn messages_stream_is_read() {
    let usage =
        Usage { input: Some(100), output: Some(42), cached: Some(70), cache_write: Some(20), ..Usage::default() };
    let expected = Answer {
        answered: answered("I lóok.", &[("read", "{\"a\":1}"), ("now", "{}")]),
        usage,
        model: Some("claude".to_owned()),
        complete: true,
        ..Answer::default()
    };
    assert_eq!(stream(Dialect::Messages, MESSAGES_STREAM), expected);
}

#[test]
fn error_inside_a_stream_is_read() {
    let chat = stream(
        Dialect::ChatCompletions,
        concat!(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n",
            "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\ndata: [DONE]\n\n",
        ),
    );
    assert_eq!(chat.answered, answered("Hel", &[]));
    assert_eq!(chat.error.as_deref(), Some("The server had an error"));
    assert!(!chat.complete);
    let messages = stream(
        Dialect::Messages,
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    );
    assert_eq!((messages.answered, messages.error.as_deref()), (None, Some("Overloaded")));
}

#[test]
fn saw_end_after_the_terminal_event() {
    for (dialect, content_type, stream) in STREAMS {
        let mut reader = AnswerReader::new(dialect, &headers(content_type), 1 << 20);
        let (before, last) = stream.trim_end().as_bytes().split_at(stream.trim_end().len() - 1);
        reader.feed(before);
        assert!(reader.is_stream() && !reader.saw_end());
        reader.feed(last);
        reader.feed(b"\n\n");
        // Gemini's stream of events has no terminal event.
        let has_end = dialect != Dialect::Gemini || content_type == "application/json";
        assert_eq!(reader.saw_end(), has_end, "{dialect:?}");
    }
}

#[test]
fn text_beyond_the_limit_is_cut_but_the_rest_is_read() {
    let answer = read(Dialect::ChatCompletions, "text/event-stream", CHAT_STREAM, 2);
    // Two bytes hold the H and half of the é.
    assert_eq!(answer.answered.map(|it| it.text), Some("H".to_owned()));
    assert_eq!(answer.usage.output, Some(20));
    assert!(answer.complete);
}

#[test]
fn unreadable_parts_of_answers_are_ignored() {
    let good = json!({ "choices": [{ "message": { "content": "Hello" } }] }).to_string();
    let json = "application/json";
    assert_eq!(read(Dialect::ChatCompletions, json, &good, good.len()).answered, answered("Hello", &[]));
    assert_eq!(read(Dialect::ChatCompletions, json, &good, good.len() - 1), Answer::default());
    assert_eq!(read(Dialect::ChatCompletions, json, &good[..good.len() - 1], 1 << 20), Answer::default());
    assert_eq!(read(Dialect::ChatCompletions, json, CHAT_STREAM, 1 << 20), Answer::default());
    assert_eq!(read(Dialect::ChatCompletions, "text/event-stream", &good, 1 << 20), Answer::default());
}

#[test]
fn an_encoded_answer_is_not_read() {
    for (encoding, readable) in [("gzip", false), ("br, identity", false), ("identity", true), ("Identity", true)] {
        let mut headers = headers("text/event-stream");
        headers.insert(http::header::CONTENT_ENCODING, encoding.parse().unwrap());
        let mut reader = AnswerReader::new(Dialect::ChatCompletions, &headers, 1 << 20);
        assert!(reader.is_stream());
        reader.feed(CHAT_STREAM.as_bytes());
        assert_eq!(reader.finish().answered.is_some(), readable, "{encoding}");
    }
}
