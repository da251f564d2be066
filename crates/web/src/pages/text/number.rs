//! Numbers, money and times in a form for people. Each carries its exact value, from which the
//! browser writes it in the viewer's own language and time zone.

use model::{NanoUsd, Timestamp};
use store::Totals;

use super::words::units;

/// A count: short in the page, exact on hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pages) struct Count {
    pub(in crate::pages) value: u64,
    /// `12.4k`
    pub(in crate::pages) short: String,
    /// `12,400`
    pub(in crate::pages) exact: String,
}

impl From<u64> for Count {
    fn from(value: u64) -> Count {
        Count { value, short: short(value), exact: grouped(value) }
    }
}

/// A moment: how long ago in the page, exact on hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pages) struct Moment {
    /// RFC 3339 in UTC.
    pub(in crate::pages) exact: String,
    /// `3 min ago`
    pub(in crate::pages) ago: String,
}

impl Moment {
    pub(in crate::pages) fn new(then: Timestamp, now: Timestamp) -> Moment {
        Moment { exact: then.to_string(), ago: units::ago(now.millis_since(then) / 1000) }
    }

    /// The time of day to the second, in UTC: `14:03:09`.
    pub(in crate::pages) fn clock(&self) -> &str {
        self.exact.get(11..19).unwrap_or_default()
    }

    /// The day and the hour, in UTC: `01-15 14:00`. For times that are only known to the hour.
    pub(in crate::pages) fn hour(&self) -> String {
        self.exact.get(5..16).unwrap_or_default().replace('T', " ")
    }
}

/// Money: `$0.42` in the page, all of it on hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pages) struct Money {
    pub(in crate::pages) short: String,
    pub(in crate::pages) exact: String,
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

impl Money {
    /// The cost of calls. Calls of models without a price are never shown as free.
    pub(in crate::pages) fn spent(totals: &Totals) -> Money {
        let priced = Money::from(totals.cost);
        if totals.unpriced == 0 {
            return priced;
        }
        let known = (totals.cost > NanoUsd::ZERO).then_some(priced.short.as_str());
        Money { short: units::with_unpriced(known), exact: units::unpriced_calls(&priced.exact, totals.unpriced) }
    }
}

/// `1234567` as `1,234,567`.
pub(in crate::pages) fn grouped(number: u64) -> String {
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
        1_000..999_950 => scaled(1e3, units::THOUSAND),
        999_950..999_950_000 => scaled(1e6, units::MILLION),
        _ => scaled(1e9, units::BILLION),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_went_back_means_now() {
        assert_eq!(Moment::new(Timestamp::from_millis(9_000), Timestamp::from_millis(0)).ago, "just now");
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
    fn unpriced_calls_are_never_free() {
        let spent =
            |nanos, unpriced| Money::spent(&Totals { cost: NanoUsd::new(nanos), unpriced, ..Totals::default() });
        assert_eq!(spent(0, 0).short, "$0");
        assert_eq!(spent(0, 3).short, "unpriced");
        assert_eq!(spent(420_000_000, 1).short, "$0.42 + unpriced");
        assert_eq!(spent(0, 3).exact, "$0.000000 and 3 calls without a known price");
    }
}
