//! Figures for people: totals of the API, and their format in tables.

use serde::Deserialize;

/// The totals of calls, as the API returns them.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Sums {
    pub(super) requests: u64,
    pub(super) errors: u64,
    pub(super) blocked: u64,
    pub(super) tokens_in: u64,
    pub(super) tokens_out: u64,
    pub(super) cost_usd: f64,
    pub(super) unpriced_requests: u64,
}

/// Fewer calls do not show that an agent is failing. The dashboard uses the same number.
const FAILING_CALLS: u64 = 10;

impl Sums {
    /// Whether most of the calls failed or were refused.
    pub(super) fn are_failing(&self) -> bool {
        let calls = self.requests + self.blocked;
        calls >= FAILING_CALLS && 2 * (self.errors + self.blocked) > calls
    }

    /// Their cost, and how much has no price, because that is not free.
    pub(super) fn cost(&self) -> String {
        let dollars = dollars(self.cost_usd);
        match self.unpriced_requests {
            0 => dollars,
            count if self.cost_usd == 0.0 => format!("{count} unpriced"),
            count => format!("{dollars} + {count} unpriced"),
        }
    }
}

/// Dollars to the cent; below a cent, to a hundredth of a cent.
pub(super) fn dollars(usd: f64) -> String {
    if usd == 0.0 || usd.abs() >= 0.01 {
        return format!("${usd:.2}");
    }
    if usd.abs() < 0.0001 {
        return "<$0.0001".to_owned();
    }
    format!("${usd:.4}").trim_end_matches('0').to_owned()
}

/// A number with a comma every three digits.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let money = [0.0, 0.000_000_3, 0.001_23, 0.002, 0.05, 0.1, 12.345].map(dollars);
        assert_eq!(money, ["$0.00", "<$0.0001", "$0.0012", "$0.002", "$0.05", "$0.10", "$12.35"]);
    }

    #[test]
    fn unpriced_calls_are_shown() {
        let sums = |cost_usd, unpriced_requests| Sums { cost_usd, unpriced_requests, ..Sums::default() }.cost();
        assert_eq!([sums(1.0, 0), sums(1.0, 2), sums(0.0, 3)], ["$1.00", "$1.00 + 2 unpriced", "3 unpriced"]);
    }
}
