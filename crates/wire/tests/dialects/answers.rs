//! What is read of answers.

use http::HeaderMap;
use model::{Answered, ToolCall, Usage};
use serde_json::{Value, json};
use wire::{Answer, AnswerReader, Dialect};

pub(crate) fn headers(content_type: &str) -> HeaderMap {
    HeaderMap::from_iter([(http::header::CONTENT_TYPE, content_type.parse().unwrap())])
}

fn read(dialect: Dialect, content_type: &str, body: &str, limit: usize) -> Answer {
    let mut reader = AnswerReader::new(dialect, &headers(content_type), limit);
    reader.feed(body.as_bytes());
    reader.finish()
}

fn body(dialect: Dialect, body: &Value) -> Answer {
    read(dialect, "application/json", &body.to_string(), 1 << 20)
}

fn stream(dialect: Dialect, stream: &str) -> Answer {
    read(dialect, "text/event-stream; charset=utf-8", stream, 1 << 20)
}

fn answered(text: &str, calls: &[(&'static str, &'static str)]) -> Option<Answered> {
    let tool_calls =
        calls.iter().map(|(name, arguments)| ToolCall { name: (*name).into(), arguments: (*arguments).into() });
    Some(Answered { text: text.to_owned(), tool_calls: tool_calls.collect() })
}

/// A stream of chunks as OpenAI sends it.
pub(crate) const CHAT_STREAM: &str = concat!(
    ": warming up\n\n",
    "data: {\"id\":\"c1\",\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hé\"},\"obfuscation\":\"xx\"}],\"usage\":null}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"llo \\ud83d\\ude00\"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hidden\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"n\\\":\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"stop\",\"arguments\":\"{}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,",
    "\"prompt_tokens_details\":{\"cached_tokens\":60},\"completion_tokens_details\":{\"reasoning_tokens\":5}}}\n\n",
    "data: [DONE]\n\n",
);

/// A stream of events as Anthropic sends it.
pub(crate) const MESSAGES_STREAM: &str = concat!(
    "event: message_start\n",
    "data: {\"type\":\"message_start\",\"message\":{\"model\":\"claude\",\"content\":[],\"usage\":{\"input_tokens\":10,",
    "\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":70,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"I lóok.\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"read\",\"input\":{}}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"now\",\"input\":{}}}\n\n",
    "event: message_delta\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":42}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

#[test]
fn a_chat_body() {
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
    let usage = Usage { input: Some(10), output: Some(5), cached: Some(4), cache_write: Some(2), reasoning: None };
    let expected = Answer {
        answered: answered("Hello No.", &[("run", "{\"n\": 1}"), ("patch", "raw")]),
        usage,
        model: Some("gpt-5-2026".to_owned()),
        error: None,
        complete: true,
    };
    assert_eq!(answer, expected);
}

#[test]
fn a_chat_stream() {
    let usage = Usage { input: Some(100), output: Some(20), cached: Some(60), cache_write: None, reasoning: Some(5) };
    let expected = Answer {
        answered: answered("Héllo 😀", &[("run", "{\"n\":1}"), ("stop", "{}")]),
        usage,
        model: Some("gpt-5".to_owned()),
        error: None,
        complete: true,
    };
    assert_eq!(stream(Dialect::ChatCompletions, CHAT_STREAM), expected);
}

#[test]
fn a_chat_stream_whose_calls_have_no_index() {
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
fn a_chat_stream_without_its_last_event() {
    let cut_off = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n";
    assert!(!stream(Dialect::ChatCompletions, cut_off).complete);
    let finished = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert!(stream(Dialect::ChatCompletions, finished).complete);
}

#[test]
fn a_messages_body() {
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
    let usage = Usage { input: Some(8), output: Some(2), cached: Some(4), cache_write: Some(3), reasoning: None };
    assert_eq!(answer.answered, answered("I look.", &[("read", "{\"a\":1}")]));
    assert_eq!(answer.usage, usage);
    assert!(answer.complete);
}

#[test]
fn a_messages_stream() {
    let usage = Usage { input: Some(100), output: Some(42), cached: Some(70), cache_write: Some(20), reasoning: None };
    let expected = Answer {
        answered: answered("I lóok.", &[("read", "{\"a\":1}"), ("now", "{}")]),
        usage,
        model: Some("claude".to_owned()),
        error: None,
        complete: true,
    };
    assert_eq!(stream(Dialect::Messages, MESSAGES_STREAM), expected);
}

#[test]
fn an_error_inside_a_stream() {
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
fn the_end_is_seen_when_it_passes() {
    for (dialect, stream) in [(Dialect::ChatCompletions, CHAT_STREAM), (Dialect::Messages, MESSAGES_STREAM)] {
        let mut reader = AnswerReader::new(dialect, &headers("text/event-stream"), 1 << 20);
        assert!(reader.is_stream() && reader.ends_between_events());
        let (before, last) = stream.as_bytes().split_at(stream.len() - 3);
        reader.feed(before);
        assert!(!reader.saw_end() && !reader.ends_between_events());
        reader.feed(last);
        assert!(reader.saw_end() && reader.ends_between_events());
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
fn what_cannot_be_read_is_left_out() {
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
