//! Very short texts are weak evidence: “continue” and “done” also occur in conversations that go
//! well.

use super::same_words::are_same_words;
use crate::rules::asks::asked_again::is_resent;
use crate::rules::steps::new_result::is_same_tool_step;
use model::Outcome;

use crate::window::PackedFingerprint;

/// Whether a similar prompt of `call` counts. A short one counts only if nothing moved on: the call
/// was sent again, the conversation was started over with these words, or the answer was similar to
/// the `newest` one.
pub(crate) fn prompt_has_weight(
    call: &PackedFingerprint,
    newest: Option<&PackedFingerprint>,
    current: &PackedFingerprint,
) -> bool {
    if !current.prompt_is_short() || current.turn().position == 0 || is_resent(call, current) {
        return true;
    }
    // It was asked again because it failed or had no answer: nothing moved on either.
    if call.outcome() == Outcome::Failed || (call.outcome() == Outcome::Answered && call.response().is_none()) {
        return true;
    }
    let answers = (call.response(), newest.and_then(|newest| newest.response()));
    matches!(answers, (Some(one), Some(other)) if one.adaptive.is_similar(other.adaptive))
}

/// Whether a response of `call` that is similar to the `newest` one counts. A short one counts only
/// if the question was the same, too: “positive” is the answer to many texts. A greeting that
/// another question follows begins a separate conversation.
pub(crate) fn response_has_weight(
    call: &PackedFingerprint,
    newest: &PackedFingerprint,
    current: &PackedFingerprint,
) -> bool {
    if is_greeting(newest, current) {
        return false;
    }
    let is_short = newest.response().is_some_and(|response| response.is_short);
    !is_short || are_same_words(call, newest) || is_same_tool_step(call, newest)
}

/// Whether `newest` began a conversation that `current` continues in other words.
fn is_greeting(newest: &PackedFingerprint, current: &PackedFingerprint) -> bool {
    let is_first = newest.turn().position == 0 && newest.prompt_is_short();
    is_first && current.turn().position > 0 && !are_same_words(newest, current)
}
