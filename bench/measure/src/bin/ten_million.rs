//! Writes many events as a month of many agents would, and measures what reading them costs
//! afterwards. `cargo run --release -p measure --bin ten_million [EVENTS [AGENTS]]`, 10,000,000 and
//! 200 without.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]

use std::time::{Duration, Instant};

use model::{AgentId, CallId, Clock, Epoch, Event, EventType, NanoUsd, RecorderHandle, Timestamp, Usage};
use store::{EventFilter, PageRequest, Period, Recorder, Store, StoreConfig};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const MONTH_MS: u64 = 30 * 24 * 60 * 60 * 1000;
const MODELS: [(&str, &str); 4] = [
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-haiku-4-5"),
    ("openai", "gpt-5"),
    ("openai", "gpt-5-mini"),
];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().unwrap());
    let count = arguments.next().unwrap_or(10_000_000);
    let agents = arguments.next().unwrap_or(200);
    let directory = tempfile::tempdir().unwrap();
    let mut config = StoreConfig::new(directory.path().join("data"), directory.path().join("key"));
    config.clock = Clock::manual(NOW);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(config).await.unwrap();
        write(&store, count, agents).await;
        let size = std::fs::metadata(directory.path().join("data/agentgazer.db")).unwrap().len();
        println!("size: {:.0} MB per million events", size as f64 / count as f64);
        read(&store).await;
    });
}

/// Writes the events as fast as they are taken.
async fn write(store: &Store, count: u64, agents: u64) {
    let names: Vec<AgentId> = (0..agents).map(|number| AgentId::parse(&format!("agent-{number}")).unwrap()).collect();
    let (handle, inbox) = RecorderHandle::new(65_536);
    let (recorder, writer) = Recorder::start(store.clone(), inbox);
    let begun = Instant::now();
    for number in 0..count {
        handle.event(event(&names, number, count));
        // Never more than the recorder can hold.
        if number % 16_384 == 0 {
            for _ in 0..20 {
                recorder.catch_up().await;
            }
            assert_eq!(handle.dropped_events(), 0);
        }
    }
    drop((handle, recorder));
    writer.await.unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    println!("written: {count} events of {agents} agents in {seconds:.0} s, {:.0} a second", count as f64 / seconds);
}

fn event(agents: &[AgentId], number: u64, count: u64) -> Event {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let millis = NOW.as_millis() - (MONTH_MS - MONTH_MS * number / count) as i64;
    let time = Timestamp::from_millis(millis);
    let agent = agents[(mixed % agents.len() as u64) as usize].clone();
    let mut event = Event::new(CallId::at(time), agent, Epoch(0), EventType::LlmCall, time);
    let (provider, model) = MODELS[(mixed % 4) as usize];
    event.provider = Some(provider.to_owned());
    event.model = Some(model.to_owned());
    event.conversation = Some(format!("session-{}", number / 2000));
    event.status = Some(if mixed.is_multiple_of(50) { 529 } else { 200 });
    event.latency_ms = Some(500 + mixed % 20_000);
    event.first_byte_ms = Some(400);
    event.usage = Usage { input: Some(12_000 + mixed % 1000), output: Some(mixed % 900), ..Usage::default() };
    event.cost = Some(NanoUsd::new((mixed % 50_000_000) as i64));
    event
}

/// The pages that people look at, each a few times: the worst counts.
async fn read(store: &Store) {
    let agent = AgentId::parse("agent-7").unwrap();
    let page = PageRequest { limit: 50, cursor: None };
    for (name, hours) in [("24h", 24), ("7d", 168), ("30d", 720)] {
        let period = Period::last_hours(hours, NOW);
        measure(&format!("overview {name}"), async || {
            store.figures(None, period).await.unwrap();
            store.agent_figures(period, 50).await.unwrap();
        })
        .await;
        measure(&format!("agent {name}"), async || {
            store.figures(Some(&agent), period).await.unwrap();
            store.conversation_figures(&agent, period, 50).await.unwrap();
        })
        .await;
    }
    measure("first page of events", async || drop(store.events(&EventFilter::default(), &page).await.unwrap())).await;
    let filter = EventFilter { agent: Some(agent.clone()), ..EventFilter::default() };
    measure("first page of an agent's events", async || drop(store.events(&filter, &page).await.unwrap())).await;
}

async fn measure(name: &str, work: impl AsyncFn()) {
    let mut worst = Duration::ZERO;
    for _ in 0..5 {
        let begun = Instant::now();
        work().await;
        worst = worst.max(begun.elapsed());
    }
    println!("{name}: {:.1} ms", worst.as_secs_f64() * 1e3);
}
