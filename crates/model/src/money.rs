//! Money as whole billionths of a US dollar, so that a million small calls add up exactly.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const NANOS_PER_USD: f64 = 1e9;

/// An amount in billionths of a US dollar. Arithmetic saturates. Displayed and serialised in
/// dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NanoUsd(i64);

impl NanoUsd {
    /// Zero.
    pub const ZERO: NanoUsd = NanoUsd(0);

    /// From billionths of a dollar.
    pub const fn new(nanos: i64) -> NanoUsd {
        NanoUsd(nanos)
    }

    /// Billionths of a dollar.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// From dollars, rounded to the nearest billionth. `None` if it is not a number or too large.
    pub fn from_usd(usd: f64) -> Option<NanoUsd> {
        let nanos = (usd * NANOS_PER_USD).round();
        (nanos.abs() < i64::MAX as f64).then_some(NanoUsd(nanos as i64))
    }

    /// In dollars.
    pub fn usd(self) -> f64 {
        self.0 as f64 / NANOS_PER_USD
    }

    /// Subtracts `other`; the result may be negative.
    pub fn less(self, other: NanoUsd) -> NanoUsd {
        NanoUsd(self.0.saturating_sub(other.0))
    }
}

impl Add for NanoUsd {
    type Output = NanoUsd;
    fn add(self, other: NanoUsd) -> NanoUsd {
        NanoUsd(self.0.saturating_add(other.0))
    }
}

impl AddAssign for NanoUsd {
    fn add_assign(&mut self, other: NanoUsd) {
        *self = *self + other;
    }
}

impl Sum for NanoUsd {
    fn sum<I: Iterator<Item = NanoUsd>>(amounts: I) -> NanoUsd {
        amounts.fold(NanoUsd::ZERO, Add::add)
    }
}

/// `$5.00`; more digits only if they are not zero.
impl fmt::Display for NanoUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, nanos) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let fraction = format!("{:09}", nanos % 1_000_000_000);
        let digits = fraction.trim_end_matches('0').len().max(2);
        write!(f, "{sign}${}.{}", nanos / 1_000_000_000, &fraction[..digits])
    }
}

impl Serialize for NanoUsd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.usd())
    }
}

impl<'de> Deserialize<'de> for NanoUsd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let usd = f64::deserialize(deserializer)?;
        NanoUsd::from_usd(usd).ok_or_else(|| serde::de::Error::custom("must be a smaller amount"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_in_dollars() {
        let check = |nanos: i64, expected: &str| assert_eq!(NanoUsd::new(nanos).to_string(), expected);
        check(0, "$0.00");
        check(5_000_000_000, "$5.00");
        check(1_250_000, "$0.00125");
        check(-70_000_000, "-$0.07");
        check(1, "$0.000000001");
    }

    #[test]
    fn dollars_are_rounded_to_the_nearest_billionth() {
        let check = |usd: f64, expected: Option<i64>| assert_eq!(NanoUsd::from_usd(usd).map(NanoUsd::nanos), expected);
        check(0.1 + 0.2, Some(300_000_000));
        check(4.999_999_999_6, Some(5_000_000_000));
        check(1e30, None);
        check(f64::NAN, None);
        check(f64::INFINITY, None);
    }

    #[test]
    fn sums_do_not_wrap() {
        let most = NanoUsd::new(i64::MAX);
        assert_eq!(most + most, most);
        assert_eq!([NanoUsd::new(1), NanoUsd::new(2)].into_iter().sum::<NanoUsd>(), NanoUsd::new(3));
    }
}
