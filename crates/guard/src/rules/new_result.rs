//! A repeated tool call whose result is new is progress: running the tests after each edit, reading the next page of a
//! stream, polling a job that moves. So is one that was waited for: a poll that finds nothing new after a minute.

use super::asked_again::is_same_turn;
use crate::entry::Entry;

/// How long a conversation must be silent, between an answer and the next request, for the agent to have waited. What an
/// agent does in a loop takes seconds; who waits for a job looks once a minute.
const WAIT_MS: i64 = 60_000;

/// Whether this many milliseconds of silence are a wait.
pub(crate) fn is_wait(silence: i64) -> bool {
    silence >= WAIT_MS
}

/// Whether both calls report the same tool calls with the same results.
pub(crate) fn is_same_tool_step(one: &Entry, other: &Entry) -> bool {
    match (one.tools(), other.tools()) {
        (Some(one), Some(other)) => one.adaptive == other.adaptive && one.result == other.result,
        _ => false,
    }
}

/// What came of a response: the tool step that the next call of its conversation reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgrowth {
    result: u64,
    waited: bool,
}

/// Whether the tool calls that two like responses made gave different results, or were waited for: that of the call at
/// `place`, and the one that `newest` came of. The same words that ask for the same thing are no repetition then.
pub(crate) fn gave_something_new(calls: &[&Entry], place: usize, newest: Option<Outgrowth>) -> bool {
    let Some(newest) = newest else { return false };
    let Some(earlier) = outgrowth(calls, place) else { return false };
    earlier.result != newest.result || earlier.waited || newest.waited
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
    next.tools().map(|step| Outgrowth { result: step.result, waited: next.waited() })
}
