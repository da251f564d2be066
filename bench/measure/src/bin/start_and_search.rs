//! Measures a start and a search for a text on a large database. `cargo run --release -p measure
//! --bin start_and_search [EVENTS [AGENTS]]`, 1,000,000 and 400,000 without. `MEASURE_DIR` names a
//! folder for the database, which is kept there and used again. Times are those of the clock and of
//! the CPU: on a machine with other work only the second says something.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use guard::{Guard, GuardConfig};
use model::{AgentId, CallId, Clock, Epoch, Event, EventType, KillSwitch, RecorderHandle, Timestamp};
use store::{EventFilter, PageRequest, Recorder, Store, StoreConfig};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const HOUR_MS: u64 = 60 * 60 * 1000;

/// How many agents a start restores before the first call, and in all.
const FIRST: usize = 10_000;
const ALL: usize = 100_000;

/// A fingerprint with a prompt, tools and a response, as version 3 of its encoding stores it.
const FINGERPRINT: [u8; 142] = {
    let mut bytes = [0; 142];
    bytes[0] = 3;
    bytes[1] = 1 | 1 << 2 | 1 << 3;
    bytes[3] = 1;
    bytes
};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().unwrap());
    let count = arguments.next().unwrap_or(1_000_000);
    let agents = arguments.next().unwrap_or(400_000);
    let temporary = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("MEASURE_DIR").map(PathBuf::from);
    let directory = kept.unwrap_or_else(|| temporary.path().to_owned());
    let is_written = directory.join("data").exists();
    let mut config = StoreConfig::new(directory.join("data"), directory.join("key"));
    config.clock = Clock::manual(NOW);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        if !is_written {
            write(&Store::open(config.clone()).await.unwrap(), count, agents).await;
        }
        start(config.clone()).await;
        search(&Store::open(config).await.unwrap()).await;
    });
}

/// Writes the events of an hour. All of them wait in the inbox, so that none is dropped.
async fn write(store: &Store, count: u64, agents: u64) {
    let (handle, inbox) = RecorderHandle::new(usize::try_from(count).unwrap());
    (0..count).for_each(|number| handle.event(event(number, count, agents)));
    let (recorder, writer) = Recorder::start(store.clone(), inbox);
    drop((handle, recorder));
    writer.await.unwrap();
}

fn event(number: u64, count: u64, agents: u64) -> Event {
    let millis = NOW.as_millis() - (HOUR_MS - HOUR_MS * number / count) as i64;
    let time = Timestamp::from_millis(millis);
    let agent = AgentId::parse(&format!("agent-{:06}", number * 7919 % agents)).unwrap();
    let mut event = Event::new(CallId::at(time), agent, Epoch(0), EventType::LlmCall, time);
    event.provider = Some("anthropic".to_owned());
    event.model = Some(if number == count / 2 { "rare-model" } else { "claude-sonnet-4-5" }.to_owned());
    event.conversation = Some(format!("session-{}", number % 20_000));
    event.status = Some(200);
    event.latency_ms = Some(500 + number % 20_000);
    if number.is_multiple_of(50) {
        event.error = Some(format!("overloaded, request {number}"));
    }
    let mut fingerprint = store::decode_fingerprint(&FINGERPRINT).unwrap();
    fingerprint.call = event.id;
    fingerprint.number = number / agents + 1;
    event.fingerprint = Some(fingerprint);
    event
}

/// Restores a guard as a server does at its start.
async fn start(config: StoreConfig) {
    let began = Moment::now();
    let store = Store::open(config).await.unwrap();
    println!("opened: {}", began.elapsed());
    let guard = Guard::new(GuardConfig { max_agents: ALL, ..GuardConfig::default() });
    let first = store.saved_agents(KillSwitch::default(), FIRST).await.unwrap();
    let count = first.len();
    first.into_iter().for_each(|agent| guard.restore(agent));
    println!("before the first call: {count} agents, {}", began.elapsed());
    let began = Moment::now();
    let mut older = store.older_agents(KillSwitch::default(), FIRST, ALL).await.unwrap();
    let mut count = 0;
    while let Some(agents) = older.next().await.unwrap() {
        count += agents.len();
        agents.into_iter().for_each(|agent| guard.restore_unless_known(agent));
    }
    println!("after the start: {count} agents, {}", began.elapsed());
}

/// Texts that are found in different ways; the worst of a few searches counts.
async fn search(store: &Store) {
    let searches = [
        ("no event", "no such text"),
        ("one agent", "agent-000123"),
        ("a hundred agents", "agent-0001"),
        ("all agents", "agent"),
        ("one conversation", "session-19999"),
        ("a thousand conversations", "session-19"),
        ("one call of a model", "rare-model"),
        ("one error", "request 999950"),
    ];
    for (name, text) in searches {
        let filter = EventFilter { text: Some(text.to_owned()), ..EventFilter::default() };
        let (mut worst, mut found) = (Time::default(), 0);
        for _ in 0..3 {
            let began = Moment::now();
            let page = PageRequest { limit: 50, cursor: None };
            found = store.events(&filter, &page).await.unwrap().items.len();
            worst = worst.max(began.elapsed());
        }
        println!("search for {name}: a page of {found}, {worst}");
    }
}

/// When something began.
struct Moment {
    clock: Instant,
    cpu: Duration,
}

/// How long it took.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
struct Time {
    cpu: Duration,
    clock: Duration,
}

impl Moment {
    fn now() -> Moment {
        Moment { clock: Instant::now(), cpu: cpu_time() }
    }

    fn elapsed(&self) -> Time {
        Time { cpu: cpu_time() - self.cpu, clock: self.clock.elapsed() }
    }
}

impl Time {
    fn max(self, other: Time) -> Time {
        if other > self { other } else { self }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ms, {} ms of CPU", self.clock.as_millis(), self.cpu.as_millis())
    }
}

/// The CPU time of this process: user and system, in hundredths of a second.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}
