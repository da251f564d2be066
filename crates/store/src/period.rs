//! The time that figures are asked for: whole hours, or whole days where the hours are gone.

use model::Timestamp;

use crate::made::Made;
use crate::span::Span;

/// How long the sums are that a day is made with.
pub(crate) const DAY_HOURS: i64 = 24;

/// For how many days hours are kept. Long enough to compare a month with the one before.
pub(crate) const HOURS_KEPT_DAYS: i64 = 62;

/// A period of more than this is shown day by day.
const SHOWN_BY_HOUR: i64 = 3 * Span::Day.millis();

/// From when until when: the end is no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    from: i64,
    to: i64,
}

/// Spans that follow each other: from `from` until before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) span: Span,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Piece {
    /// The beginnings of its spans.
    pub(crate) fn starts(self) -> impl Iterator<Item = i64> {
        let length = self.span.millis();
        (0..(self.to - self.from) / length).map(move |number| self.from + number * length)
    }
}

impl Period {
    /// The last so many hours: the one that runs at `now` and those before it.
    pub fn last_hours(hours: u32, now: Timestamp) -> Period {
        let to = Span::Hour.start(now) + Span::Hour.millis();
        Period { from: to - i64::from(hours.max(1)) * Span::Hour.millis(), to }.kept(now)
    }

    /// From the hour of `from` to that of `to`.
    pub fn between(from: Timestamp, to: Timestamp, now: Timestamp) -> Period {
        let from_hour = Span::Hour.start(from);
        let to_hour = Span::Hour.end(to).max(from_hour + Span::Hour.millis());
        Period { from: from_hour, to: to_hour }.kept(now)
    }

    /// The same, by whole days if some of its hours are no longer kept.
    fn kept(self, now: Timestamp) -> Period {
        if self.from >= now.as_millis() - HOURS_KEPT_DAYS * Span::Day.millis() {
            return self;
        }
        let day = |millis| Timestamp::from_millis(millis);
        Period { from: Span::Day.start(day(self.from)), to: Span::Day.end(day(self.to)) }
    }

    /// When it begins.
    pub fn from(self) -> Timestamp {
        Timestamp::from_millis(self.from)
    }

    /// When it ends.
    pub fn to(self) -> Timestamp {
        Timestamp::from_millis(self.to)
    }

    /// As much time right before it.
    pub fn before(self, now: Timestamp) -> Period {
        Period { from: self.from - (self.to - self.from), to: self.from }.kept(now)
    }

    /// How many milliseconds of it are still to come.
    pub(crate) fn left(self, now: Timestamp) -> i64 {
        (self.to - now.as_millis()).clamp(0, self.to - self.from)
    }

    /// When the last hour or day begins that it is read by, and how much of that is left if `cut` milliseconds go from its end.
    pub(crate) fn last_span_share(self, cut: i64, made: &Made) -> (i64, f64) {
        let length = self.pieces(made).last().map_or(Span::Hour, |piece| piece.span).millis();
        (self.to - length, 1.0 - (cut.min(length) as f64 / length as f64))
    }

    /// How it is shown in a series.
    pub fn step(self) -> Span {
        if self.to - self.from > SHOWN_BY_HOUR { Span::Day } else { Span::Hour }
    }

    /// The beginnings of the steps that it is shown in, the first one maybe before its own.
    pub(crate) fn steps(self) -> impl Iterator<Item = i64> {
        let (span, first) = (self.step(), self.step().start(self.from()));
        Piece { span, from: first, to: span.end(self.to()) }.starts()
    }

