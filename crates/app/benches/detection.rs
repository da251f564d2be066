//! Detection alone: a request's body is read, fingerprinted and scored against full windows.

#![allow(clippy::expect_used, missing_docs, reason = "a bench stops at the first fault")]

#[path = "proxy/conversation.rs"]
mod conversation;

use conversation::{Api, conversation};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use guard::{Guard, GuardConfig, NewCall};
use http::HeaderMap;
use model::{AgentId, Answered, CallId, Timestamp};
use wire::Dialect;

fn detection(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("detection");
    let of_size = |name, size, variants| (name, Api::OpenAi, size, variants);
    let cases = [
        of_size("0.5 KB", 512, 64),
        of_size("32 KB", 32 * 1024, 64),
        of_size("400 KB", 400 * 1024, 64),
        // The same body again matches its whole window.
        of_size("0.5 KB, repeated", 512, 1),
        of_size("32 KB, repeated", 32 * 1024, 1),
        ("32 KB, repeated, Anthropic", Api::Anthropic, 32 * 1024, 1),
    ];
    for (name, api, size, variants) in cases {
        let dialect = if api == Api::OpenAi { Dialect::ChatCompletions } else { Dialect::Messages };
        let bodies: Vec<String> = (0..variants).map(|variant| conversation(api, size, variant, false)).collect();
        let guard = Guard::new(GuardConfig::default());
        let agent = AgentId::parse("bench").expect("a name");
        let answered = Answered { text: "The importer skips empty rows.".to_owned(), tool_calls: Vec::new() };
        let mut turn = 0_i64;
        group.throughput(Throughput::Bytes(bodies[0].len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                turn += 1;
                let body = bodies[turn as usize % bodies.len()].as_bytes();
                let asked = wire::read_request(dialect, body).expect("a request");
                let conversation_name = wire::conversation_of(&HeaderMap::new(), &asked);
                let call = NewCall {
                    agent: &agent,
                    call: CallId::new(),
                    conversation: &conversation_name,
                    body,
                    asked: &asked,
                };
                let guard::Decision::Scored(scored) = guard.on_call(&call, Timestamp::from_millis(turn)) else {
                    unreachable!("the kill switch is off");
                };
                guard.on_answer(&scored.ticket, &answered, Timestamp::from_millis(turn))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, detection);
criterion_main!(benches);
