//! The period of a query: whole hours, or whole days where the hours are deleted.

use model::Timestamp;

use super::progress::Progress;
use super::runs::{Run, split};
use super::span::{HOURS_KEPT_DAYS, Span};

/// Longer periods are shown day by day.
const SHOWN_BY_HOUR: i64 = 3 * Span::Day.millis();

/// A period without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    from: i64,
    to: i64,
}

/// How finely a series is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Hour by hour.
    Hour,
    /// Day by day.
    Day,
}

impl Resolution {
    pub(crate) fn span(self) -> Span {
        match self {
            Resolution::Hour => Span::Hour,
            Resolution::Day => Span::Day,
        }
    }

    /// The length of one point, in milliseconds.
    pub fn millis(self) -> i64 {
        self.span().millis()
    }
}

impl Period {
    /// The last `hours` hours: the one that contains `now` and those before it.
    pub fn last_hours(hours: u32, now: Timestamp) -> Period {
        let to = Span::Hour.start(now.as_millis()) + Span::Hour.millis();
        Period { from: to - i64::from(hours.max(1)) * Span::Hour.millis(), to }.in_kept_spans(now)
    }

    /// From the hour of `from` to that of `to`.
    pub fn between(from: Timestamp, to: Timestamp, now: Timestamp) -> Period {
        let from_hour = Span::Hour.start(from.as_millis());
        let to_hour = Span::Hour.end(to.as_millis()).max(from_hour + Span::Hour.millis());
        Period { from: from_hour, to: to_hour }.in_kept_spans(now)
    }

    /// The same period, in whole days if some of its hours are no longer kept.
    fn in_kept_spans(self, now: Timestamp) -> Period {
        if self.from >= now.as_millis() - HOURS_KEPT_DAYS * Span::Day.millis() {
            return self;
        }
        Period { from: Span::Day.start(self.from), to: Span::Day.end(self.to) }
    }

    /// When it begins.
    pub fn from(self) -> Timestamp {
        Timestamp::from_millis(self.from)
    }

    /// When it ends.
    pub fn to(self) -> Timestamp {
        Timestamp::from_millis(self.to)
    }

    /// The period of the same length right before it.
    pub fn before(self, now: Timestamp) -> Period {
        Period { from: self.from - (self.to - self.from), to: self.from }.in_kept_spans(now)
    }

    /// How many milliseconds of it are in the future.
    pub(crate) fn millis_left(self, now: Timestamp) -> i64 {
        (self.to - now.as_millis()).clamp(0, self.to - self.from)
    }

    /// When its last hour or day begins, and the share of it that remains if `cut` milliseconds are
    /// cut from its end.
    pub(crate) fn last_span_share(self, cut: i64, progress: &Progress) -> (i64, f64) {
        let length = self.model_runs(progress).last().map_or(Span::Hour, |run| run.span()).millis();
        (self.to - length, 1.0 - (cut.min(length) as f64 / length as f64))
    }

    /// The step in which it is shown as a series.
    pub fn resolution(self) -> Resolution {
        if self.to - self.from > SHOWN_BY_HOUR { Resolution::Day } else { Resolution::Hour }
    }

    /// The beginnings of its steps; the first may lie before the period.
    pub(crate) fn steps(self) -> impl Iterator<Item = i64> {
        let span = self.resolution().span();
        Run { made: Some(span), from: span.start(self.from), to: span.end(self.to) }.starts()
    }

    /// The period as sums by model: hours up to the first whole day, whole days as far as they are
    /// made, then hours.
    pub(crate) fn model_runs(self, progress: &Progress) -> Vec<Run> {
        let spans: &[Span] = match self.resolution() {
            Resolution::Hour => &[],
            Resolution::Day => &[Span::Day],
        };
        split(spans, (self.from, self.to), progress)
    }

    /// The period as sums by agent.
    pub(crate) fn agent_runs(self, progress: &Progress) -> Vec<Run> {
        split(&Span::ALL, (self.from, self.to), progress)
    }

    /// The beginnings of its hours.
    pub(crate) fn hours(self) -> impl Iterator<Item = i64> {
        Run { made: None, from: self.from, to: self.to }.starts()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn all_made() -> Progress {
        Progress::up_to(Span::ALL.map(|span| (span, i64::MAX)))
    }

    #[test]
    fn period_ends_with_the_current_hour() {
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
    fn future_part_is_cut_from_the_period_before() {
        let now = at("2026-03-10T10:15:00Z");
        let check = |hours: u32, last_start: &str, share: f64| {
            let period = Period::last_hours(hours, now);
            let before = period.before(now);
            assert_eq!(
                before.last_span_share(period.millis_left(now), &all_made()),
                (at(last_start).as_millis(), share),
                "{hours}"
            );
        };
        check(1, "2026-03-10T09:00:00Z", 0.25);
        check(24, "2026-03-09T10:00:00Z", 0.25);
        check(168, "2026-03-03T10:00:00Z", 0.25);
        let past = Period::between(at("2026-03-08T10:20:00Z"), at("2026-03-09T11:00:00Z"), now);
        assert_eq!(
            past.before(now).last_span_share(past.millis_left(now), &all_made()).1,
            1.0,
            "no part is in the future"
        );
        // In whole days, ten hours and a quarter of today have passed.
        let year = Period::between(at("2025-03-10T00:00:00Z"), now, now);
        let (_, share) = year.before(now).last_span_share(year.millis_left(now), &all_made());
        assert!((share - 10.25 / 24.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn period_without_hours_is_shown_by_whole_days() {
        let now = at("2026-03-10T10:20:00Z");
        let period = Period::between(at("2025-03-10T10:20:00Z"), at("2025-03-10T11:20:00Z"), now);
        assert_eq!((period.from(), period.to()), (at("2025-03-10T00:00:00Z"), at("2025-03-11T00:00:00Z")));
    }

    #[test]
    fn short_period_is_read_by_the_hour() {
        let period = Period::last_hours(72, at("2026-03-10T10:20:00Z"));
        assert!(period.model_runs(&all_made()).iter().all(|run| run.made.is_none()));
    }
}
