//! The same look in other words: a search with a new wording and an old result is no progress, in
//! any language. Words of the call that the result repeats do not count.

use model::{Novelty, StepKind, ToolStep, WordSet};

use crate::window::PackedFingerprint;

/// Whether a look was made in other words and gave the same result, apart from those words and
/// single numbers such as a rank or a score.
pub(crate) fn is_reworded(one: &ToolStep, other: &ToolStep) -> bool {
    one.kind == other.kind && one.wording.is_reworded(other.wording) && gave_alike(one, other)
}

/// Whether `step` is another look in other words with the result of earlier ones. A short result
/// must have come twice: two things may be in the same state.
pub(super) fn rewords<'e>(
    earlier: impl DoubleEndedIterator<Item = (&'e PackedFingerprint, ToolStep)> + Clone,
    step: &ToolStep,
) -> bool {
    if step.kind != StepKind::Look || step.wording == WordSet::default() {
        return false;
    }
    // A known rewording need not share words with this step.
    let is_rewording = |call: &PackedFingerprint, other: &ToolStep| {
        is_reworded(other, step) || (call.novelty() == Novelty::Barren && gave_alike(other, step))
    };
    let others = earlier.clone().filter(|(_, other)| other.adaptive != step.adaptive);
    let enough = if step.result.is_short { 2 } else { 1 };
    others.filter(|(call, other)| is_rewording(call, other)).take(enough).count() == enough
        && !is_next_item(earlier.map(|(_, other)| other), step)
}

/// With how many of the last looks a template is compared.
const TEMPLATE: usize = 3;
/// At most so many words name an item.
const ITEM_WORDS: u32 = 2;

/// Whether `step` puts another word into the words that the last looks like it have in common, and
/// got other numbers: the price of one product after the other.
fn is_next_item(earlier: impl DoubleEndedIterator<Item = ToolStep>, step: &ToolStep) -> bool {
    let (mut template, mut count) = (None, 0);
    let is_filled_in = |own: u32| own.count_ones() <= ITEM_WORDS;
    // Sets are small: another item may look like the same one.
    let others = earlier.rev().filter(|other| other.wording != step.wording && is_reworded(other, step));
    let are_items = others.take(TEMPLATE).all(|other| {
        count += 1;
        let common = step.wording.0 & other.wording.0;
        let are_filled_in = is_filled_in(step.wording.0 ^ common) && is_filled_in(other.wording.0 ^ common);
        are_filled_in && *template.get_or_insert(common) == common && other.result.numbers != step.result.numbers
    });
    are_items && count > 1
}

/// Whether two looks that have a wording gave the same result, apart from those words.
pub(crate) fn gave_alike(one: &ToolStep, other: &ToolStep) -> bool {
    let has_words = |step: &ToolStep| step.wording != WordSet::default() && !step.is_error && !step.result.is_empty;
    let is_same_text = one.result.shape == other.result.shape && !one.result.is_short;
    has_words(one)
        && has_words(other)
        && (is_same_text || WordSet(one.result.gist).is_alike(WordSet(other.result.gist)))
}
