//! Measures the time to read a request of a working agent, by size and dialect, and one event of a
//! stream.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use wire::{AnswerReader, Dialect, read_request};

/// The definitions of the tools: every request has them, and they are never read.
fn tools() -> Value {
    let tool = |number: usize| {
        json!({ "type": "function", "function": {
            "name": format!("tool_{number}"),
            "description": "Reads a file from the working directory and returns its lines with their numbers.\n".repeat(4),
            "parameters": { "type": "object", "properties": { "path": { "type": "string" }, "from": { "type": "integer" } } },
        } })
    };
    (0..12).map(tool).collect()
}

/// The result of a tool: code, with the quotes and line ends that JSON escapes.
fn result(step: usize) -> String {
    (0..30).map(|line| format!("{line:4}\tlet value_{line} = lookup(\"key_{step}\", {line})?;\n")).collect()
}

fn chat_step(step: usize) -> [Value; 2] {
    let arguments = json!({ "path": format!("src/file_{step}.rs"), "from": step }).to_string();
    let call = json!({ "id": format!("call_{step}"), "type": "function", "function": { "name": "read", "arguments": arguments } });
    [
        json!({ "role": "assistant", "content": "I will read the next file.", "tool_calls": [call] }),
        json!({ "role": "tool", "tool_call_id": format!("call_{step}"), "content": result(step) }),
    ]
}

fn messages_step(step: usize) -> [Value; 2] {
    let (id, path) = (format!("toolu_{step}"), format!("src/file_{step}.rs"));
    let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": { "path": path, "from": step } });
    [
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "I will read the next file." }, call] }),
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": result(step) }] }),
    ]
}

/// A request of about `size` bytes: one user message and as many steps of work as fit.
fn request(dialect: Dialect, size: usize) -> Vec<u8> {
    let mut messages = vec![
        json!({ "role": "system", "content": "You are a careful engineer. ".repeat(80) }),
        json!({ "role": "user", "content": "The build fails on line 12.\nFind out why, and fix it. ".repeat(8) }),
    ];
    for step in 0.. {
        let body = json!({ "model": "m", "stream": true, "tools": tools(), "messages": messages });
        let body = serde_json::to_vec(&body).unwrap();
        if body.len() >= size {
            return body;
        }
        messages.extend(match dialect {
            Dialect::Messages => messages_step(step),
            _ => chat_step(step),
        });
    }
    unreachable!("the loop ends when the size is reached")
}

fn requests(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read_request");
    for (name, dialect) in [("chat", Dialect::ChatCompletions), ("messages", Dialect::Messages)] {
        for size in [32 << 10, 400 << 10] {
            let body = request(dialect, size);
            group.throughput(Throughput::Bytes(body.len() as u64));
            group.bench_function(format!("{name}/{}KB", size >> 10), |bencher| {
                bencher.iter(|| read_request(dialect, black_box(&body)).unwrap().depth);
            });
            // The time that serde_json needs only to validate the same bytes, to judge a noisy
            // machine by.
            group.bench_function(format!("{name}/{}KB/serde_json_skip", size >> 10), |bencher| {
                bencher.iter(|| serde_json::from_slice::<serde::de::IgnoredAny>(black_box(&body)).unwrap());
            });
        }
    }
}

fn events(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read_event");
    let chat = "data: {\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\",\"object\":\"chat.completion.chunk\",\"created\":1741569952,\"model\":\"gpt-5\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_06737a9306\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
    let messages = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n";
    let headers =
        [(http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/event-stream"))].into_iter().collect();
    for (name, dialect, event) in [("chat", Dialect::ChatCompletions, chat), ("messages", Dialect::Messages, messages)]
    {
        let mut reader = AnswerReader::new(dialect, &headers, 64 << 10);
        group.bench_function(name, |bencher| bencher.iter(|| reader.feed(black_box(event.as_bytes()))));
    }
}

criterion_group!(benches, requests, events);
criterion_main!(benches);
