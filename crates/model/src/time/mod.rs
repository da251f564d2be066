//! Time: timestamps, the clock, time zones, days of the week, and the periods of budgets.

mod budget_period;
mod clock;
mod weekday;
mod zone;

pub use budget_period::BudgetPeriod;
pub use clock::{Clock, ClockJump, ClockWatch, ManualClock, Timestamp};
pub use weekday::Weekday;
pub use zone::Zone;
