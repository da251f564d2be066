//! A retry of a failed call is the same call, not a new one: every SDK sends a request again after a 429, a 5xx or a
//! timeout, and that is not the agent's doing.

use model::{Fingerprint, Outcome};

/// The calls before `current` without those that failed and were then sent again, byte for byte.
pub(crate) fn without_retried<'f>(earlier: &'f [Fingerprint], current: &Fingerprint) -> Vec<&'f Fingerprint> {
    let is_retried = |place: usize, call: &Fingerprint| {
        let mut later = earlier[place + 1..].iter().chain([current]);
        call.outcome == Outcome::Failed && later.any(|other| other.body == call.body)
    };
    earlier.iter().enumerate().filter(|(place, call)| !is_retried(*place, call)).map(|(_, call)| call).collect()
}
