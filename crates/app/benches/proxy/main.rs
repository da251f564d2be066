//! The cost of the proxy beside no proxy, nginx and a bare proxy, in one run: requests per second,
//! latency, CPU time per request.
//!
//! The proxy under test is pinned to one core, the load and the provider to the other. Run it with
//! `scripts/bench`.

#![allow(clippy::disallowed_methods, reason = "no worker is blocked: this thread only waits for other processes")]
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a bench talks to a person and stops at the first fault")]

mod agent_key;
mod bare;
mod bodies;
mod conversation;
mod kinds;
mod load;
mod processes;
mod report;
mod watchers;

use std::time::Duration;

use bare::Bare;
use bodies::Workload;
use processes::{BodyBuffering, Direct, Nginx, Ours, Target};
use report::Row;

/// The targets alternate this often and the round with the least CPU time counts: noise only adds.
/// Noise comes in spells of seconds, so many short rounds avoid it better than a few long ones.
const ROUNDS: u32 = 9;
/// How long each is under load before it is measured.
const WARM_UP: Duration = Duration::from_millis(300);
/// Connections for throughput: enough to keep one core busy.
const CONNECTIONS: usize = 16;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, argument, address, provider] = arguments.as_slice()
        && argument == Bare::ARGUMENT
    {
        let [address, provider] = [address, provider].map(|text| text.parse().expect("an address"));
        return bare::serve(address, provider);
    }
    // `cargo test` and `cargo clippy` also start bench binaries: without `--bench` there is nothing
    // to do.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let seconds = std::env::var("BENCH_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    let time = Duration::from_secs(seconds);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let provider = processes::Provider::start(folder.path());
    processes::pin_self_to_load_core();

    let mut rows = Vec::new();
    for workload in Workload::sizes().iter().filter(|workload| is_wanted(workload.name)) {
        let direct = Direct::new(&provider);
        let nginx = Nginx::start(folder.path(), &provider, BodyBuffering::Off);
        let whole = Nginx::start(folder.path(), &provider, BodyBuffering::On);
        let bare = Bare::start(&provider);
        let ours = Ours::start(folder.path(), &provider);
        let targets = [&direct as &dyn Target, &nginx, &whole, &bare, &ours];
        let rounds: Vec<Vec<Row>> = (0..ROUNDS)
            .map(|_| targets.iter().map(|target| measure(*target, workload, time / ROUNDS)).collect())
            .collect();
        for place in 0..targets.len() {
            let row = rounds.iter().map(|round| &round[place]).min_by_key(|row| row.cpu_per_request);
            rows.push(row.expect("there are rounds").clone());
            report::print_row(rows.last().expect("just pushed"));
        }
    }
    report::print_ratios(&rows);
    if is_wanted("kinds") {
        kinds::print(folder.path(), &provider, time);
    }
    if is_wanted("agent_key") {
        agent_key::print(folder.path(), &provider, time);
    }
    if is_wanted("watchers") {
        watchers::print(folder.path(), &provider, time);
    }
    if is_wanted("start") {
        report::print_start_and_memory(folder.path(), &provider);
    }
}

/// Whether `BENCH_ONLY` asks for this part, or for none in particular.
fn is_wanted(part: &str) -> bool {
    std::env::var("BENCH_ONLY").map_or(true, |only| only == part)
}

/// Throughput and CPU time under full load, then latency of one connection at a time.
fn measure(target: &dyn Target, workload: &Workload, time: Duration) -> Row {
    let requests = workload.requests(target).into();
    load::run(target.address(), &requests, CONNECTIONS, WARM_UP);
    let cpu_before = target.cpu_time();
    let busy = load::run(target.address(), &requests, CONNECTIONS, time);
    let cpu = target.cpu_time().saturating_sub(cpu_before);
    let calm = load::run(target.address(), &requests, 1, time / 2);
    Row::new(target.name(), workload.name, &busy, &calm, cpu)
}
