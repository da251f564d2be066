//! State that the budgets of all agents share: the clock by which they begin anew, and the calls
//! that wait for them.

pub(crate) mod budget_clock;
pub(crate) mod budget_waiters;
