//! The same change with another number after the same failure: a timeout is raised once more,
//! another process is killed. Such a change is not progress.

use model::{Novelty, ToolStep};

use crate::window::PackedFingerprint;

/// Whether `step` repeats a change of `earlier` except for a number in its text, and the same step
/// failed again since that change.
pub(super) fn is_tuned<'e>(
    earlier: impl DoubleEndedIterator<Item = (&'e PackedFingerprint, ToolStep)>,
    step: &ToolStep,
) -> bool {
    let mut has_failed = false;
    for (call, other) in earlier.rev() {
        if is_same_but_for_number(&other, step) {
            return has_failed;
        }
        has_failed |= other.is_error && call.novelty() == Novelty::Stale;
    }
    false
}

/// Whether two changes that worked have the same words, and the same targets or no output.
fn is_same_but_for_number(one: &ToolStep, other: &ToolStep) -> bool {
    let is_silent = |step: &ToolStep| step.result.is_empty;
    let aims_at_same = one.result.gist == other.result.gist && one.result.gist != one.result.shape
        || is_silent(one) && is_silent(other);
    !one.is_error && one.kind == other.kind && one.literal == other.literal && aims_at_same
}
