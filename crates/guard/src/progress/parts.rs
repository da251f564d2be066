//! Parts of one thing: an agent reads a file again and again with other line numbers, and sees the
//! same lines.

use model::{StepKind, ToolStep, WordSet};

use crate::fingerprint::have_most_in_common;

/// Whether two looks at parts of one thing showed mostly the same lines.
pub(crate) fn is_same_part(one: &ToolStep, other: &ToolStep) -> bool {
    are_parts_of_one(one, other) && have_most_in_common(one.result.gist, other.result.gist)
}

/// Whether two looks differ in numbers only, and showed lines.
pub(crate) fn are_parts_of_one(one: &ToolStep, other: &ToolStep) -> bool {
    let has_lines = |step: &ToolStep| {
        let is_plain = step.kind == StepKind::Look && step.wording == WordSet::default();
        is_plain && !step.is_error && !step.result.is_empty && step.result.gist != step.result.shape
    };
    one.literal == other.literal && one.adaptive != other.adaptive && has_lines(one) && has_lines(other)
}
