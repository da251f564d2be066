//! A repeated tool call whose result is new is progress: running the tests after each edit, reading the next page of a
//! stream, polling a job that moves. So is one that was waited for.

use model::Novelty;

use super::asked_again::is_same_turn;
use crate::entry::Entry;

/// Whether both calls report the same tool calls with the same results, numbers aside: whether those of a repeated call
/// move was asked when it came.
pub(crate) fn is_same_tool_step(one: &Entry, other: &Entry) -> bool {
    match (one.tools(), other.tools()) {
        (Some(one), Some(other)) => one.adaptive == other.adaptive && one.result.shape == other.result.shape,
        _ => false,
    }
}

/// What came of a response: the tool step that the next call of its conversation reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgrowth {
    shape: u32,
    novelty: Novelty,
}

impl Outgrowth {
    /// Whether the agent got further by it, or waited for it.
    pub(crate) fn is_new(&self) -> bool {
        self.novelty.is_progress() || self.novelty == Novelty::Waited
    }
}

/// Whether the tool calls that two like responses made gave different results, or were waited for: that of the call at
/// `place`, and the one that `newest` came of. The same words that ask for the same thing are no repetition then.
pub(crate) fn gave_something_new(calls: &[&Entry], place: usize, newest: Option<Outgrowth>) -> bool {
    let Some(newest) = newest else { return false };
    if newest.is_new() {
        return true;
    }
    let Some(earlier) = outgrowth(calls, place) else { return false };
    earlier.shape != newest.shape || earlier.novelty == Novelty::Waited
}

/// What came of the response of the call at `place`.
// Not inlined: it is seldom asked, and would take the registers of what is asked of every call.
#[inline(never)]
pub(crate) fn outgrowth(calls: &[&Entry], place: usize) -> Option<Outgrowth> {
    let (call, later) = (calls[place], &calls[place + 1..]);
    let next = later.iter().find(|other| other.conversation() == call.conversation())?;
    // A command that was written as text is answered with the next user message, which is another turn.
    let is_written = next.tools().is_some_and(|step| step.is_written);
    if is_written && next.turn().position > call.turn().position {
        return of(next);
    }
    let next = later.iter().find(|other| is_same_turn(other, call))?;
    // A prompt that is rebuilt at every step may show the last action only: then its depth does not grow.
    let is_later = next.step().depth > call.step().depth || (is_written && next.step() != call.step());
    if is_later { of(next) } else { None }
}

fn of(next: &Entry) -> Option<Outgrowth> {
    next.tools().map(|step| Outgrowth { shape: step.result.shape, novelty: next.novelty() })
}
