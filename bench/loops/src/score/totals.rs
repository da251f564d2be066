//! What a detector's verdicts come to, by shape and in all.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use serde::Serialize;

use super::Verdicts;
use super::runs::{Run, Waste};
use crate::reading::Kind;

/// A loop that is stopped after more calls than this is stopped late.
const LATE: u64 = 12;

/// The sums of one detector.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scores {
    pub(crate) all: Totals,
    pub(crate) shapes: BTreeMap<String, Totals>,
}

/// The sums over some runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) healthy: u64,
    pub(crate) healthy_stopped: u64,
    pub(crate) loops: u64,
    pub(crate) loops_stopped: u64,
    pub(crate) unknown_stopped: u64,
    pub(crate) loops_late: u64,
    calls: u64,
    micros: f64,
    /// Calls wasted on each loop that was stopped.
    wasted_calls: Vec<u64>,
    /// Tokens wasted on each loop, also on those that ran to their end.
    wasted_tokens: Vec<u64>,
}

/// The sums as they are shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Shown {
    pub(crate) healthy: u64,
    pub(crate) healthy_stopped: u64,
    pub(crate) loops: u64,
    pub(crate) loops_stopped: u64,
    pub(crate) loops_late: u64,
    pub(crate) wasted_calls_median: Option<u64>,
    pub(crate) wasted_calls_worst: Option<u64>,
    pub(crate) wasted_tokens_median: Option<u64>,
    pub(crate) wasted_tokens_worst: Option<u64>,
    pub(crate) micros_per_call: f64,
}

impl Scores {
    /// Sums up what a detector said of the runs.
    pub(crate) fn of(runs: &[Run], verdicts: &Verdicts) -> anyhow::Result<Scores> {
        let calls: u64 = runs.iter().map(|run| run.calls() as u64).sum();
        if calls == 0 {
            bail!("the files hold no calls");
        }
        let micros = verdicts.took.as_secs_f64() * 1e6 / calls as f64;
        let mut scores = Scores::default();
        for run in runs {
            let killed_at = verdicts.killed_at.get(&run.id);
            let killed_at = *killed_at.with_context(|| format!("the detector said nothing of run {}", run.id))?;
            scores.shapes.entry(run.shape.clone()).or_default().add(run, killed_at, micros);
            scores.all.add(run, killed_at, micros);
        }
        Ok(scores)
    }
}

impl Totals {
    fn add(&mut self, run: &Run, killed_at: Option<usize>, micros: f64) {
        let stopped = u64::from(killed_at.is_some());
        self.calls += run.calls() as u64;
        self.micros += micros * run.calls() as f64;
        match run.kind {
            Kind::Healthy => {
                self.healthy += 1;
                self.healthy_stopped += stopped;
            }
            Kind::Loop => {
                self.loops += 1;
                self.loops_stopped += stopped;
                self.add_waste(run.waste(killed_at), killed_at.is_some());
            }
            Kind::Unknown => self.unknown_stopped += stopped,
        }
    }

    fn add_waste(&mut self, waste: Option<Waste>, is_stopped: bool) {
        let Some(waste) = waste else { return };
        self.wasted_tokens.push(waste.tokens);
        if is_stopped {
            self.wasted_calls.push(waste.calls);
            self.loops_late += u64::from(waste.calls > LATE);
        }
    }

    pub(crate) fn shown(&self) -> Shown {
        Shown {
            healthy: self.healthy,
            healthy_stopped: self.healthy_stopped,
            loops: self.loops,
            loops_stopped: self.loops_stopped,
            loops_late: self.loops_late,
            wasted_calls_median: median(&self.wasted_calls),
            wasted_calls_worst: self.wasted_calls.iter().max().copied(),
            wasted_tokens_median: median(&self.wasted_tokens),
            wasted_tokens_worst: self.wasted_tokens.iter().max().copied(),
            micros_per_call: self.micros / self.calls.max(1) as f64,
        }
    }
}

/// The middle of a list; of an even one, the upper middle.
fn median(numbers: &[u64]) -> Option<u64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[9, 1, 4]), Some(4));
        assert_eq!(median(&[1, 9, 4, 6]), Some(6));
    }
}
