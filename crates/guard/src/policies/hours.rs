//! Allowed hours: whether the local time of a zone lies in one of the ranges. Local times count,
//! not durations: an hour that is skipped is never allowed, and an hour that comes twice is allowed
//! twice.

use model::{AllowedHours, Timestamp, Zone};

/// Whether `now`, in local time of `zone`, lies in one of `hours`.
pub(super) fn allow(hours: &[AllowedHours], zone: &Zone, now: Timestamp) -> bool {
    let (today, minute) = zone.weekday_and_minute(now);
    hours.iter().any(|range| {
        let (from, to) = (range.from.minutes(), range.to.minutes());
        let begins = |day| range.days.contains(&day);
        if from < to {
            return begins(today) && (from..to).contains(&minute);
        }
        // Over midnight: the part after midnight belongs to the day on which the range began.
        (begins(today) && minute >= from) || (begins(today.yesterday()) && minute < to)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use model::{TimeOfDay, Weekday};

    use super::*;

    /// `mon tue 09:00-18:00, sat 10:00-12:00`
    fn hours(text: &str) -> Vec<AllowedHours> {
        let range = |text: &str| {
            let (days, times) = text.trim().rsplit_once(' ').unwrap();
            let (from, to) = times.split_once('-').unwrap();
            AllowedHours {
                days: days.split(' ').map(|day| Weekday::parse(day).unwrap()).collect(),
                from: TimeOfDay::parse(from).unwrap(),
                to: TimeOfDay::parse(to).unwrap(),
            }
        };
        text.split(',').map(range).collect()
    }

    fn check(text: &str, zone: &str, moments: &[(&str, bool)]) {
        let (hours, zone) = (hours(text), Zone::parse(zone).unwrap());
        for (moment, expected) in moments {
            assert_eq!(allow(&hours, &zone, Timestamp::parse(moment).unwrap()), *expected, "{text} {zone} {moment}");
        }
    }

    #[test]
    fn office_hours() {
        // 2026-11-16 is a Monday.
        check(
            "mon tue wed thu fri 09:00-18:00",
            "Europe/Berlin",
            &[
                ("2026-11-16T07:59:59.999Z", false),
                ("2026-11-16T08:00:00Z", true),
                ("2026-11-16T16:59:59.999Z", true),
                ("2026-11-16T17:00:00Z", false),
                ("2026-11-15T12:00:00Z", false),
            ],
        );
        check(
            "mon 09:00-12:00, mon 13:00-18:00",
            "UTC",
            &[("2026-11-16T12:30:00Z", false), ("2026-11-16T13:00:00Z", true)],
        );
        check("sun 00:00-24:00", "UTC", &[("2026-11-15T23:59:59Z", true), ("2026-11-16T00:00:00Z", false)]);
    }

    #[test]
    fn a_range_over_midnight_belongs_to_the_day_on_which_it_begins() {
        check(
            "fri 22:00-06:00",
            "UTC",
            &[
                ("2026-11-20T05:00:00Z", false),
                ("2026-11-20T21:59:00Z", false),
                ("2026-11-20T22:00:00Z", true),
                ("2026-11-21T05:59:59Z", true),
                ("2026-11-21T06:00:00Z", false),
                ("2026-11-21T22:00:00Z", false),
            ],
        );
        check("sun 22:00-06:00", "UTC", &[("2026-11-16T05:00:00Z", true), ("2026-11-15T05:00:00Z", false)]);
        check("sun 18:00-00:00", "UTC", &[("2026-11-15T23:59:00Z", true), ("2026-11-16T00:00:00Z", false)]);
    }

    #[test]
    fn clocks_that_are_changed() {
        // Berlin, 2026-03-29: 01:59:59 CET is followed by 03:00:00 CEST.
        check("sun 02:00-03:00", "Europe/Berlin", &[("2026-03-29T00:59:59Z", false), ("2026-03-29T01:00:00Z", false)]);
        check("sun 03:00-04:00", "Europe/Berlin", &[("2026-03-29T00:59:59Z", false), ("2026-03-29T01:00:00Z", true)]);
        check("sat 22:00-03:00", "Europe/Berlin", &[("2026-03-29T00:59:59Z", true), ("2026-03-29T01:00:00Z", false)]);
        // Berlin, 2026-10-25: from 02:00 to 03:00 twice.
        check(
            "sun 02:00-03:00",
            "Europe/Berlin",
            &[
                ("2026-10-24T23:59:59Z", false),
                ("2026-10-25T00:00:00Z", true),
                ("2026-10-25T00:59:59Z", true),
                ("2026-10-25T01:30:00Z", true),
                ("2026-10-25T02:00:00Z", false),
            ],
        );
    }

    #[test]
    fn the_day_is_the_one_over_there() {
        let moment = "2026-11-15T23:30:00Z";
        check("sun 00:00-24:00", "America/New_York", &[(moment, true)]);
        check("sun 00:00-24:00", "Asia/Tokyo", &[(moment, false)]);
        check("mon 08:00-09:00", "Asia/Tokyo", &[(moment, true)]);
        check("mon 05:00-05:20", "Asia/Kathmandu", &[(moment, true)]);
    }
}
