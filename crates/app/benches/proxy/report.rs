//! The figures, as tables a person can read.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::load::Run;
use crate::processes::{Ours, Provider};

/// One target under one workload.
#[derive(Clone)]
pub(crate) struct Row {
    target: &'static str,
    workload: &'static str,
    per_second: f64,
    calm: [Duration; 2],
    busy: [Duration; 2],
    pub(crate) cpu_per_request: Duration,
}

impl Row {
    pub(crate) fn new(target: &'static str, workload: &'static str, busy: &Run, calm: &Run, cpu: Duration) -> Row {
        Row {
            target,
            workload,
            per_second: busy.requests() as f64 / busy.elapsed.as_secs_f64(),
            calm: [calm.percentile(50), calm.percentile(99)],
            busy: [busy.percentile(50), busy.percentile(99)],
            cpu_per_request: cpu / busy.requests().max(1) as u32,
        }
    }
}

/// One line as soon as it is known.
pub(crate) fn print_row(row: &Row) {
    println!(
        "{:>8}  {:<11} {:>8.0}/s   busy p50 {:>7.1?} p99 {:>7.1?}   calm p50 {:>7.1?} p99 {:>7.1?}   cpu {:>7.1?}",
        row.workload,
        row.target,
        row.per_second,
        row.busy[0],
        row.busy[1],
        row.calm[0],
        row.calm[1],
        row.cpu_per_request
    );
}

/// What nginx and ours add, and ours against the others.
pub(crate) fn print_ratios(rows: &[Row]) {
    println!("\nAdded to no proxy, one connection at a time; CPU per request; ours against nginx in this run");
    println!(
        "(and against nginx that reads a body whole before it sends it on, as ours does; and against a bare proxy)"
    );
    for group in rows.chunks(5) {
        let [direct, nginx, whole, bare, ours] = group else { continue };
        let added = |row: &Row, index: usize| row.calm[index].saturating_sub(direct.calm[index]);
        let ratio = |row: &Row| ours.cpu_per_request.as_secs_f64() / row.cpu_per_request.as_secs_f64();
        println!(
            "{:>8}  p50 +{:.1?} (nginx +{:.1?})   p99 +{:.1?} (nginx +{:.1?})   cpu {:.1?} / {:.1?} = {:.2}× ({:.1?}, {:.2}×; {:.1?}, {:.2}×)   rate {:.2}×",
            ours.workload,
            added(ours, 0),
            added(nginx, 0),
            added(ours, 1),
            added(nginx, 1),
            ours.cpu_per_request,
            nginx.cpu_per_request,
            ratio(nginx),
            whole.cpu_per_request,
            ratio(whole),
            bare.cpu_per_request,
            ratio(bare),
            ours.per_second / nginx.per_second,
        );
    }
}

/// How long a start takes until both listeners answer, and how much memory an idle server holds.
pub(crate) fn print_start_and_memory(folder: &Path, provider: &Provider) {
    let mut starts: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            drop(Ours::start(folder, provider));
            start.elapsed()
        })
        .collect();
    starts.sort_unstable();
    let idle = Ours::start(folder, provider);
    std::thread::sleep(Duration::from_secs(1));
    println!("\nStart to ready, median of 5: {:.1?}. Idle memory: {:.1} MB.", starts[2], idle.memory() as f64 / 1e6);
}
