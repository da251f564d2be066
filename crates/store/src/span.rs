//! Hours and days: the pieces of time that figures are kept by, in UTC.

use model::Timestamp;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// A piece of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Span {
    /// An hour.
    Hour,
    /// A day.
    Day,
}

impl Span {
    /// How long it is.
    pub const fn millis(self) -> i64 {
        match self {
            Span::Hour => HOUR_MS,
            Span::Day => 24 * HOUR_MS,
        }
    }

    /// When the one began that `time` is in.
    pub(crate) fn start(self, time: Timestamp) -> i64 {
        time.as_millis().div_euclid(self.millis()) * self.millis()
    }

    /// When the one after it begins; `time` itself if one begins there.
    pub(crate) fn end(self, time: Timestamp) -> i64 {
        let start = self.start(time);
        if start == time.as_millis() { start } else { start + self.millis() }
    }

    /// As a column.
    pub(crate) fn code(self) -> i64 {
        match self {
            Span::Hour => 0,
            Span::Day => 1,
        }
    }
}
