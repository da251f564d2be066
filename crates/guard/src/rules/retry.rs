//! A retry of a failed call is the same call, not a new one: every SDK sends a request again after a 429, a 5xx or a
//! timeout, and that is not the agent's doing. But not without end: a request that fails for the tenth time is a storm.

use model::{Fingerprint, Outcome};

/// How many retries are one call: three tries of an SDK inside three of its caller are nine attempts. Storms that people
/// reported had six layers of two and three, or never ended.
const FREE_RETRIES: u32 = 8;

/// The calls before `current` without those that failed and were then sent again, byte for byte.
pub(crate) fn without_retried<'f>(earlier: &'f [Fingerprint], current: &Fingerprint) -> Vec<&'f Fingerprint> {
    let mut retried: Vec<(u64, u32)> = Vec::new();
    let mut kept: Vec<&Fingerprint> = Vec::with_capacity(earlier.len() + 1);
    for (place, call) in earlier.iter().enumerate().rev() {
        let mut later = earlier[place + 1..].iter().chain([current]);
        let is_retried = call.outcome == Outcome::Failed && later.any(|other| other.body == call.body);
        if !is_retried || !is_free(&mut retried, call.body) {
            kept.push(call);
        }
    }
    kept.reverse();
    kept
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
