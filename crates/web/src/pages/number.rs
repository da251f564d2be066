//! Numbers, money and times the way people read them. Each carries its exact value, from which the browser writes it in the
//! viewer's own language and time zone.

use model::{NanoUsd, Timestamp};

/// A count: short in the page, exact on hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) value: u64,
    /// `12.4k`
    pub(super) short: String,
    /// `12,400`
    pub(super) exact: String,
}

impl From<u64> for Count {
    fn from(value: u64) -> Count {
        Count { value, short: short(value), exact: grouped(value) }
    }
}

/// A moment: how long ago in the page, exact on hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// RFC 3339 in UTC.
    pub(super) exact: String,
    /// `3 min ago`
    pub(super) ago: String,
}

impl Moment {
    pub(super) fn new(then: Timestamp, now: Timestamp) -> Moment {
        Moment { exact: then.to_string(), ago: ago(then, now) }
    }
}

/// Money: `$0.42` in the page, all of it on hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Money {
    pub(super) short: String,
    pub(super) exact: String,
}

impl From<NanoUsd> for Money {
    fn from(amount: NanoUsd) -> Money {
        let usd = amount.usd();
        let short = match usd {
            0.0 => "$0".to_owned(),
            usd if usd.abs() < 0.01 => "< $0.01".to_owned(),
            usd if usd.abs() < 1000.0 => format!("${usd:.2}"),
            usd => format!("${}", grouped(usd.round() as u64)),
        };
        Money { short, exact: format!("${usd:.6}") }
    }
}

/// How long ago `then` was: `3 min ago`.
fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.millis_since(then) / 1000;
    match seconds {
        0..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// How long something took: `340 ms`, `1.2 s`.
pub(super) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1e3),
        _ => format!("{:.1} min", millis as f64 / 60e3),
    }
}

/// `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `12400` as `12.4k`.
fn short(number: u64) -> String {
    let scaled = |unit: f64, letter: &str| {
        let text = format!("{:.1}", number as f64 / unit);
        format!("{}{letter}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..999_950 => scaled(1e3, "k"),
        999_950..999_950_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative() {
        let then = Timestamp::from_millis(0);
        for (seconds, expected) in
            [(0, "just now"), (12, "12 s ago"), (190, "3 min ago"), (7_300, "2 h ago"), (200_000, "2 d ago")]
        {
            assert_eq!(ago(then, Timestamp::from_millis(seconds * 1000)), expected);
        }
        assert_eq!(ago(Timestamp::from_millis(9_000), then), "just now", "a clock that went back");
    }

    #[test]
    fn counts_are_short_and_exact() {
        for (number, short, exact) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (1_000, "1k", "1,000"),
            (12_400, "12.4k", "12,400"),
            (999_949, "999.9k", "999,949"),
            (999_950, "1M", "999,950"),
            (1_234_567, "1.2M", "1,234,567"),
        ] {
            let count = Count::from(number);
            assert_eq!((count.short.as_str(), count.exact.as_str()), (short, exact));
        }
    }

    #[test]
    fn money_has_two_digits() {
        for (nano, expected) in [
            (0, "$0"),
            (420_000_000, "$0.42"),
            (3_100_000_000, "$3.10"),
            (9_000, "< $0.01"),
            (12_345_678_000_000, "$12,346"),
        ] {
            assert_eq!(Money::from(NanoUsd::new(nano)).short, expected);
        }
        assert_eq!(Money::from(NanoUsd::new(9_000)).exact, "$0.000009");
    }

    #[test]
    fn durations_have_the_unit_that_fits() {
        for (millis, expected) in [(0, "0 ms"), (999, "999 ms"), (1_240, "1.2 s"), (90_000, "1.5 min")] {
            assert_eq!(duration(millis), expected);
        }
    }
}
