//! What a call takes of its agent's budgets: a reservation while it is in flight, then what it
//! used.

use guard::{Charge, Reservation, conversation_id};
use model::{Event, NanoUsd, Usage};

use crate::core::Core;

/// What one call takes of its agent's budgets.
#[derive(Default)]
pub(crate) struct Spending {
    reservation: Option<Reservation>,
    /// Of the agent's groups.
    of_groups: Vec<Reservation>,
    is_settled: bool,
}

impl Spending {
    /// Holds the agent's own reservation and those of its groups until the call is settled.
    pub(crate) fn reserve(&mut self, own: Option<Reservation>, of_groups: Vec<Reservation>) {
        self.reservation = own;
        self.of_groups = of_groups;
    }

    /// Replaces the reservation with what the call of `event` used. Does nothing the second time.
    pub(crate) fn settle(&mut self, core: &Core, event: &Event) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        let policies = core.guard.policies();
        let (reservation, of_groups) = (self.reservation.take(), std::mem::take(&mut self.of_groups));
        let groups = policies.groups_of(&event.agent);
        // The policy may have come while the call was in flight.
        let is_counted = reservation.is_some() || policies.counted(&event.agent).is_some();
        if !is_counted && of_groups.is_empty() && groups.is_empty() {
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
        policies.settle_groups(&groups, of_groups, &actual);
        core.budget_waiters.of(&event.agent).notify_waiters();
        groups.iter().for_each(|it| core.budget_waiters.of_name(&it.group.name).notify_waiters());
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
