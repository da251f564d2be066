//! A repeated tool call whose result is new is progress: running the tests after each edit, reading
//! the next page of a stream, polling a job that moves. So is one that was waited for.

use model::{Novelty, ResultPrint, ToolStep};

use super::asked_again::is_same_turn;
use crate::window::PackedFingerprint;

/// Whether both calls report the same tool calls with the same results.
pub(crate) fn is_same_tool_step(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    let (Some(first), Some(second)) = (one.tools(), other.tools()) else {
        return false;
    };
    first.adaptive == second.adaptive && is_same_result((first.result, one.novelty()), (second.result, other.novelty()))
}

/// Whether two results of the same call are the same. If only numbers differ, they are where the
/// numbers jitter: those that stand still for a while and then move are of a job that goes on.
fn is_same_result(one: (ResultPrint, Novelty), other: (ResultPrint, Novelty)) -> bool {
    let jitters = one.1 == Novelty::Jitter || other.1 == Novelty::Jitter;
    one.0.kept == other.0.kept || one.0.is_same_nothing(other.0) || (jitters && one.0.shape == other.0.shape)
}

/// What came of a response: the tool step that the next call of its conversation reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgrowth {
    step: ToolStep,
    novelty: Novelty,
}

impl Outgrowth {
    fn has_result_of(&self, other: &Outgrowth) -> bool {
        is_same_result((self.step.result, self.novelty), (other.step.result, other.novelty))
    }

    /// Whether the agent got further by it, or waited for it.
    pub(crate) fn is_new(&self) -> bool {
        self.novelty.is_progress() || self.novelty == Novelty::Waited
    }
}

/// Whether the tool calls that two like responses made gave different results, or were waited for:
/// that of the call at `place`, and the one that `newest` came of. The same words that ask for the
/// same thing are no repetition then.
pub(crate) fn gave_something_new(calls: &[&PackedFingerprint], place: usize, newest: Option<Outgrowth>) -> bool {
    let Some(newest) = newest else { return false };
    if newest.is_new() {
        return true;
    }
    let Some(earlier) = outgrowth(calls, place) else { return false };
    !newest.has_result_of(&earlier) || earlier.novelty == Novelty::Waited
}

/// So often the same call must have given the same before the words around it say nothing any more.
const SAME_CALLS: usize = 4;

/// What came of the response of the call at `newest`, if the same call gave the same often enough
/// that its words say nothing.
pub(crate) fn repeated(calls: &[&PackedFingerprint], newest: Option<Outgrowth>) -> Option<Outgrowth> {
    let newest = newest.filter(|newest| matches!(newest.novelty, Novelty::Stale | Novelty::Jitter))?;
    let is_same = |call: &&&PackedFingerprint| {
        let step = call.tools().filter(|step| step.adaptive == newest.step.adaptive);
        step.is_some_and(|step| newest.has_result_of(&Outgrowth { step, novelty: call.novelty() }))
    };
    (calls.iter().filter(is_same).count() > SAME_CALLS).then_some(newest)
}

/// Whether the response of the call at `place` made the call that came to `newest`, which is
/// [repeated]: agents say in ever other words what they do again.
pub(crate) fn made_same_call(calls: &[&PackedFingerprint], place: usize, newest: Option<Outgrowth>) -> bool {
    let Some(newest) = newest else { return false };
    let is_same = |earlier: Outgrowth| newest.step.adaptive == earlier.step.adaptive && newest.has_result_of(&earlier);
    outgrowth(calls, place).is_some_and(|earlier| earlier.novelty != Novelty::Waited && is_same(earlier))
}

/// What came of the response of the call at `place`.
// Not inlined: it is seldom asked, and would take the registers of what is asked of every call.
#[inline(never)]
pub(crate) fn outgrowth(calls: &[&PackedFingerprint], place: usize) -> Option<Outgrowth> {
    let (call, later) = (calls[place], &calls[place + 1..]);
    let next = later.iter().find(|other| other.conversation() == call.conversation())?;
    // A command that was written as text is answered with the next user message, which is another
    // turn.
    let is_written = next.tools().is_some_and(|step| step.is_written);
    if is_written && next.turn().position > call.turn().position {
        return of(next);
    }
    let next = later.iter().find(|other| is_same_turn(other, call))?;
    // A prompt that is rebuilt at every step may show the last action only: then its depth does not
    // grow.
    let is_later = next.step().depth > call.step().depth || (is_written && next.step() != call.step());
    if is_later { of(next) } else { None }
}

fn of(next: &PackedFingerprint) -> Option<Outgrowth> {
    next.tools().map(|step| Outgrowth { step, novelty: next.novelty() })
}
