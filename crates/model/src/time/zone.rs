//! Time zones by their IANA names, and their days, weeks and months. Uses the machine's time zone
//! database, or the built-in one where there is none.

use std::fmt;
use std::ops::Range;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{BudgetPeriod, Timestamp, Weekday};

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Zone(TimeZone::UTC)
    }
}

impl Zone {
    /// The zone with this name.
    pub fn parse(name: &str) -> Option<Zone> {
        let zone = TimeZone::get(name).ok().filter(|zone| !zone.is_unknown())?;
        zone.iana_name().is_some().then_some(Zone(zone))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The day of the week there, and the minutes since midnight on its clocks.
    pub fn weekday_and_minute(&self, at: Timestamp) -> (Weekday, u16) {
        let local = self.local(at);
        let minute = u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs());
        (weekday(local.date()), minute)
    }

    /// The day, week or month there that contains `at`. Days have 23 or 25 hours where clocks are
    /// changed.
    pub fn period(&self, period: BudgetPeriod, at: Timestamp) -> Range<Timestamp> {
        let today = self.local(at).date();
        // The calendar ends with the year 9999; after it the day never ends.
        self.bounds(period, today).unwrap_or(Timestamp::from_millis(i64::MIN)..Timestamp::from_millis(i64::MAX))
    }

    fn bounds(&self, period: BudgetPeriod, today: Date) -> Option<Range<Timestamp>> {
        let (first, last) = match period {
            BudgetPeriod::Day => (today, today),
            BudgetPeriod::Week => {
                let passed = i64::from(today.weekday().to_monday_zero_offset());
                let monday = today.checked_sub(jiff::Span::new().days(passed)).ok()?;
                (monday, monday.checked_add(jiff::Span::new().days(6)).ok()?)
            }
            BudgetPeriod::Month => (today.first_of_month(), today.last_of_month()),
        };
        Some(self.start_of_day(first)?..self.start_of_day(last.tomorrow().ok()?)?)
    }

    /// The first moment of a day: not always midnight, because clocks may change then.
    fn start_of_day(&self, date: Date) -> Option<Timestamp> {
        let begins = date.to_zoned(self.0.clone()).ok()?.start_of_day().ok()?;
        Some(Timestamp::from_millis(begins.timestamp().as_millisecond()))
    }

    fn local(&self, at: Timestamp) -> DateTime {
        let moment = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        self.0.to_datetime(moment)
    }
}

fn weekday(date: Date) -> Weekday {
    Weekday::ALL[usize::from(date.weekday().to_monday_zero_offset().unsigned_abs()) % Weekday::ALL.len()]
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Zone::parse(&name).ok_or_else(|| serde::de::Error::custom(Zone::EXPECTED))
    }
}

impl Zone {
    /// The error message for an invalid name.
    pub const EXPECTED: &str = "must be the IANA name of a time zone, like Europe/Berlin or UTC";
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn zones_are_known_by_their_names() {
        for name in ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"] {
            assert_eq!(Zone::parse(name).unwrap().name(), name);
        }
        for name in ["", "Mars/Olympus", "+02:00", "CEST-1", "Etc/Unknown", "../etc/passwd"] {
            assert_eq!(Zone::parse(name), None, "{name}");
        }
    }

    #[test]
    fn days_weeks_and_months_follow_the_local_clock() {
        let check = |zone: &str, period: BudgetPeriod, now: &str, first: &str, end: &str| {
            let range = Zone::parse(zone).unwrap().period(period, at(now));
            assert_eq!((range.start, range.end), (at(first), at(end)), "{zone} {period:?} {now}");
        };
        let berlin = "Europe/Berlin";
        check("UTC", BudgetPeriod::Day, "2026-03-29T00:00:00Z", "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z");
        // 23 hours in spring, 25 in autumn.
        check(berlin, BudgetPeriod::Day, "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
        check(berlin, BudgetPeriod::Day, "2026-10-25T22:59:59.999Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
        check(berlin, BudgetPeriod::Week, "2026-03-29T12:00:00Z", "2026-03-22T23:00:00Z", "2026-03-29T22:00:00Z");
        check(berlin, BudgetPeriod::Month, "2026-03-29T12:00:00Z", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z");
        check(berlin, BudgetPeriod::Month, "2026-12-31T23:30:00Z", "2026-12-31T23:00:00Z", "2027-01-31T23:00:00Z");
        check(
            "Asia/Kathmandu",
            BudgetPeriod::Day,
            "2026-05-01T18:14:00Z",
            "2026-04-30T18:15:00Z",
            "2026-05-01T18:15:00Z",
        );
        // Midnight did not exist on that day, and came twice on the other.
        check(
            "America/Sao_Paulo",
            BudgetPeriod::Day,
            "2018-11-04T12:00:00Z",
            "2018-11-04T03:00:00Z",
            "2018-11-05T02:00:00Z",
        );
        check(
            "America/Havana",
            BudgetPeriod::Day,
            "2026-11-01T12:00:00Z",
            "2026-11-01T04:00:00Z",
            "2026-11-02T05:00:00Z",
        );
    }

    #[test]
    fn last_day_of_the_calendar_never_ends() {
        for millis in [i64::MIN, -377_705_023_201_000, 253_402_207_200_000, i64::MAX] {
            let now = Timestamp::from_millis(millis);
            for period in BudgetPeriod::ALL {
                Zone::parse("Pacific/Kiritimati").unwrap().period(period, now);
            }
        }
    }
}
