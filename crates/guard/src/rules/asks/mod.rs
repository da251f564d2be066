//! Rules about when something is asked again: steps of work, retries, samples, schedules.

pub(super) mod asked_again;
pub(super) mod rest;
pub(super) mod retry;
pub(super) mod sampling;
