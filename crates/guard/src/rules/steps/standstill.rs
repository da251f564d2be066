//! A cycle is more than one repeated step: in a cycle of eight steps each comes back once in eight
//! calls, and all of them gain nothing. So all repetitions since the last progress count, minus one
//! lap: agents look at a few things twice.

use model::{Novelty, StepKind, ToolStep};

use super::new_work::is_supplied;
use crate::rules::asks::rest::is_after_rest;
use crate::window::PackedFingerprint;

/// How many new things may be seen in a standstill of this many repetitions: fillers, as many as a
/// third of it, and some more between equal tries: an agent that searches finds something now and
/// then.
fn fillers(current: &PackedFingerprint, repetitions: usize) -> usize {
    let more = if is_try(current) { 2 } else { 0 };
    more + repetitions / 3
}

/// Whether the newest step is a try and not a look, whatever that showed.
fn is_try(current: &PackedFingerprint) -> bool {
    let is_look = |step: ToolStep| step.kind == StepKind::Look && !step.is_error;
    current.novelty() != Novelty::Barren && !current.tools().is_some_and(is_look)
}

/// Whether a call reports a search without a result. Between two tries it counts as one of them.
fn is_in_vain(call: &PackedFingerprint) -> bool {
    let looked = |step: ToolStep| step.kind == StepKind::Look && !step.is_error && step.result.is_empty;
    call.novelty() == Novelty::Neutral && call.tools().is_some_and(looked)
}

/// So many repetitions beyond one lap are more than a second look at a few things.
const MORE_THAN_A_LAP: usize = 2;

/// The repetitions since the last progress.
pub(crate) struct Standstill {
    /// The places of the calls whose steps were repetitions, newest first: the current call is the
    /// first.
    steps: Vec<usize>,
    /// How many different steps there are.
    distinct: usize,
    /// How many new things were seen between them.
    found: usize,
}

/// The standstill that the last of `calls` is part of: that of its conversation, or that of all
/// conversations if none makes progress. `None` if the call made progress, or there was at most one
/// lap.
pub(crate) fn standstill(calls: &[&PackedFingerprint]) -> Option<Standstill> {
    let current = calls.last().filter(|call| call.novelty().is_repetition())?;
    let is_own = |call: &PackedFingerprint| call.conversation() == current.conversation();
    let own = Standstill::find(calls, is_own, |repetitions| fillers(current, repetitions));
    if calls.iter().all(|call| is_own(call)) {
        return own;
    }
    let of_all = Standstill::find(calls, |_| true, |_| 0);
    [of_all, own].into_iter().flatten().max_by_key(Standstill::excess)
}

impl Standstill {
    /// The repetitions at the end of `calls`, among the calls for which `is_part` holds. `free`
    /// says how many new things are allowed between a number of repetitions.
    fn find(
        calls: &[&PackedFingerprint],
        is_part: impl Fn(&PackedFingerprint) -> bool,
        free: impl Fn(usize) -> usize,
    ) -> Option<Standstill> {
        // Runs for nearly every call that repeats a step: one allocation for each list is enough.
        let (mut steps, mut keys) = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len()));
        let (mut found, mut found_between) = (0, 0);
        let counts_in_vain = calls.last().is_some_and(|current| is_try(current));
        let mut later = None;
        for (place, call) in calls.iter().enumerate().rev().filter(|(_, call)| is_part(call)) {
            if later.replace(*call).is_some_and(|later| is_after_rest(later, call)) {
                break;
            }
            match call.novelty() {
                Novelty::Changed => break,
                Novelty::Found if is_supplied(calls, place) => break,
                Novelty::Found => {
                    found += 1;
                    if found > free(steps.len()) {
                        break;
                    }
                }
                novelty if novelty.is_repetition() || counts_in_vain && is_in_vain(call) => {
                    steps.push(place);
                    keys.push((call.conversation().0, key(call)));
                    found_between = found;
                }
                _ => {}
            }
        }
        keys.sort_unstable();
        keys.dedup();
        // A single step is no cycle: the call alone counts as much.
        let has_laps = keys.len() > 1 && steps.len() > keys.len();
        has_laps.then_some(Standstill { distinct: keys.len(), steps, found: found_between })
    }

    /// How many steps there are beyond one lap.
    fn excess(&self) -> usize {
        self.steps.len() - self.distinct
    }

    /// The places of all its steps, that of the current call included.
    pub(crate) fn all_steps(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().copied()
    }

    /// The places of its steps before the current call.
    pub(crate) fn steps(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().copied().skip(1)
    }

    /// Whether nothing new was seen for so long that the words between its steps do not matter.
    pub(crate) fn is_long(&self) -> bool {
        self.found == 0 && self.steps.len() >= self.distinct + MORE_THAN_A_LAP
    }

    /// The `places`, newest first, that count: all but those of one lap.
    pub(crate) fn counted(&self, places: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        let places: Vec<usize> = places.collect();
        let count = (places.len() + 2).saturating_sub(self.distinct);
        places.into_iter().take(count)
    }
}

/// What identifies a step without progress: its call, or its finding for looks in other words.
fn key(call: &PackedFingerprint) -> u64 {
    let Some(step) = call.tools() else { return 0 };
    match call.novelty() {
        Novelty::Barren | Novelty::Neutral => u64::from(step.result.finding()),
        _ if step.is_error => u64::from(step.result.gist),
        _ => step.adaptive,
    }
}
