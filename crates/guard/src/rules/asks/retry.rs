//! A retry of a failed call is the same call, not a new one: every SDK sends a request again after
//! a 429, a 5xx or a timeout, and that is not the agent's doing. But not without end: a request
//! that fails for the tenth time is a storm.

use model::Outcome;

use crate::window::PackedFingerprint;

/// How many retries count as one call: three tries of an SDK inside three of its caller are nine
/// attempts. Storms that people reported had six layers of two and three, or never ended.
const FREE_RETRIES: u32 = 8;

/// Leaves out those of the calls before `current` that failed and were then sent again, byte for
/// byte.
pub(crate) fn leave_out_retried(earlier: &mut Vec<&PackedFingerprint>, current: &PackedFingerprint) {
    let has_failed = |call: &PackedFingerprint| call.outcome() == Outcome::Failed;
    if !earlier.iter().any(|call| has_failed(call)) {
        return;
    }
    let mut retried: Vec<(u64, u32)> = Vec::new();
    let mut kept: Vec<&PackedFingerprint> = Vec::with_capacity(earlier.len() + 1);
    for (place, call) in earlier.iter().enumerate().rev() {
        let mut later = earlier[place + 1..].iter().copied().chain([current]);
        let is_retried = has_failed(call) && later.any(|other| other.body == call.body);
        if !is_retried || !is_free(&mut retried, call.body) {
            kept.push(call);
        }
    }
    kept.reverse();
    *earlier = kept;
}

/// Counts one more retry of `body`.
fn is_free(retried: &mut Vec<(u64, u32)>, body: u64) -> bool {
    let place = retried.iter().position(|(known, _)| *known == body).unwrap_or_else(|| {
        retried.push((body, 0));
        retried.len() - 1
    });
    retried[place].1 += 1;
    retried[place].1 <= FREE_RETRIES
}
