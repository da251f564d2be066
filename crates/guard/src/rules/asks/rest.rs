//! A call that comes back after a rest is on a schedule, not in a loop: a heartbeat every half hour
//! asks the same and gets the same answer forever. Runaway heartbeats come every minute or two.

use std::time::Duration;

use crate::window::PackedFingerprint;

/// A call that comes back after so long is not part of the loop before it.
///
/// Schedules run every five minutes and slower; this leaves room for their jitter. The fastest
/// loops that were reported as heartbeats came every 90 to 105 seconds.
pub const REST: Duration = Duration::from_secs(4 * 60);
const REST_MS: i64 = REST.as_millis() as i64;

/// The shortest interval of a schedule, minus the error of its clock.
const SHORTEST_INTERVAL_MS: i64 = 115_000;

/// Whether the two are separated by a rest.
pub(crate) fn is_after_rest(later: &PackedFingerprint, earlier: &PackedFingerprint) -> bool {
    gap(later, earlier) >= REST_MS
}

/// How many similar intervals make a schedule.
const REGULAR_INTERVALS: usize = 3;

/// Whether `occasions`, the latest first, come at regular intervals that are long enough for a
/// schedule.
pub(crate) fn is_schedule<'e>(occasions: impl Iterator<Item = &'e PackedFingerprint> + Clone) -> bool {
    let gaps = occasions.clone().zip(occasions.skip(1)).map(|(later, earlier)| gap(later, earlier));
    let (mut count, mut least, mut most) = (0, i64::MAX, 0);
    for gap in gaps.take(REGULAR_INTERVALS) {
        (count, least, most) = (count + 1, least.min(gap), most.max(gap));
    }
    count == REGULAR_INTERVALS && least >= SHORTEST_INTERVAL_MS && most - least <= most / 8
}

/// Whether the two are as far apart as two occasions of a schedule may be.
pub(crate) fn may_be_scheduled(later: &PackedFingerprint, earlier: &PackedFingerprint) -> bool {
    gap(later, earlier) >= SHORTEST_INTERVAL_MS
}

fn gap(later: &PackedFingerprint, earlier: &PackedFingerprint) -> i64 {
    later.time().as_millis().saturating_sub(earlier.time().as_millis())
}
