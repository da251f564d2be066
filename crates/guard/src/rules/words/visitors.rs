//! Visitors who begin with the same words (a greeting, a button) share a conversation if the client
//! names no session. What they say next differs; an agent that starts over is answered alike.

use super::same_words::are_same_words;
use crate::window::PackedFingerprint;

/// How often the conversation must have begun.
const STARTS: usize = 3;

/// Whether both calls belong to visitors, who may all say and hear the same.
pub(crate) fn are_visitors(calls: &[&PackedFingerprint], one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    let are_one_talk = one.conversation() == other.conversation() && is_talk(one) && is_talk(other);
    are_one_talk && other.prompt_is_short() && has_visitors(calls, other)
}

fn is_talk(call: &PackedFingerprint) -> bool {
    call.tools().is_none()
}

/// Whether the conversation of `call` is that of several visitors.
pub(crate) fn has_visitors(calls: &[&PackedFingerprint], call: &PackedFingerprint) -> bool {
    let own = || calls.iter().filter(|other| other.conversation() == call.conversation() && is_talk(other));
    let starts = own().filter(|call| call.turn().position == 0 && call.step().depth == 0).count();
    if starts < STARTS {
        return false;
    }
    let replies: Vec<&PackedFingerprint> = own().copied().filter(|call| call.turn().position > 0).collect();
    let is_other = |place: &usize| {
        let at_same_point = |other: &&&PackedFingerprint| other.turn().position == replies[*place].turn().position;
        let mut earlier = replies[..*place].iter().filter(at_same_point).peekable();
        earlier.peek().is_some() && !earlier.any(|other| is_same_reply(other, replies[*place]))
    };
    (0..replies.len()).any(|place| is_other(&place))
}

/// Whether two replies have the same words; other numbers and ids make another reply if the answer
/// is another one, too.
fn is_same_reply(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    let is_same_answer = || match (one.response(), other.response()) {
        (Some(one), Some(other)) => one.adaptive.is_similar(other.adaptive),
        _ => true,
    };
    are_same_words(one, other) && (one.step().newest == other.step().newest || is_same_answer())
}
