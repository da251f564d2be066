//! A template filled in with other words is another question: batches classify and extract with a
//! long instruction and a short item, and on long texts a few words do not move a SimHash.

use crate::window::PackedFingerprint;

/// Whether both prompts have the same words, apart from numbers, times and ids.
pub(crate) fn are_same_words(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    one.prompt().is_some() && other.prompt().is_some() && one.turn().message == other.turn().message
}

/// Whether both calls begin separate sessions with words that any user may say, such as a greeting
/// or a button. Those are different users. A conversation that is started over under its own name,
/// or with a task of many words, is the agent's own doing.
pub(crate) fn are_other_users(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    one.conversation() != other.conversation() && other.prompt_is_common()
}

/// Whether a similar prompt asks the same: in the same words, or inside one conversation with the
/// same long answer.
pub(crate) fn is_same_question(
    call: &PackedFingerprint,
    newest: Option<&PackedFingerprint>,
    current: &PackedFingerprint,
) -> bool {
    if are_same_words(call, current) {
        return !are_other_users(call, current);
    }
    let (Some(one), Some(other)) = (call.response(), newest.and_then(|newest| newest.response())) else {
        return false;
    };
    call.conversation() == current.conversation() && !one.is_short && one.adaptive.is_similar(other.adaptive)
}

/// Whether similar responses or tool steps of both calls can be a repetition: conversations with
/// different questions may get similar answers, and sub-agents begin with the same looks.
pub(crate) fn is_comparable(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    one.conversation() == other.conversation() || (are_same_words(one, other) && !are_other_users(one, other))
}
