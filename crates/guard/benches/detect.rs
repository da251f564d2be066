//! How long detection takes: a 32 KB agent request from its parts to its verdict, and hashing
//! alone.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use guard::{Decision, Guard, GuardConfig, NewCall, Numbers, text_hash};
use model::{AgentId, Answered, Asked, CallId, Timestamp, ToolCall};

const WORDS: [&str; 16] = [
    "The",
    "parser",
    "drops",
    "characters",
    "of",
    "a",
    "line",
    "that",
    "ends",
    "without",
    "any",
    "newline,",
    "and",
    "tokenizer",
    "tests",
    "fail.",
];

/// English-looking text of about `length` bytes, with a number now and then.
fn prose(length: usize) -> String {
    let mut text = String::with_capacity(length + 16);
    let mut state = 1_u64;
    while text.len() < length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text += WORDS[(state >> 60) as usize];
        text += if state >> 50 & 31 == 0 { " 42 " } else { " " };
    }
    text
}

fn hashing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("normalise and simhash");
    let (ascii, accented) = (prose(32 * 1024), prose(32 * 1024).replace("drops", "“drops—"));
    for (name, text) in [("32 KB of ASCII", &ascii), ("32 KB with typographic marks", &accented)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| text_hash(black_box(text), Numbers::Masked)));
    }
}

/// A coding agent in the middle of its work: a task, a tool step with an output, the rest is older
/// history.
fn agent_request(criterion: &mut Criterion) {
    let (task, output, body) = (prose(2 * 1024), prose(4 * 1024), prose(32 * 1024));
    let call = ToolCall { name: "bash".into(), arguments: r#"{"timeout":30,"command":"cat src/main.rs"}"#.into() };
    let agent = AgentId::parse("coder").unwrap();
    let guard = Guard::new(GuardConfig::default());
    let answer = Answered { text: prose(300), tool_calls: Vec::new() };
    let mut depth = 0;
    criterion.bench_function("fingerprint, score and verdict of a 32 KB agent request", |bencher| {
        bencher.iter(|| {
            depth += 2;
            let asked = Asked {
                prompt: vec![task.as_str().into()],
                depth,
                tool_calls: vec![call.clone()],
                tool_results: vec![output.as_str().into()],
                ..Asked::default()
            };
            let call = NewCall {
                agent: &agent,
                call: CallId::new(),
                conversation: "run",
                body: black_box(body.as_bytes()),
                asked: &asked,
            };
            let Decision::Scored(scored) = guard.on_call(&call, Timestamp::from_millis(1)) else { return };
            guard.on_answer(&scored.ticket, &answer, Timestamp::from_millis(1));
        });
    });
    criterion.bench_function("is the agent refused", |bencher| bencher.iter(|| guard.refuses(black_box(&agent))));
}

criterion_group!(benches, hashing, agent_request);
criterion_main!(benches);
