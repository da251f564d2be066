//! A repeated tool call whose result is new is progress: running the tests after each edit, reading
//! the next page of a stream, polling a job that moves. So is a result that was waited for.

use model::{Novelty, ResultPrint, ToolStep};

use super::error_streak::{is_same_error, is_same_nothing};
use crate::rules::asks::asked_again::is_same_turn;
use crate::rules::words::same_words::is_comparable;
use crate::window::PackedFingerprint;

/// Whether both calls report the same tool calls with the same results.
pub(crate) fn is_same_tool_step(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    let (Some(first), Some(second)) = (one.tools(), other.tools()) else {
        return false;
    };
    first.adaptive == second.adaptive && is_same_result((first.result, one.novelty()), (second.result, other.novelty()))
}

/// Whether two results of the same call are the same. If only numbers differ, the results are the
/// same only where the numbers jitter: numbers that stand still for a while and then move belong to
/// a job that advances.
fn is_same_result(one: (ResultPrint, Novelty), other: (ResultPrint, Novelty)) -> bool {
    let jitters = one.1 == Novelty::Jitter || other.1 == Novelty::Jitter;
    one.0.kept == other.0.kept || one.0.is_same_nothing(other.0) || (jitters && one.0.shape == other.0.shape)
}

/// Whether both calls report the same outcome: the same tool calls with the same results, the same
/// error, or nothing found.
pub(crate) fn is_same_outcome(call: &PackedFingerprint, current: &PackedFingerprint) -> bool {
    (is_same_tool_step(call, current) && is_comparable(call, current))
        || is_same_error(call, current)
        || is_same_nothing(call, current)
}

/// The outcome of a response: the tool step that the next call of its conversation reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportedStep<'w> {
    reported: &'w PackedFingerprint,
    step: ToolStep,
}

impl<'w> ReportedStep<'w> {
    fn of(reported: &'w PackedFingerprint) -> Option<ReportedStep<'w>> {
        reported.tools().map(|step| ReportedStep { reported, step })
    }

    pub(crate) fn step(&self) -> ToolStep {
        self.step
    }

    fn novelty(&self) -> Novelty {
        self.reported.novelty()
    }

    fn has_result_of(&self, other: &ReportedStep<'_>) -> bool {
        is_same_result((self.step.result, self.novelty()), (other.step.result, other.novelty()))
    }

    /// Whether it was progress, or the agent waited for it.
    pub(crate) fn is_new(&self) -> bool {
        self.novelty().is_progress() || self.novelty() == Novelty::Waited
    }
}

/// Whether the tool calls of two similar responses gave different results, or were waited for:
/// those of the response at `place`, and those whose outcome is `newest`. Then the same words are
/// not a repetition.
pub(crate) fn gave_something_new(calls: &[&PackedFingerprint], place: usize, newest: Option<ReportedStep<'_>>) -> bool {
    let Some(newest) = newest else { return false };
    if newest.is_new() {
        return true;
    }
    let Some(earlier) = reported_step(calls, place) else { return false };
    !newest.has_result_of(&earlier) || earlier.novelty() == Novelty::Waited
}

/// After so many times that the same call gave the same, or so many equal outcomes of any calls in
/// a row, the words around them no longer count. Fewer are ordinary tries.
const SAME_CALLS: usize = 5;
const SAME_OUTCOMES: usize = 6;

/// The `newest` outcome, if it was repeated so often that the words of its response do not count.
pub(crate) fn repeated<'w>(
    calls: &[&'w PackedFingerprint],
    newest: Option<ReportedStep<'w>>,
) -> Option<ReportedStep<'w>> {
    let newest = newest.filter(|newest| newest.novelty().is_repetition())?;
    let is_same = |call: &&&PackedFingerprint| is_same_outcome(call, newest.reported);
    let is_same_call = |call: &&&PackedFingerprint| call.tool_signature() == newest.reported.tool_signature();
    let is_own = |call: &&&PackedFingerprint| call.conversation() == newest.reported.conversation();
    let in_a_row = || calls.iter().rev().filter(is_own).take_while(|call| !call.novelty().is_progress());
    let repeats = calls.iter().filter(is_same_call).filter(is_same).count() >= SAME_CALLS
        || in_a_row().filter(is_same).count() >= SAME_OUTCOMES;
    repeats.then_some(newest)
}

/// Whether the response of the call at `place` had the same outcome as `newest`, which is
/// [repeated]: agents announce in ever different words what they do again. Different calls with the
/// same outcome are not a repetition if something new was seen since.
pub(crate) fn came_to_same(calls: &[&PackedFingerprint], place: usize, newest: Option<ReportedStep<'_>>) -> bool {
    let (Some(newest), Some(earlier)) = (newest, reported_step(calls, place).filter(|_| newest.is_some())) else {
        return false;
    };
    let is_same_call = earlier.step.adaptive == newest.step.adaptive;
    let is_own = |call: &&&PackedFingerprint| call.conversation() == newest.reported.conversation();
    let has_progress = || calls[place + 1..].iter().filter(is_own).any(|call| call.novelty().is_progress());
    earlier.novelty() != Novelty::Waited
        && is_same_outcome(earlier.reported, newest.reported)
        && (is_same_call || !has_progress())
}

/// The outcome of the response of the call at `place`.
// Not inlined: it is seldom called, and would take registers from what runs for every call.
#[inline(never)]
pub(crate) fn reported_step<'w>(calls: &[&'w PackedFingerprint], place: usize) -> Option<ReportedStep<'w>> {
    let (call, later) = (calls[place], &calls[place + 1..]);
    let next = later.iter().find(|other| other.conversation() == call.conversation())?;
    // A command that was written as text is answered with the next user message, which is another
    // turn.
    let is_written = next.tools().is_some_and(|step| step.is_written);
    if is_written && next.turn().position > call.turn().position {
        return ReportedStep::of(next);
    }
    let next = later.iter().find(|other| is_same_turn(other, call))?;
    // A prompt that is rebuilt at every step may show only the last action: then its depth does not
    // grow.
    let is_later = next.step().depth > call.step().depth || (is_written && next.step() != call.step());
    if is_later { ReportedStep::of(next) } else { None }
}
