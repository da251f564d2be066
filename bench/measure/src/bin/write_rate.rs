//! How much CPU one recorded call costs. Prints microseconds of CPU and of wall time per event.
//!
//! `cargo run --release -p measure --bin write_rate [EVENTS] [AGENTS] [CONVERSATIONS]`, with
//! `DATABASE=postgres://…` on an empty PostgreSQL database instead of SQLite.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to be run by hand")]

use std::time::Instant;

use model::{
    AgentId, CallId, ConversationId, Epoch, Event, EventType, Fingerprint, Outcome, RecorderHandle, ResponsePrint,
    Score, SignalCounts, Step, TextHash, Timestamp, ToolStep, Turn, Usage, WindowKind,
};
use store::{PostgresConfig, Recorder, Store, StoreConfig};

fn main() {
    let argument = |position, default| std::env::args().nth(position).and_then(|it| it.parse().ok()).unwrap_or(default);
    let (count, agents, conversations) = (argument(1, 200_000), argument(2, 100), argument(3, 1000));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let postgres = std::env::var("DATABASE").ok().map(|url| PostgresConfig::new(url.into(), None).unwrap());
    let is_sqlite = postgres.is_none();
    let config = StoreConfig::new(directory.path().join("data"), directory.path().join("key"));
    let config = StoreConfig { postgres, ..config };

    let agents: Vec<AgentId> = (0..agents).map(|n| AgentId::parse(&format!("agent-{n}")).unwrap()).collect();
    let agent = |n: u64| &agents[(n.wrapping_mul(7919) % agents.len() as u64) as usize];
    let events: Vec<Event> = (0..count).map(|n| event(agent(n), n, n % conversations)).collect();
    runtime.block_on(async {
        let opened = Instant::now();
        let store = Store::open(config).await.unwrap();
        println!("open: {:.1} ms", opened.elapsed().as_secs_f64() * 1e3);
        let (handle, inbox) = RecorderHandle::new(events.len());
        let (recorder, writer) = Recorder::start(store, inbox);
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        events.into_iter().for_each(|event| handle.event(event));
        let dropped = handle.dropped_events();
        drop(handle);
        writer.await.unwrap();
        let per_event = 1e6 / count as f64;
        println!("cpu: {:.2} µs per event", (cpu_seconds() - cpu) * per_event);
        let wall = wall.elapsed().as_secs_f64();
        println!(
            "wall: {:.2} µs per event, {:.0} events a second, {dropped} dropped",
            wall * per_event,
            count as f64 / wall
        );
        drop(recorder);
    });
    if is_sqlite {
        let size = std::fs::metadata(directory.path().join("data/agentgazer.db")).unwrap().len();
        println!("size: {} bytes per event", size / count);
    }
}

/// CPU time of this process so far, user and system, all threads.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let ticks: u64 =
        stat.rsplit(") ").next().unwrap().split(' ').skip(11).take(2).map(|it| it.parse::<u64>().unwrap()).sum();
    ticks as f64 / 100.0
}

/// A call as a coding agent makes it.
fn event(agent: &AgentId, number: u64, conversation: u64) -> Event {
    let mut event = Event::new(
        CallId::new(),
        agent.clone(),
        Epoch(0),
        EventType::LlmCall,
        Timestamp::from_millis(1_700_000_000_000 + number as i64),
    );
    event.conversation = Some(format!("session-{conversation}"));
    event.provider = Some("anthropic".to_owned());
    event.model = Some("claude-sonnet-4-5".to_owned());
    event.status = Some(200);
    event.latency_ms = Some(2345);
    event.first_byte_ms = Some(456);
    event.usage = Usage {
        input: Some(12_345),
        output: Some(678),
        cached: Some(10_000),
        cache_write: Some(300),
        ..Usage::default()
    };
    event.streamed = true;
    let signals = SignalCounts { similar_prompts: 1, similar_responses: 0, repeated_tool_calls: 1 };
    event.score = Some(Score { value: 2.5, signals, window: WindowKind::Agent });
    let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    event.fingerprint = Some(Fingerprint {
        call: event.id,
        number,
        time: event.time,
        conversation: ConversationId(hash),
        body: hash,
        prompt: Some(TextHash(hash)),
        prompt_is_short: false,
        prompt_is_error: false,
        prompt_is_common: false,
        turn: Turn { message: hash, position: 3 },
        step: Step { depth: 4, newest: hash },
        tools: Some(ToolStep {
            literal: hash,
            adaptive: hash,
            result: model::ResultPrint { shape: hash as u32, kept: hash as u32, ..Default::default() },
            kind: model::StepKind::Other,
            is_error: false,
            is_written: false,
            wording: Default::default(),
        }),
        response: Some(ResponsePrint { literal: TextHash(hash), adaptive: TextHash(hash), is_short: false, remark: 0 }),
        outcome: Outcome::Answered,
        is_sample: false,
        silence: 0,
        novelty: model::Novelty::Neutral,
    });
    event
}