    /// Its hours up to the first whole day, its whole days as far as they are made, and its hours after the last one: few
    /// rows, however long it is.
    pub(crate) fn pieces(self, made: &Made) -> Vec<Piece> {
        let made = Timestamp::from_millis(self.to.min(made.until(DAY_HOURS)));
        let (first_day, last_day) = (Span::Day.end(self.from()), Span::Day.start(made));
        if self.step() == Span::Hour || first_day >= last_day {
            return vec![Piece { span: Span::Hour, from: self.from, to: self.to }];
        }
        let pieces = [
            Piece { span: Span::Hour, from: self.from, to: first_day },
            Piece { span: Span::Day, from: first_day, to: last_day },
            Piece { span: Span::Hour, from: last_day, to: self.to },
        ];
        pieces.into_iter().filter(|piece| piece.from < piece.to).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    /// All that was.
    fn made() -> Made {
        Made::up_to([1, 6, 24, 168].map(|hours| (hours, i64::MAX)))
    }

    #[test]
    fn a_period_ends_with_the_hour_that_runs() {
        let now = at("2026-03-10T10:20:00Z");
        let check = |hours: u32, from: &str| {
            let period = Period::last_hours(hours, now);
            assert_eq!((period.from(), period.to()), (at(from), at("2026-03-10T11:00:00Z")), "{hours}");
        };
        check(1, "2026-03-10T10:00:00Z");
        check(24, "2026-03-09T11:00:00Z");
        check(168, "2026-03-03T11:00:00Z");
        let day = Period::last_hours(24, now).before(now);
        assert_eq!((day.from(), day.to()), (at("2026-03-08T11:00:00Z"), at("2026-03-09T11:00:00Z")));
    }

    #[test]
    fn what_is_still_to_come_is_taken_from_the_end_of_the_time_before() {
        let now = at("2026-03-10T10:15:00Z");
        let check = |hours: u32, last_start: &str, share: f64| {
            let period = Period::last_hours(hours, now);
            let before = period.before(now);
            assert_eq!(
                before.last_span_share(period.left(now), &made()),
                (at(last_start).as_millis(), share),
                "{hours}"
            );
        };
        check(1, "2026-03-10T09:00:00Z", 0.25);
        check(24, "2026-03-09T10:00:00Z", 0.25);
        check(168, "2026-03-03T10:00:00Z", 0.25);
        let over = Period::between(at("2026-03-08T10:20:00Z"), at("2026-03-09T11:00:00Z"), now);
        assert_eq!(over.before(now).last_span_share(over.left(now), &made()).1, 1.0, "nothing of it is still to come");
        // By whole days, ten hours and a quarter have passed of today.
        let year = Period::between(at("2025-03-10T00:00:00Z"), now, now);
        let (_, share) = year.before(now).last_span_share(year.left(now), &made());
        assert!((share - 10.25 / 24.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn what_is_older_than_the_hours_is_shown_by_whole_days() {
        let now = at("2026-03-10T10:20:00Z");
        let period = Period::between(at("2025-03-10T10:20:00Z"), at("2025-03-10T11:20:00Z"), now);
        assert_eq!((period.from(), period.to()), (at("2025-03-10T00:00:00Z"), at("2025-03-11T00:00:00Z")));
    }

    proptest! {
        #[test]
        fn the_pieces_are_the_period(from in 0_i64..5000, hours in 1_i64..3000, days in 0_i64..400) {
            let hour = Span::Hour.millis();
            let period = Period { from: from * hour, to: (from + hours) * hour };
            let mut at = period.from;
            let made = Made::up_to([1, 6, 24, 168].map(|hours| (hours, days * Span::Day.millis())));
            for piece in period.pieces(&made) {
                prop_assert!(piece.span == Span::Hour || piece.to <= made.until(DAY_HOURS));
                prop_assert_eq!(piece.from, at);
                prop_assert_eq!(Timestamp::from_millis(piece.from), Timestamp::from_millis(piece.span.start(Timestamp::from_millis(piece.from))));
                prop_assert_eq!(piece.starts().count() as i64 * piece.span.millis(), piece.to - piece.from);
                at = piece.to;
            }
            prop_assert_eq!(at, period.to);
        }
    }
}
