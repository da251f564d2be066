//! A repeated tool call whose result is new is progress: running the tests after each edit, reading the next page of a
//! stream, polling a job that moves.

use model::{Fingerprint, ToolStep};

/// Whether both calls report the same tool calls with the same results.
pub(crate) fn is_same_tool_step(one: &Fingerprint, other: &Fingerprint) -> bool {
    match (one.tools, other.tools) {
        (Some(one), Some(other)) => one.adaptive == other.adaptive && one.result == other.result,
        _ => false,
    }
}

/// Whether the tool calls that the responses of `calls[one]` and `calls[other]` made gave different results. The same
/// words that ask for the same thing are no repetition then.
pub(crate) fn gave_something_new(calls: &[&Fingerprint], one: usize, other: usize) -> bool {
    match (step_after(calls, one), step_after(calls, other)) {
        (Some(one), Some(other)) => one.adaptive == other.adaptive && one.result != other.result,
        _ => false,
    }
}

/// The tool step that the response of `calls[place]` led to, as the next call of its turn reports it.
fn step_after(calls: &[&Fingerprint], place: usize) -> Option<ToolStep> {
    let call = calls[place];
    let goes_on = |next: &&&Fingerprint| {
        next.conversation == call.conversation && next.turn == call.turn && next.step.depth > call.step.depth
    };
    calls[place + 1..].iter().find(goes_on)?.tools
}
