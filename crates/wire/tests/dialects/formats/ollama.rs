//! Ollama's own chat and generate, and OpenAI's Completions: requests and answers.

use model::{Asked, Usage};
use serde_json::{Value, json};
use wire::{Answer, Dialect, read_request};

use crate::answers::{answered, body, read, stream};
use crate::requests::calls;
use crate::streams::{COMPLETIONS_STREAM, OLLAMA_CHAT_STREAM, OLLAMA_GENERATE_STREAM};

fn asked(dialect: Dialect, body: &Value, look: impl FnOnce(&Asked<'_>)) {
    let body = body.to_string();
    look(&read_request(dialect, body.as_bytes()).expect(&body));
}

#[test]
fn a_chat_streams_unless_it_is_told_not_to() {
    let messages = json!([{ "role": "user", "content": "Hi" }]);
    for (stream, expected) in [(json!(null), true), (json!(false), false), (json!(true), true)] {
        let body = json!({ "messages": messages, "stream": stream });
        asked(Dialect::Ollama, &body, |asked| assert_eq!(asked.streamed, expected, "{stream}"));
    }
    asked(Dialect::Ollama, &json!({ "messages": messages }), |asked| assert!(asked.streamed));
}

#[test]
fn images_belong_to_the_prompt() {
    let chat = json!({ "messages": [{ "role": "user", "content": "What is it?", "images": ["AAAA", "BBBB"] }] });
    let generate = json!({ "prompt": "What is it?", "images": ["AAAA", "BBBB"] });
    for body in [chat, generate] {
        asked(Dialect::Ollama, &body, |asked| {
            assert_eq!(asked.prompt, ["What is it?"]);
            assert_eq!(asked.attachments, ["\"AAAA\"", "\"BBBB\""]);
        });
    }
}

#[test]
fn calls_without_ids_are_a_step() {
    let body = json!({ "model": "llama", "messages": [
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "Fix it" },
        { "role": "assistant", "content": "", "tool_calls": [
            { "function": { "name": "read", "arguments": { "a": 1 } } }, { "function": { "name": "now", "arguments": {} } },
        ] },
        { "role": "tool", "tool_name": "read", "content": "text" },
        { "role": "tool", "tool_name": "now", "content": "noon" },
    ] });
    asked(Dialect::Ollama, &body, |asked| {
        assert_eq!(calls(asked), [("read", r#"{"a":1}"#), ("now", "{}")]);
        assert_eq!(asked.tool_results, ["text", "noon"]);
        assert_eq!((asked.turn_position, asked.depth), (0, 3));
    });
}

fn tokens(input: u64, output: u64) -> Usage {
    Usage { input: Some(input), output: Some(output), ..Usage::default() }
}

#[test]
fn ollama_streams_of_lines_are_read() {
    let lines = |stream| read(Dialect::Ollama, "application/x-ndjson", stream, 1 << 20);
    let chat = Answer {
        answered: answered("I lóok.", &[("read", "{\"a\":1}"), ("now", "{}")]),
        usage: tokens(26, 7),
        model: Some("llama".to_owned()),
        complete: true,
        ..Answer::default()
    };
    assert_eq!(lines(OLLAMA_CHAT_STREAM), chat);
    let generated = Answer { answered: answered("Once upón", &[]), usage: tokens(3, 2), ..chat };
    assert_eq!(lines(OLLAMA_GENERATE_STREAM), generated);
    let broken = lines("{\"message\":{\"content\":\"Half\"},\"done\":false}\n{\"error\":\"model runner died\"}\n");
    assert_eq!((broken.error.as_deref(), broken.complete), (Some("model runner died"), false));
    assert_eq!(broken.answered, answered("Half", &[]));
}

#[test]
fn ollama_body_is_read() {
    let answer = body(
        Dialect::Ollama,
        &json!({ "model": "llama", "message": { "role": "assistant", "content": "Hi" }, "done": true, "prompt_eval_count": 26, "eval_count": 7 }),
    );
    assert_eq!((answer.answered, answer.usage, answer.complete), (answered("Hi", &[]), tokens(26, 7), true));
}

#[test]
fn legacy_completions_are_read() {
    asked(Dialect::Completions, &json!({ "model": "davinci", "prompt": "Once", "stream": true }), |asked| {
        assert_eq!((&*asked.prompt, asked.opening()), (&["Once".into()][..], &["Once".into()][..]));
        assert_eq!((asked.model.as_deref(), asked.streamed), (Some("davinci"), true));
    });
    asked(Dialect::Completions, &json!({ "prompt": ["One", "Two"] }), |asked| assert_eq!(asked.prompt, ["One", "Two"]));
    for tokens in [json!([1, 2, 3]), json!([[1, 2], [3]])] {
        asked(Dialect::Completions, &json!({ "prompt": tokens }), |asked| {
            assert!(asked.prompt.is_empty());
            assert_eq!(asked.attachments, [tokens.to_string()]);
        });
    }
    let streamed = stream(Dialect::Completions, COMPLETIONS_STREAM);
    assert_eq!(
        (streamed.answered, streamed.usage, streamed.complete),
        (answered("Once upón", &[]), tokens(3, 2), true)
    );
    let whole =
        body(Dialect::Completions, &json!({ "choices": [{ "index": 0, "text": "Hi", "finish_reason": "stop" }] }));
    assert_eq!((whole.answered, whole.complete), (answered("Hi", &[]), true));
}
