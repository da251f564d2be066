//! Periods taken apart into few spans: hours up to the first six hours, those up to the first day, days, weeks, and down again.

use crate::Period;
use crate::period::HOURS_KEPT_DAYS;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// How long the spans are that the sums of agents are kept by, in hours. Each divides the next; weeks begin on Thursdays,
/// as 1970 did.
pub(crate) const LENGTHS: [i64; 4] = [1, 6, 24, 168];

/// Spans of one length that follow each other: from `from` until before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rung {
    pub(crate) hours: i64,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// The beginning of the span of this length that `millis` lies in.
pub(crate) fn start(hours: i64, millis: i64) -> i64 {
    let length = hours * HOUR_MS;
    millis.div_euclid(length) * length
}

/// For how many days spans of this length are kept, if statistics are kept for so many.
pub(crate) fn kept_days(hours: i64, statistics_days: i64) -> i64 {
    if hours < 24 { statistics_days.min(HOURS_KEPT_DAYS) } else { statistics_days }
}

/// The fewest spans that make up a period of whole hours.
pub(crate) fn rungs(period: Period) -> Vec<Rung> {
    let mut rungs = Vec::new();
    climb(&LENGTHS, (period.from().as_millis(), period.to().as_millis()), &mut rungs);
    rungs
}

/// Puts spans of the last of `lengths` where they fit, and shorter ones before and after them.
fn climb(lengths: &[i64], (from, to): (i64, i64), rungs: &mut Vec<Rung>) {
    let Some((&hours, shorter)) = lengths.split_last() else { return };
    let (first, last) = (start(hours, from + hours * HOUR_MS - 1), start(hours, to));
    if first >= last {
        return climb(shorter, (from, to), rungs);
    }
    climb(shorter, (from, first), rungs);
    rungs.push(Rung { hours, from: first, to: last });
    climb(shorter, (last, to), rungs);
}

#[cfg(test)]
mod tests {
    use model::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn period(from: i64, hours: i64) -> Period {
        let at = |hour: i64| Timestamp::from_millis(hour * HOUR_MS);
        Period::between(at(from), at(from + hours), at(from))
    }

    #[test]
    fn a_month_is_few_spans() {
        let counts: Vec<_> =
            rungs(period(13, 720)).iter().map(|it| (it.hours, (it.to - it.from) / HOUR_MS / it.hours)).collect();
        assert_eq!(counts, [(1, 5), (6, 1), (24, 6), (168, 3), (24, 2), (6, 2), (1, 1)]);
    }

    proptest! {
        #[test]
        fn the_rungs_are_the_period(from in 0_i64..20_000, hours in 1_i64..10_000) {
            let period = period(from, hours);
            let mut at = period.from().as_millis();
            for rung in rungs(period) {
                prop_assert_eq!(rung.from, at);
                prop_assert_eq!((start(rung.hours, rung.from), start(rung.hours, rung.to)), (rung.from, rung.to));
                at = rung.to;
            }
            prop_assert_eq!(at, period.to().as_millis());
        }
    }
}
