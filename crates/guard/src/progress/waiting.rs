//! Waiting is neither progress nor a repetition: silence before the same call, wherever it was
//! spent, and a wait between looks at something that changes. A failure is not waited out for ever.

use model::{StepKind, ToolStep};

use super::{Moment, says_nothing};
use crate::window::PackedFingerprint;

/// How long an agent must have been silent between two looks for them to be polls: an agent in a
/// loop looks again at once.
pub(super) const POLL_SILENCE_S: u16 = 20;
/// The same for two reads of a terminal whose program runs without output.
const TERMINAL_SILENCE_S: u16 = 5;
/// The same for running or doing something again: tests and builds take a while by themselves.
const RUN_SILENCE_S: u16 = 60;
/// A conversation that is started over after such a rest runs on a schedule.
const REST_S: u16 = 4 * 60;
/// An agent that polls may look again after a part of the pause, if it pauses as long on average
/// of so many looks.
const PACE: u16 = 2;
const PACED_LOOKS: usize = 4;

/// Whether the agent waited before it made the same call again: silence counts in this call and in
/// those since the last one like it (`sleep 60`, then a look). It does not count before the same
/// look of a turn that was started over.
pub(super) fn is_poll<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
    moment: Moment,
) -> bool {
    let enough = match step.kind {
        // A failed call is retried after a shorter wait: a mirror or a network comes back.
        _ if step.is_error => POLL_SILENCE_S,
        StepKind::Wait if says_nothing(step) => TERMINAL_SILENCE_S,
        StepKind::Look | StepKind::Wait | StepKind::Other => POLL_SILENCE_S,
        _ => RUN_SILENCE_S,
    };
    let Some((call, silence)) = since_same(earlier.clone(), step, moment.silence) else { return false };
    let starts_over = || {
        let is_back = call.turn() == moment.turn && call.step().depth >= moment.depth;
        is_back && !step.is_written && !step.is_error && silence < REST_S
    };
    let is_paused = silence >= enough || silence >= enough / PACE && keeps_pace(earlier.clone(), step, silence, enough);
    is_paused && !starts_over() && !(step.is_error && is_given_up(earlier, step))
}

/// Whether an agent that looks again after `silence` paused for `enough` seconds on average before
/// the last looks.
fn keeps_pace<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint>,
    step: &ToolStep,
    silence: u16,
    enough: u16,
) -> bool {
    let same = earlier.rev().filter(|call| call.tool_signature() == Some(step.adaptive)).take(PACED_LOOKS);
    let (mut looks, mut paused) = (1, u32::from(silence));
    for call in same {
        // A single long pause is no pace.
        paused += u32::from(call.silence().min(PACE * enough));
        looks += 1;
    }
    looks > 2 && paused >= looks * u32::from(enough)
}

/// The last call with the same step, and the longest silence since.
pub(super) fn since_same<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint>,
    step: &ToolStep,
    silence: u16,
) -> Option<(&'e PackedFingerprint, u16)> {
    let mut longest = silence;
    for call in earlier.rev() {
        if call.tool_signature() == Some(step.adaptive) {
            return Some((call, longest));
        }
        longest = longest.max(call.silence());
    }
    None
}

/// How often a failure may be retried after a wait, and how often at regular intervals.
const FREE_TRIES: usize = 5;
const FREE_REGULAR_TRIES: usize = 16;

/// Whether the same call failed in the same way so often since the last progress that waiting no
/// longer excuses it.
fn is_given_up<'e>(earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint>, step: &ToolStep) -> bool {
    let is_same =
        |other: ToolStep| other.is_error && other.adaptive == step.adaptive && other.result.shape == step.result.shape;
    let (mut tries, mut later, mut least, mut most) = (0, None, i64::MAX, 0);
    let since_progress = earlier.rev().take_while(|call| !call.novelty().is_progress());
    for call in since_progress.filter(|call| call.tools().is_some_and(is_same)) {
        let time = call.time().as_millis();
        if let Some(gap) = later.replace(time).map(|later: i64| later.saturating_sub(time)) {
            (least, most) = (least.min(gap), most.max(gap));
        }
        tries += 1;
    }
    let is_regular = most - least.min(most) <= most / 3;
    tries >= if is_regular { FREE_REGULAR_TRIES } else { FREE_TRIES }
}

/// Whether something new was seen since the same wait: an agent that waits between looks at
/// something that changes is not stuck. The same holds for notes, which agents read again by
/// design.
pub(super) fn is_wait_between<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
) -> bool {
    if !matches!(step.kind, StepKind::Wait | StepKind::Plan) {
        return false;
    }
    let is_same_call = |other: ToolStep| other.adaptive == step.adaptive;
    let has_same_call = earlier.clone().any(|call| call.tools().is_some_and(is_same_call));
    let is_same = |other: ToolStep| if has_same_call { is_same_call(other) } else { other.kind == step.kind };
    let mut has_progress = false;
    for call in earlier.rev() {
        if call.tools().is_some_and(is_same) {
            return has_progress;
        }
        has_progress |= call.novelty().is_progress();
    }
    false
}
