//! A prompt counts once each time it is asked, not once per step of work on it: an agent that works through fifty tool
//! steps sends the same last user message fifty times.

use model::Fingerprint;

/// Whether `call`, whose prompt is similar, asked for what `current` asks again. `is_ask` tells whether it asked at all.
pub(crate) fn is_asked_again(call: &Fingerprint, current: &Fingerprint, is_ask: impl FnOnce() -> bool) -> bool {
    if is_same_turn(call, current) {
        // The conversation has moved on unless nothing at all was added. One that was started over is at its old step.
        return call.step == current.step;
    }
    is_ask()
}

/// Which of `calls` asked for something (the first of a turn, and what was sent again) rather than worked on it.
pub(crate) fn asks(calls: &[&Fingerprint]) -> Vec<bool> {
    let mut asks = vec![false; calls.len()];
    let step = |place: usize| (calls[place].step.depth, calls[place].step.newest);
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_unstable_by_key(|place| (turn_of(calls[*place]), step(*place), *place));
    for turn in order.chunk_by(|one, other| is_same_turn(calls[*one], calls[*other])) {
        let sent_again = turn.windows(2).filter(|pair| step(pair[0]) == step(pair[1])).map(|pair| pair[1]);
        turn.iter().copied().min().into_iter().chain(sent_again).for_each(|place| asks[place] = true);
    }
    asks
}

/// Whether nothing happened in the conversation between the two calls.
pub(crate) fn is_resent(call: &Fingerprint, current: &Fingerprint) -> bool {
    is_same_turn(call, current) && call.step == current.step
}

pub(crate) fn is_same_turn(one: &Fingerprint, other: &Fingerprint) -> bool {
    turn_of(one) == turn_of(other)
}

/// What tells turns apart, to sort by.
pub(crate) fn turn_of(call: &Fingerprint) -> (u64, u64, u32) {
    (call.conversation.0, call.turn.message, call.turn.position)
}
