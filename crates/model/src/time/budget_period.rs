//! The calendar periods of a budget.

use serde::{Deserialize, Serialize};

/// The period of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BudgetPeriod {
    /// From midnight to midnight.
    Day,
    /// From Monday to Monday.
    Week,
    /// From the first to the first.
    Month,
}

impl BudgetPeriod {
    /// All periods, the shortest first.
    pub const ALL: [BudgetPeriod; 3] = [BudgetPeriod::Day, BudgetPeriod::Week, BudgetPeriod::Month];

    /// Its name in API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
