//! Rules about what tool steps contributed: results, errors, cycles, and what ends a chain of them.

pub(super) mod error_streak;
pub(super) mod in_vain;
pub(super) mod new_result;
pub(super) mod new_work;
pub(super) mod reminder;
pub(super) mod standstill;
