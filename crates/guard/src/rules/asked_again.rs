//! A prompt counts once each time it is asked, not once per step of work on it: an agent that works through fifty tool
//! steps sends the same last user message fifty times.

use model::Fingerprint;

/// Whether `earlier[place]`, whose prompt is similar, asked for what `current` asks again.
pub(crate) fn is_asked_again(earlier: &[&Fingerprint], place: usize, current: &Fingerprint) -> bool {
    let call = earlier[place];
    if is_same_turn(call, current) {
        // The conversation has moved on unless nothing at all was added. One that was started over is at its old step.
        return call.step == current.step;
    }
    is_ask(&earlier[..place], call)
}

/// Whether nothing happened in the conversation between the two calls.
pub(crate) fn is_resent(call: &Fingerprint, current: &Fingerprint) -> bool {
    is_same_turn(call, current) && call.step == current.step
}

fn is_same_turn(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.conversation == other.conversation && one.turn == other.turn
}

/// Whether `call` asked for something (it is the first of its turn, or sent again), rather than worked on it.
fn is_ask(before: &[&Fingerprint], call: &Fingerprint) -> bool {
    let mut same_turn = before.iter().filter(|other| is_same_turn(other, call)).peekable();
    same_turn.peek().is_none() || same_turn.any(|other| other.step == call.step)
}
