//! A repeated tool call whose result is new is progress: running the tests after each edit, reading the next page of a
//! stream, polling a job that moves.

use model::Fingerprint;

/// Whether both calls report the same tool calls with the same results.
pub(crate) fn is_same_tool_step(one: &Fingerprint, other: &Fingerprint) -> bool {
    match (one.tools, other.tools) {
        (Some(one), Some(other)) => one.adaptive == other.adaptive && one.result == other.result,
        _ => false,
    }
}
