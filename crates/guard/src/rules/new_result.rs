//! A repeated tool call whose result is new is progress: running the tests after each edit, reading the next page of a
//! stream, polling a job that moves. So is one that was waited for: a poll that finds nothing new after a minute.

use model::{Fingerprint, ToolStep};

use super::asked_again::{is_same_turn, turn_of};

/// How long a conversation must be silent, between an answer and the next request, for the agent to have waited. What an
/// agent does in a loop takes seconds; who waits for a job looks once a minute.
const WAIT_MS: i64 = 60_000;

/// Whether this many milliseconds of silence are a wait.
pub(crate) fn is_wait(silence: i64) -> bool {
    silence >= WAIT_MS
}

/// Whether both calls report the same tool calls with the same results.
pub(crate) fn is_same_tool_step(one: &Fingerprint, other: &Fingerprint) -> bool {
    match (one.tools, other.tools) {
        (Some(one), Some(other)) => one.adaptive == other.adaptive && one.result == other.result,
        _ => false,
    }
}

/// What came of a response: the tool step that the next call of its conversation reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgrowth {
    step: ToolStep,
    waited: bool,
}

/// Whether the tool calls that two like responses made gave different results, or were waited for. The same words that ask
/// for the same thing are no repetition then.
pub(crate) fn gave_something_new(one: Option<Outgrowth>, other: Option<Outgrowth>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return false;
    };
    one.step.result != other.step.result || one.waited || other.waited
}

/// What came of the responses of `calls`.
pub(crate) fn outgrowths(calls: &[&Fingerprint]) -> Vec<Option<Outgrowth>> {
    let mut outgrowths = vec![None; calls.len()];
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_unstable_by_key(|place| (turn_of(calls[*place]), *place));
    for pair in order.windows(2) {
        let (call, next) = (calls[pair[0]], calls[pair[1]]);
        if is_same_turn(call, next) && next.step.depth > call.step.depth {
            outgrowths[pair[0]] = of(next);
        }
    }
    // A command that was written as text is answered with the next user message, which is another turn.
    order.sort_unstable_by_key(|place| (calls[*place].conversation.0, *place));
    for pair in order.windows(2) {
        let (call, next) = (calls[pair[0]], calls[pair[1]]);
        let follows = call.conversation == next.conversation && next.turn.position > call.turn.position;
        if follows && next.tools.is_some_and(|step| step.is_written) {
            outgrowths[pair[0]] = of(next);
        }
    }
    outgrowths
}

fn of(next: &Fingerprint) -> Option<Outgrowth> {
    next.tools.map(|step| Outgrowth { step, waited: next.waited })
}
