//! What comes back after a rest is on a schedule, not in a loop: a heartbeat every half hour asks the same and is answered
//! the same, for ever. Heartbeats that run wild come every minute or two.

use std::time::Duration;

use crate::entry::Entry;

/// After so long a rest a call that comes back is no part of the loop before it.
///
/// Schedules run every five minutes and slower; this leaves room for their jitter. The fastest loops that were reported
/// as heartbeats came every 90 to 105 seconds.
pub const REST: Duration = Duration::from_secs(4 * 60);
const REST_MS: i64 = REST.as_millis() as i64;

/// Whether so much time passed between the two that they are two occasions.
pub(crate) fn is_after_rest(later: &Entry, earlier: &Entry) -> bool {
    later.time().as_millis().saturating_sub(earlier.time().as_millis()) >= REST_MS
}
