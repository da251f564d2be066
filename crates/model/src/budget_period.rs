//! The spans of time that a budget is for, in UTC.

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// How long an amount is to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetPeriod {
    /// From midnight on.
    Day,
    /// From Monday on.
    Week,
    /// From the first on.
    Month,
}

impl BudgetPeriod {
    /// The word for it in API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            BudgetPeriod::Day => "day",
            BudgetPeriod::Week => "week",
            BudgetPeriod::Month => "month",
        }
    }

    /// When the one that holds at `now` began.
    pub fn start(self, now: Timestamp) -> Timestamp {
        let moment = jiff::Timestamp::from_millisecond(now.as_millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let today = moment.to_zoned(TimeZone::UTC).date();
        let first = match self {
            BudgetPeriod::Day => today,
            BudgetPeriod::Week => monday(today),
            BudgetPeriod::Month => today.first_of_month(),
        };
        let start = first.to_zoned(TimeZone::UTC).map(|start| start.timestamp().as_millisecond());
        start.map_or(now, Timestamp::from_millis)
    }
}

fn monday(date: Date) -> Date {
    let days = i64::from(date.weekday().to_monday_zero_offset());
    date.checked_sub(days.days()).unwrap_or(date)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn periods_begin_where_people_expect_it() {
        let check = |period: BudgetPeriod, now: &str, expected: &str| {
            assert_eq!(period.start(Timestamp::parse(now).unwrap()).to_string(), format!("{expected}T00:00:00.000Z"));
        };
        // A Sunday.
        check(BudgetPeriod::Day, "2026-11-15T23:59:59Z", "2026-11-15");
        check(BudgetPeriod::Week, "2026-11-15T23:59:59Z", "2026-11-09");
        check(BudgetPeriod::Week, "2026-11-16T00:00:00Z", "2026-11-16");
        check(BudgetPeriod::Week, "2026-03-01T12:00:00Z", "2026-02-23");
        check(BudgetPeriod::Month, "2028-02-29T12:00:00Z", "2028-02-01");
    }
}
