//! Hostile bodies: deep, huge, of wrong types, with duplicate keys and half characters.

use model::Unread;
use serde_json::{Value, json};
use wire::{Dialect, read_request};

use crate::answers::read;
use crate::streams::STREAMS;

/// A body of each dialect whose prompt is `prompt`, as it is written.
fn with_prompt(dialect: Dialect, prompt: &str) -> String {
    match dialect {
        Dialect::ChatCompletions | Dialect::Messages | Dialect::Ollama | Dialect::Converse | Dialect::Cohere => {
            format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{prompt}}}]}}")
        }
        Dialect::Responses => format!("{{\"input\":[{{\"role\":\"user\",\"content\":{prompt}}}]}}"),
        Dialect::Gemini => format!("{{\"contents\":[{{\"parts\":[{{\"text\":{prompt}}}]}}]}}"),
        Dialect::Completions => format!("{{\"prompt\":{prompt}}}"),
    }
}

#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    for dialect in Dialect::ALL {
        let body = with_prompt(dialect, r#""cut \ud83d""#);
        assert_eq!(read_request(dialect, body.as_bytes()).unwrap().prompt, ["cut \u{fffd}"], "{dialect:?}");
    }
}

#[test]
fn the_last_of_duplicate_keys_wins() {
    for dialect in Dialect::ALL {
        let (one, other) = (with_prompt(dialect, "\"one\""), with_prompt(dialect, "\"two\""));
        let doubled = format!("{},{}", &one[..one.len() - 1], &other[1..]);
        assert_eq!(read_request(dialect, doubled.as_bytes()).unwrap().prompt, ["two"], "{dialect:?}");
    }
}

#[test]
fn nesting_has_a_limit() {
    for dialect in Dialect::ALL {
        for depth in [2_000, 200_000] {
            let deep = "[".repeat(depth) + &"]".repeat(depth);
            let body = with_prompt(dialect, &deep);
            assert_eq!(read_request(dialect, body.as_bytes()), Err(Unread::TooDeep), "{dialect:?}");
        }
    }
}

#[test]
fn wrong_types_in_requests_are_ignored() {
    let odd = [
        json!(null),
        json!(true),
        json!(7),
        json!(""),
        json!("text"),
        json!([]),
        json!({}),
        json!([[[]]]),
        json!([null, 7, {}]),
    ];
    let keys = [
        "messages",
        "input",
        "contents",
        "prompt",
        "images",
        "model",
        "stream",
        "metadata",
        "conversation",
        "thread",
        "request",
    ];
    for dialect in Dialect::ALL {
        for value in &odd {
            for key in keys {
                let _ = read_request(dialect, json!({ key: value }).to_string().as_bytes());
            }
            for key in [
                "role",
                "type",
                "content",
                "parts",
                "tool_calls",
                "function_call",
                "tool_call_id",
                "images",
                "output",
                "call_id",
            ] {
                let mut message = json!({ "role": "user", "content": "hi" });
                message[key] = value.clone();
                let list =
                    json!([message, { "type": "function_call", key: value }, { "type": "x_call_output", key: value }]);
                for list_key in ["messages", "input", "contents"] {
                    let _ = read_request(dialect, json!({ list_key: list }).to_string().as_bytes());
                }
            }
        }
    }
}

/// Where the values are inside `value`, as JSON pointers.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, inner)| places(inner, &format!("{here}/{key}"), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| places(inner, &format!("{here}/{at}"), found));
        }
        _ => {}
    }
}

#[test]
fn wrong_types_in_answers_are_ignored() {
    for (dialect, _, stream) in STREAMS {
        for line in stream.lines().map(|line| line.trim_start_matches("data: ")) {
            let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
            let mut found = Vec::new();
            places(&event, "", &mut found);
            for place in found {
                for odd in [json!(null), json!(7), json!("x"), json!([{ "a": 1 }]), json!({ "type": [] })] {
                    let mut event = event.clone();
                    *event.pointer_mut(&place).unwrap() = odd;
                    read(dialect, "text/event-stream", &format!("data: {event}\n\n"), 1 << 16);
                    read(dialect, "application/x-ndjson", &format!("{event}\n"), 1 << 16);
                    read(dialect, "application/json", &format!("[{event}]"), 1 << 16);
                    read(dialect, "application/json", &event.to_string(), 1 << 16);
                }
            }
        }
    }
}

#[test]
fn a_hundred_thousand_calls_take_linear_time() {
    let many = 100_000;
    let call =
        |id: usize| json!({ "type": "function_call", "call_id": id.to_string(), "name": "n", "arguments": "{}" });
    let output =
        |id: usize| json!({ "type": "function_call_output", "call_id": id.to_string(), "output": id.to_string() });
    let items: Vec<Value> = (0..many).map(call).chain((0..many).rev().map(output)).collect();
    let body = json!({ "input": items }).to_string();
    let asked = read_request(Dialect::Responses, body.as_bytes()).unwrap();
    assert_eq!((asked.tool_calls.len(), &*asked.tool_results[7]), (many, "7"));
}
