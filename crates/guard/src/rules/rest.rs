//! What comes back after a rest is on a schedule, not in a loop: a heartbeat every half hour asks the same and is answered
//! the same, for ever. Heartbeats that run wild come every minute or two.

use model::Fingerprint;

/// Schedules run every five minutes and slower; this leaves room for their jitter. The fastest loops that were reported
/// as heartbeats came every 90 to 105 seconds.
const REST_MS: i64 = 4 * 60 * 1_000;

/// Whether so much time passed between the two that they are two occasions.
pub(crate) fn is_after_rest(later: &Fingerprint, earlier: &Fingerprint) -> bool {
    later.time.as_millis().saturating_sub(earlier.time.as_millis()) >= REST_MS
}
