//! A prompt counts once each time it is asked, not once per step of work on it: an agent that works
//! through fifty tool steps sends the same last user message fifty times.

use crate::window::PackedFingerprint;

/// Whether `current` is another step of work on what `call` is about.
pub(crate) fn has_moved_on(call: &PackedFingerprint, current: &PackedFingerprint) -> bool {
    // Not if nothing at all was added. A conversation that was started over is at its old step.
    is_same_turn(call, current) && call.step() != current.step()
}

/// Whether the call at `place`, whose prompt is similar and which has not moved on, asked for what
/// `current` asks again.
pub(crate) fn is_asked_again(calls: &[&PackedFingerprint], place: usize, current: &PackedFingerprint) -> bool {
    is_same_turn(calls[place], current) || is_ask(calls, place)
}

/// Whether the call at `place` asked for something (the first of a turn, and what was sent again)
/// rather than worked on it.
// Not inlined: it is seldom called, and would take registers from what runs for every call.
#[inline(never)]
fn is_ask(calls: &[&PackedFingerprint], place: usize) -> bool {
    let call = calls[place];
    let mut before = calls[..place].iter().filter(|earlier| is_same_turn(earlier, call)).peekable();
    before.peek().is_none() || before.any(|earlier| earlier.step() == call.step())
}

/// Whether nothing happened in the conversation between the two calls.
pub(crate) fn is_resent(call: &PackedFingerprint, current: &PackedFingerprint) -> bool {
    is_same_turn(call, current) && call.step() == current.step()
}

pub(crate) fn is_same_turn(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    one.conversation() == other.conversation() && one.turn() == other.turn()
}
