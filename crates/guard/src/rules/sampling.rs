//! The same request several times at once is one ask: best-of-n and self-consistency sample one
//! question on purpose, also of several models. The next round of the same is asked again, and each
//! of its requests is: sampling is one round.

use model::Fingerprint;

use super::asked_again::is_resent;
use crate::window::PackedFingerprint;

/// More than this at once is no sampling any more but an agent that runs wild.
const MAX_SAMPLES: usize = 16;

/// Whether both calls ask the same at the same point of a conversation, whatever model they ask.
pub(crate) fn is_same_ask(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    one.body == other.body || is_resent(one, other)
}

/// Whether a request that comes while so many of the same asks, and so many samples of them, are in
/// flight is a sample.
pub(crate) fn is_sample((asks, samples): (usize, usize)) -> bool {
    // Of a storm, what came after the samples are asks: one more is one more of them.
    asks == 1 && samples < MAX_SAMPLES
}

/// So many seconds after the last answer another round begins.
const ROUND_PAUSE_S: u16 = 2;

/// Whether a round of asks is not the first of them, whose samples are what they are for: it began
/// with `first`, after something like it had been `answered_before`.
pub fn is_later_round(first: &Fingerprint, answered_before: bool) -> bool {
    answered_before && first.silence >= ROUND_PAUSE_S
}

/// Leaves out the samples of other asks. If `current` is one itself, what it is a sample of is left
/// out too: it is judged as that was.
pub(crate) fn leave_out_samples(calls: &mut Vec<&PackedFingerprint>, current: &PackedFingerprint) {
    calls.retain(|call| !call.is_sample());
    if !current.is_sample() {
        return;
    }
    if let Some(place) = calls.iter().rposition(|call| is_same_ask(call, current)) {
        calls.remove(place);
    }
}
