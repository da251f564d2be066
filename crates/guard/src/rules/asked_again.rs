//! A prompt counts once each time it is asked, not once per step of work on it: an agent that works through fifty tool
//! steps sends the same last user message fifty times.

use crate::entry::Entry;

/// Whether the call at `place`, whose prompt is similar, asked for what `current` asks again.
pub(crate) fn is_asked_again(calls: &[&Entry], place: usize, current: &Entry) -> bool {
    if is_same_turn(calls[place], current) {
        // The conversation has moved on unless nothing at all was added. One that was started over is at its old step.
        return calls[place].step() == current.step();
    }
    is_ask(calls, place)
}

/// Whether the call at `place` asked for something (the first of a turn, and what was sent again) rather than worked on it.
fn is_ask(calls: &[&Entry], place: usize) -> bool {
    let call = calls[place];
    let mut before = calls[..place].iter().filter(|earlier| is_same_turn(earlier, call)).peekable();
    before.peek().is_none() || before.any(|earlier| earlier.step() == call.step())
}

/// Whether nothing happened in the conversation between the two calls.
pub(crate) fn is_resent(call: &Entry, current: &Entry) -> bool {
    is_same_turn(call, current) && call.step() == current.step()
}

pub(crate) fn is_same_turn(one: &Entry, other: &Entry) -> bool {
    one.conversation() == other.conversation() && one.turn() == other.turn()
}
