//! Periods taken apart into few spans: hours up to the first six hours, those up to the first day, days, weeks, and down again.
//! What is not made yet is read by the hour, as it was written.

use crate::Period;
use crate::made::Made;
use crate::period::HOURS_KEPT_DAYS;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// How long the spans are that the sums of agents are kept by, in hours. Each divides the next; weeks begin on Thursdays,
/// as 1970 did.
pub(crate) const LENGTHS: [i64; 4] = [1, 6, 24, 168];

/// Spans of one length that follow each other: from `from` until before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rung {
    /// How long each is; `None`: hours that no sums are made of yet.
    pub(crate) hours: Option<i64>,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Rung {
    /// The beginnings of its spans.
    pub(crate) fn starts(self) -> impl Iterator<Item = i64> {
        let length = self.hours.unwrap_or(1) * HOUR_MS;
        (0..(self.to - self.from) / length).map(move |number| self.from + number * length)
    }
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
pub(crate) fn rungs(period: Period, made: &Made) -> Vec<Rung> {
    let mut rungs = Vec::new();
    climb((&LENGTHS, made), (period.from().as_millis(), period.to().as_millis()), &mut rungs);
    rungs
}

/// Puts spans of the last of `lengths` where they fit and are made, and shorter ones before and after them.
fn climb((lengths, made): (&[i64], &Made), (from, to): (i64, i64), rungs: &mut Vec<Rung>) {
    if from >= to {
        return;
    }
    let Some((&hours, shorter)) = lengths.split_last() else { return rungs.push(Rung { hours: None, from, to }) };
    let (first, last) = (start(hours, from + hours * HOUR_MS - 1), start(hours, to.min(made.until(hours))));
    if first >= last {
        return climb((shorter, made), (from, to), rungs);
    }
    climb((shorter, made), (from, first), rungs);
    rungs.push(Rung { hours: Some(hours), from: first, to: last });
    climb((shorter, made), (last, to), rungs);
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

    fn counts(period: Period, made: &Made) -> Vec<(Option<i64>, i64)> {
        let count = |it: &Rung| (it.hours, (it.to - it.from) / HOUR_MS / it.hours.unwrap_or(1));
        rungs(period, made).iter().map(count).collect()
    }

    #[test]
    fn a_month_is_few_spans() {
        let all = Made::up_to(LENGTHS.map(|hours| (hours, i64::MAX)));
        let ladder = [(1, 5), (6, 1), (24, 6), (168, 3), (24, 2), (6, 2), (1, 1)];
        assert_eq!(counts(period(13, 720), &all), ladder.map(|(hours, count)| (Some(hours), count)));
    }

    #[test]
    fn what_is_not_made_is_read_by_the_hour() {
        let at = |hour: i64| hour * HOUR_MS;
        let made = Made::up_to([(1, at(50)), (6, at(48)), (24, at(24)), (168, 0)]);
        assert_eq!(counts(period(18, 35), &made), [(Some(6), 5), (Some(1), 2), (None, 3)]);
        assert_eq!(counts(period(50, 1), &made), [(None, 1)]);
        assert_eq!(counts(period(0, 1), &Made::default()), [(None, 1)]);
    }

    proptest! {
        #[test]
        fn the_rungs_are_the_period(from in 0_i64..20_000, hours in 1_i64..10_000, until in prop::array::uniform4(0_i64..30_000)) {
            let period = period(from, hours);
            let made = [0, 1, 2, 3].map(|place| (LENGTHS[place], start(LENGTHS[place], until[place] * HOUR_MS)));
            let made = Made::up_to(made);
            let mut at = period.from().as_millis();
            for rung in rungs(period, &made) {
                prop_assert_eq!(rung.from, at);
                let length = rung.hours.unwrap_or(1);
                prop_assert_eq!((start(length, rung.from), start(length, rung.to)), (rung.from, rung.to));
                prop_assert!(rung.hours.is_none_or(|hours| rung.to <= made.until(hours)));
                at = rung.to;
            }
            prop_assert_eq!(at, period.to().as_millis());
        }
    }
}
