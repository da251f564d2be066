//! Policies: budgets, rates, hours and models of an agent, and changes to them.

mod budget_period;
mod change;
mod hours;
mod limits;

pub use budget_period::BudgetPeriod;
pub use change::PolicyChange;
pub use hours::{AllowedHours, TimeOfDay, Weekday};
pub use limits::{ANY, ModelOverride, Policy, RateLimit, Spending};
