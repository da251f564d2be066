//! What the proxy costs beside no proxy and nginx, in one run: requests per second, latency, CPU time per request.
//!
//! The proxy under test is pinned to one core, the load and the provider to the other. Run it with `scripts/bench`.

#![allow(clippy::disallowed_methods, reason = "no worker is blocked: this thread only waits for other processes")]
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a bench talks to a person and stops at the first fault")]

mod bodies;
mod conversation;
mod load;
mod processes;
mod report;

use std::time::Duration;

use bodies::Workload;
use processes::{Direct, Nginx, Ours, Target};
use report::Row;

/// Connections for throughput: enough to keep one core busy.
const CONNECTIONS: usize = 16;

fn main() {
    // `cargo test` and `cargo clippy` also start bench binaries: without `--bench` there is nothing to do.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let seconds = std::env::var("BENCH_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let time = Duration::from_secs(seconds);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let provider = processes::Provider::start(folder.path());
    processes::pin_self_to_load_core();

    let mut rows = Vec::new();
    for workload in Workload::all() {
        let direct = Direct::new(&provider);
        let nginx = Nginx::start(folder.path(), &provider);
        let ours = Ours::start(folder.path(), &provider);
        for target in [&direct as &dyn Target, &nginx, &ours] {
            rows.push(measure(target, &workload, time));
            report::print_row(rows.last().expect("just pushed"));
        }
    }
    report::print_ratios(&rows);
    report::print_start_and_memory(folder.path(), &provider);
}

/// Throughput and CPU time under full load, then latency of one connection at a time.
fn measure(target: &dyn Target, workload: &Workload, time: Duration) -> Row {
    let requests = workload.requests(target);
    load::run(target.address(), &requests, CONNECTIONS, Duration::from_secs(1));
    let cpu_before = target.cpu_time();
    let busy = load::run(target.address(), &requests, CONNECTIONS, time);
    let cpu = target.cpu_time().saturating_sub(cpu_before);
    let calm = load::run(target.address(), &requests, 1, time / 2);
    Row::new(target.name(), workload.name, &busy, &calm, cpu)
}
