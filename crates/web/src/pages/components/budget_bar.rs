//! A bar that shows how much of a budget is spent. It is full when nothing is left.

use model::{BudgetPeriod, NanoUsd, Policy};

use crate::pages::words;

/// The bar's width in its own units.
const WIDTH: f64 = 200.0;

/// A bar, ready to be drawn.
pub(in crate::pages) struct BudgetBar {
    /// `Today`
    pub(in crate::pages) period: &'static str,
    /// The spent share; 1 is all.
    pub(in crate::pages) share: f64,
    pub(in crate::pages) width: String,
    /// A colour that shows how little is left.
    pub(in crate::pages) level: &'static str,
    /// `$1.20 of $5.00`
    pub(in crate::pages) text: String,
    /// `24 %`
    pub(in crate::pages) percent: String,
    /// The same in words.
    pub(in crate::pages) label: String,
}

impl BudgetBar {
    /// A bar for each budget of `policy`.
    pub(in crate::pages) fn all(policy: &Policy, spent: impl Fn(BudgetPeriod) -> NanoUsd) -> Vec<BudgetBar> {
        let bar = |period| Some(BudgetBar::new(period, spent(period), policy.budget(period)?));
        BudgetPeriod::ALL.into_iter().filter_map(bar).collect()
    }

    fn new(period: BudgetPeriod, spent: NanoUsd, limit: NanoUsd) -> BudgetBar {
        // A budget of zero has nothing left.
        let share = if limit > NanoUsd::ZERO { spent.usd() / limit.usd() } else { 1.0 };
        let (period, percent) = (words::policy::period(period), percent(spent, limit));
        let text = words::policy::spent_of(&format_amount(spent), limit);
        BudgetBar {
            period,
            share,
            width: format!("{:.1}", share.min(1.0) * WIDTH),
            level: level(share),
            label: words::policy::budget(period, &text, &percent),
            text,
            percent,
        }
    }
}

/// The percentage, rounded down: 100 % means that all is spent. Whole numbers, because a fraction
/// may be a hair below its true value.
fn percent(spent: NanoUsd, limit: NanoUsd) -> String {
    let percent = if limit > NanoUsd::ZERO { i128::from(spent.nanos()) * 100 / i128::from(limit.nanos()) } else { 100 };
    format!("{percent} %")
}

/// The amount to the cent, or to the millionth if it is small.
fn format_amount(amount: NanoUsd) -> String {
    let digits = if amount.usd() < 0.01 { 1_000 } else { 10_000_000 };
    NanoUsd::new((amount.nanos() + digits / 2) / digits * digits).to_string()
}

fn level(share: f64) -> &'static str {
    match share {
        share if share >= 1.0 => "over",
        share if share >= 0.8 => "near",
        share if share >= 0.5 => "some",
        _ => "low",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_shows_what_is_spent() {
        let check = |spent: i64, limit: i64, text: &str, percent: &str, level: &str| {
            let bar = BudgetBar::new(BudgetPeriod::Day, NanoUsd::new(spent), NanoUsd::new(limit));
            assert_eq!((bar.text.as_str(), bar.percent.as_str(), bar.level), (text, percent, level));
        };
        const USD: i64 = 1_000_000_000;
        check(0, 5 * USD, "$0.00 of $5.00", "0 %", "low");
        check(1_204_999_999, 5 * USD, "$1.20 of $5.00", "24 %", "low");
        check(2_500_000_000, 5 * USD, "$2.50 of $5.00", "50 %", "some");
        check(4_999_999_999, 5 * USD, "$5.00 of $5.00", "99 %", "near");
        check(5 * USD, 5 * USD, "$5.00 of $5.00", "100 %", "over");
        check(54_000_000, 50_000_000, "$0.05 of $0.05", "108 %", "over");
        check(16_750, 20_000, "$0.000017 of $0.00002", "83 %", "near");
        check(0, 0, "$0.00 of $0.00", "100 %", "over");
    }
}
