//! What a loop looks like in the window it was found in: since when the agent gets nowhere, and
//! which cycle it goes round.

use serde::{Deserialize, Serialize};

use crate::{CallId, NanoUsd, Timestamp};

const HOUR_MS: i128 = 60 * 60 * 1000;
/// A burst of less than a second says nothing of an hour.
const SHORTEST_MS: u64 = 1_000;

/// Calls that come again and again in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// How many calls one lap has.
    pub period: u32,
    /// How many whole laps there were.
    pub laps: u32,
}

/// The part of a window in which the agent gets nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// When the first of its calls came.
    pub since: Timestamp,
    /// Its calls, oldest first; the call that was stopped is the last.
    pub calls: Vec<CallId>,
    /// The cycle it goes round, if there is one.
    pub cycle: Option<Cycle>,
}

/// What an hour costs at the pace at which `cost` was spent in `millis`; none if that is too short
/// to tell.
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
    fn the_pace_of_a_loop_is_told_by_the_hour() {
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
