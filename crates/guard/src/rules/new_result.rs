//! A repeated tool call whose result is new is progress: running the tests after each edit, reading the next page of a
//! stream, polling a job that moves.

use model::{Fingerprint, ToolStep};

use super::asked_again::{is_same_turn, turn_of};

/// Whether both calls report the same tool calls with the same results.
pub(crate) fn is_same_tool_step(one: &Fingerprint, other: &Fingerprint) -> bool {
    match (one.tools, other.tools) {
        (Some(one), Some(other)) => one.adaptive == other.adaptive && one.result == other.result,
        _ => false,
    }
}

/// Whether the tool calls that two like responses made, and that led to these steps, gave different results. The same
/// words that ask for the same thing are no repetition then.
pub(crate) fn gave_something_new(one: Option<ToolStep>, other: Option<ToolStep>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one.adaptive == other.adaptive && one.result != other.result)
}

/// The tool steps that the responses of `calls` led to, as the next call of the same turn reports them.
pub(crate) fn steps_after(calls: &[&Fingerprint]) -> Vec<Option<ToolStep>> {
    let mut steps = vec![None; calls.len()];
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_unstable_by_key(|place| (turn_of(calls[*place]), *place));
    for pair in order.windows(2) {
        let (call, next) = (calls[pair[0]], calls[pair[1]]);
        if is_same_turn(call, next) && next.step.depth > call.step.depth {
            steps[pair[0]] = next.tools;
        }
    }
    steps
}
