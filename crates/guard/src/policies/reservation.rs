//! What a call in flight may take of limits.

use std::sync::Arc;

use model::{NanoUsd, Timestamp};

use super::budget::Booked;
use super::charge::Charge;
use super::limits::Limits;

/// What a call in flight may take. It is released when it is dropped without being settled: the
/// call was not made.
#[derive(Debug)]
pub struct Reservation {
    pub(super) limits: Arc<Limits>,
    pub(super) held: Held,
    pub(super) is_open: bool,
}

/// What is held for a call in flight, since when, and on which accounts.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) charge: Charge,
    pub(super) admitted: Timestamp,
    pub(super) booked: Booked,
}

impl Reservation {
    /// What was reserved.
    pub fn charge(&self) -> &Charge {
        &self.held.charge
    }

    /// Releases it as if the call had not come: the calls of other replicas left no room for it.
    pub fn cancel(mut self) {
        self.is_open = false;
        self.limits.cancel(&self.held);
    }

    pub(super) fn is_of(&self, limits: &Arc<Limits>) -> bool {
        Arc::ptr_eq(&self.limits, limits)
    }

    /// Replaces what was reserved by what the call really took.
    pub(super) fn settle(mut self, actual: &Charge) {
        self.is_open = false;
        self.limits.settle(Some(&self.held), actual);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_open {
            let nothing = Charge { cost: NanoUsd::ZERO, tokens: 0, tokens_at_most: 0, ..self.held.charge.clone() };
            self.limits.settle(Some(&self.held), &nothing);
        }
    }
}
