//! The shape of a loop in its window: since when the agent makes no progress, and the cycle that it
//! repeats.

use serde::{Deserialize, Serialize};

use crate::{CallId, NanoUsd, Timestamp};

const HOUR_MS: i128 = 60 * 60 * 1000;
/// A burst shorter than a second is too short to extrapolate to an hour.
const SHORTEST_MS: u64 = 1_000;

/// Calls that repeat in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// The number of calls in one lap.
    pub period: u32,
    /// The number of complete laps.
    pub laps: u32,
}

/// The part of a window in which the agent makes no progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// When the first of its calls came.
    pub since: Timestamp,
    /// Its calls, oldest first; the stopped call is the last.
    pub calls: Vec<CallId>,
    /// The cycle that it repeats, if any.
    pub cycle: Option<Cycle>,
}

/// The cost per hour at the pace at which `cost` was spent in `millis`; `None` if the time is too
/// short.
pub fn cost_per_hour(cost: NanoUsd, millis: u64) -> Option<NanoUsd> {
    if millis < SHORTEST_MS {
        return None;
    }
    let nanos = i128::from(cost.nanos()) * HOUR_MS / i128::from(millis);
    i64::try_from(nanos).ok().map(NanoUsd::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_per_hour_extrapolates_the_pace_of_a_loop() {
        let check = |nanos: i64, millis: u64, expected: Option<i64>| {
            assert_eq!(cost_per_hour(NanoUsd::new(nanos), millis).map(NanoUsd::nanos), expected);
        };
        check(1_000, 60_000, Some(60_000));
        check(0, 60_000, Some(0));
        check(3, 7_200_000, Some(1));
        check(1_000, 1_000, Some(3_600_000));
        check(1_000, 999, None);
        check(1_000, 0, None);
        check(i64::MAX, 1_000, None);
    }
}
