//! The same request several times at once is one ask: best-of-n and self-consistency sample one
//! question on purpose, also from several models. Only one round is sampling: each request of a
//! later round is asked again.

use model::Fingerprint;

use super::asked_again::is_resent;
use crate::window::PackedFingerprint;

/// More at once is not sampling but a runaway agent.
const MAX_SAMPLES: usize = 16;

/// Whether both calls ask the same at the same point of a conversation, whatever model they ask.
pub(crate) fn is_same_ask(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    one.body == other.body || is_resent(one, other)
}

/// Whether a request is a sample, given how many of the same asks and of their samples are in
/// flight.
pub(crate) fn is_sample((asks, samples): (usize, usize)) -> bool {
    // In a storm, the requests after the samples are asks, and so is one more.
    asks == 1 && samples < MAX_SAMPLES
}

/// A request so many seconds after the last answer begins another round.
const ROUND_PAUSE_S: u16 = 2;

/// Whether a round of asks that began with `first` is a later one: the same was `answered_before`.
/// Only the first round is sampling.
pub fn is_later_round(first: &Fingerprint, answered_before: bool) -> bool {
    answered_before && first.silence >= ROUND_PAUSE_S
}

/// Leaves out the samples of other asks. If `current` is a sample, its ask is left out too: both
/// are judged alike.
pub(crate) fn leave_out_samples(calls: &mut Vec<&PackedFingerprint>, current: &PackedFingerprint) {
    calls.retain(|call| !call.is_sample());
    if !current.is_sample() {
        return;
    }
    if let Some(place) = calls.iter().rposition(|call| is_same_ask(call, current)) {
        calls.remove(place);
    }
}
