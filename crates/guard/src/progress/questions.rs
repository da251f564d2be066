//! Different questions without a result. That something does not exist is an answer, too, for a few
//! questions in a row. The same question in other words, or about another page, is not a new one.

use model::ToolStep;

use super::is_same_finding;
use crate::window::PackedFingerprint;

/// How many questions in a row may have no result after the first one.
const FREE_QUESTIONS: usize = 4;

/// Whether `step` asks something that none of `earlier` asked, and only a few questions in a row
/// had no result.
pub(super) fn is_new_question<'e>(
    earlier: impl DoubleEndedIterator<Item = (&'e PackedFingerprint, ToolStep)>,
    step: &ToolStep,
) -> bool {
    if !step.result.is_empty {
        return false;
    }
    let mut in_vain = 0;
    for (call, other) in earlier.rev() {
        let is_in_vain = is_same_finding(&other, step);
        if is_in_vain && is_same_question(&other, step) {
            return false;
        }
        in_vain += usize::from(is_in_vain);
        if call.novelty().is_progress() {
            break;
        }
    }
    in_vain <= FREE_QUESTIONS
}

/// Whether two looks ask the same: mostly in the same words, or except for numbers.
fn is_same_question(one: &ToolStep, other: &ToolStep) -> bool {
    one.literal == other.literal || one.wording.is_reworded(other.wording)
}
