//! The same error again is no progress, whatever was tried: agents reword a query, change a flag or
//! take another tool, and get the same error. The same holds for looks that find nothing, or always
//! the same. Different errors are progress.

use model::Novelty;

use crate::progress::{are_parts_of_one, gave_alike, is_reworded, is_same_finding, is_same_part};
use crate::window::PackedFingerprint;

/// Whether both calls report the same error, in one conversation.
pub(crate) fn is_same_error(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    let (Some(first), Some(second)) = (one.tools(), other.tools()) else {
        return false;
    };
    let is_error = first.is_error && second.is_error;
    let is_same = first.result.gist == second.result.gist || first.result.shape == second.result.shape;
    is_error && is_same && one.conversation() == other.conversation()
}

/// Whether `current` looked in other words and found what `call` had found, or nothing either.
pub(crate) fn is_same_nothing(call: &PackedFingerprint, current: &PackedFingerprint) -> bool {
    let (Some(first), Some(second)) = (call.tools(), current.tools()) else {
        return false;
    };
    // Both were found to be rewordings of others: they need not share words with each other.
    let are_reworded = || call.novelty() == Novelty::Barren && gave_alike(&first, &second);
    // The same holds for parts of one thing, if each was seen in others.
    let are_parts =
        || is_same_part(&first, &second) || (call.novelty() == Novelty::Barren && are_parts_of_one(&first, &second));
    let is_same = || is_reworded(&first, &second) || are_reworded() || are_parts();
    // A neutral call is the answer to another question.
    current.novelty() == Novelty::Barren
        && call.novelty() != Novelty::Neutral
        && (is_same_finding(&first, &second) || is_same())
        && call.conversation() == current.conversation()
}
