//! The same look in other words: a search that is worded anew and gives what it gave before is no
//! progress, in any language. What the words of the call contributed to the result says nothing.

use model::{Novelty, StepKind, ToolStep, WordSet};

use crate::window::PackedFingerprint;

/// Whether another look was made in other words and gave the same, but for what those words were
/// and for a number here and there: a rank, a score.
pub(crate) fn is_reworded(one: &ToolStep, other: &ToolStep) -> bool {
    one.kind == other.kind && one.wording.is_reworded(other.wording) && gave_alike(one, other)
}

/// Whether `step` is one more look in other words that gives what several of `earlier` gave. Of a
/// short result there must be two: two things may well be in the same state.
pub(super) fn rewords<'e>(earlier: impl Iterator<Item = (&'e PackedFingerprint, ToolStep)>, step: &ToolStep) -> bool {
    if step.kind != StepKind::Look || step.wording == WordSet::default() {
        return false;
    }
    // What is known to be a rewording need not share words with this one.
    let is_rewording = |call: &PackedFingerprint, other: &ToolStep| {
        is_reworded(other, step) || (call.novelty() == Novelty::Barren && gave_alike(other, step))
    };
    let others = earlier.filter(|(_, other)| other.adaptive != step.adaptive);
    let enough = if step.result.is_short { 2 } else { 1 };
    others.filter(|(call, other)| is_rewording(call, other)).take(enough).count() == enough
}

/// Whether two looks that are made with words gave the same, but for those words.
pub(crate) fn gave_alike(one: &ToolStep, other: &ToolStep) -> bool {
    let has_words = |step: &ToolStep| step.wording != WordSet::default() && !step.is_error && !step.result.is_empty;
    let is_same_text = one.result.shape == other.result.shape && !one.result.is_short;
    has_words(one)
        && has_words(other)
        && (is_same_text || WordSet(one.result.gist).is_alike(WordSet(other.result.gist)))
}
