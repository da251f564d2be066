//! What a call takes of its agent's budgets: a reservation while it is in flight, then what it
//! used.

use guard::{Charge, Reservation, conversation_id};
use model::{Event, NanoUsd, Usage};

use crate::core::Core;

/// What one call takes of its agent's budgets.
#[derive(Default)]
pub(crate) struct Spending {
    reservation: Option<Reservation>,
    is_settled: bool,
}

impl Spending {
    /// Holds `reservation` until the call is settled.
    pub(crate) fn reserve(&mut self, reservation: Reservation) {
        self.reservation = Some(reservation);
    }

    /// Replaces the reservation with what the call of `event` used. Does nothing the second time.
    pub(crate) fn settle(&mut self, core: &Core, event: &Event) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        let policies = core.guard.policies();
        let reservation = self.reservation.take();
        // The policy may have come while the call was in flight.
        if reservation.is_none() && policies.counted(&event.agent).is_none() {
            return;
        }
        let reserved = reservation.as_ref().and_then(|reservation| reservation.charge().conversation);
        let tokens = event.usage.input.unwrap_or(0).saturating_add(event.usage.output.unwrap_or(0));
        let actual = Charge {
            time: event.time,
            provider: event.provider.clone().unwrap_or_default(),
            conversation: reserved.or_else(|| event.conversation.as_deref().map(conversation_id)),
            cost: counted_cost(core, event),
            tokens,
            tokens_at_most: tokens,
        };
        policies.settle(&event.agent, reservation, &actual);
        core.budget_waiters.of(&event.agent).notify_waiters();
    }
}

/// What the call counts towards budgets: an unpriced model is not free.
fn counted_cost(core: &Core, event: &Event) -> NanoUsd {
    if event.usage == Usage::default() {
        return NanoUsd::ZERO;
    }
    let (provider, model) = (event.provider.as_deref(), event.model.as_deref());
    let counted = || core.config.prices.counted(provider.unwrap_or_default(), model.unwrap_or_default(), &event.usage);
    event.cost.unwrap_or_else(counted)
}
