//! Totals of several runs.

use serde::Serialize;

use super::judged::JudgedRun;
use super::run::{Kind, Run};

/// Sums over runs under one setting.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    runs: u64,
    calls: u64,
    stopped: u64,
    calls_saved: u64,
    healthy: u64,
    healthy_stopped: u64,
    loops: u64,
    loops_stopped: u64,
    /// The wasted calls of each stopped loop whose beginning is known.
    wasted: Vec<usize>,
}

/// The totals for output.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct TotalsReport {
    pub(super) runs: u64,
    pub(super) calls: u64,
    pub(super) stopped: u64,
    pub(super) calls_saved: u64,
    pub(super) healthy: u64,
    pub(super) healthy_stopped: u64,
    pub(super) loops: u64,
    pub(super) loops_stopped: u64,
    pub(super) loops_missed: u64,
    /// The median number of calls between the first stuck one and the kill.
    pub(super) calls_wasted: Option<f64>,
}

impl Totals {
    /// Adds a run.
    pub(super) fn add(&mut self, run: &Run, judged: &JudgedRun) {
        let stopped = u64::from(judged.killed_at.is_some());
        self.runs += 1;
        self.calls += run.calls.len() as u64;
        self.stopped += stopped;
        self.calls_saved += judged.killed_at.map_or(0, |killed_at| run.calls.len() - killed_at) as u64;
        match run.kind {
            Kind::Healthy => {
                self.healthy += 1;
                self.healthy_stopped += stopped;
            }
            Kind::Loop => {
                self.loops += 1;
                self.loops_stopped += stopped;
                if let (Some(killed_at), Some(first)) = (judged.killed_at, run.first_stuck_call) {
                    self.wasted.push(killed_at.saturating_sub(first));
                }
            }
            Kind::Other => {}
        }
    }

    /// The sums.
    pub(super) fn report(&self) -> TotalsReport {
        TotalsReport {
            runs: self.runs,
            calls: self.calls,
            stopped: self.stopped,
            calls_saved: self.calls_saved,
            healthy: self.healthy,
            healthy_stopped: self.healthy_stopped,
            loops: self.loops,
            loops_stopped: self.loops_stopped,
            loops_missed: self.loops - self.loops_stopped,
            calls_wasted: median(&self.wasted),
        }
    }
}

fn median(numbers: &[usize]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle] as f64),
        _ => Some((sorted[middle - 1] + sorted[middle]) as f64 / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4]), Some(4.0));
        assert_eq!(median(&[9, 1, 4]), Some(4.0));
        assert_eq!(median(&[1, 2, 9, 4]), Some(3.0));
    }
}
