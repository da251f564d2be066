//! The spans of time that sums are kept for, in UTC.

const HOUR_MS: i64 = 60 * 60 * 1000;

/// The number of days that hours are kept. Long enough to compare a month with the one before.
pub(crate) const HOURS_KEPT_DAYS: i64 = 62;

/// A span of time that sums are kept for. Each divides the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Span {
    Hour,
    SixHours,
    Day,
    /// Weeks begin on Thursdays, as 1970 did.
    Week,
}

impl Span {
    /// All of them, the shortest first.
    pub(crate) const ALL: [Span; 4] = [Span::Hour, Span::SixHours, Span::Day, Span::Week];

    /// The spans that sums by model are kept for.
    pub(crate) const BY_MODEL: [Span; 2] = [Span::Hour, Span::Day];

    /// How many hours it has; also its column in `agent_sums` and `sums_made`.
    pub(crate) const fn hours(self) -> i64 {
        match self {
            Span::Hour => 1,
            Span::SixHours => 6,
            Span::Day => 24,
            Span::Week => 168,
        }
    }

    /// Its column in `rollups`, which has hours and days only.
    pub(crate) const fn model_code(self) -> i64 {
        if matches!(self, Span::Hour) { 0 } else { 1 }
    }

    /// How many milliseconds it has.
    pub(crate) const fn millis(self) -> i64 {
        self.hours() * HOUR_MS
    }

    /// The start of the span that `millis` lies in.
    pub(crate) const fn start(self, millis: i64) -> i64 {
        millis.div_euclid(self.millis()) * self.millis()
    }

    /// The start of the next span; `millis` itself if a span starts there.
    pub(crate) const fn end(self, millis: i64) -> i64 {
        self.start(millis + self.millis() - 1)
    }

    /// The number of days that it is kept if statistics are kept for `statistics_days`.
    pub(crate) fn kept_days(self, statistics_days: i64) -> i64 {
        if self < Span::Day { statistics_days.min(HOURS_KEPT_DAYS) } else { statistics_days }
    }
}
