//! Policies: budgets, rates, hours and models of an agent, and changes to them.

mod change;
mod hours;
mod limits;

pub use change::PolicyChange;
pub use hours::{AllowedHours, TimeOfDay};
pub use limits::{ANY, ModelOverride, Policy, RateLimit, Spending};
