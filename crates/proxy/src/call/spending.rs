//! The part of its agent's budgets that a call takes: a reservation while it is in flight, then
//! what it used.

use std::sync::Arc;

use guard::{Charge, LimitCharge, Limits, Reservation, conversation_id};
use model::{Event, NanoUsd, Timestamp, Usage};

use crate::core::Core;

/// The amounts that one call takes of its agent's budgets.
#[derive(Default)]
pub(crate) struct Spending {
    reservation: Option<Reservation>,
    /// The reservations of the agent's groups.
    of_groups: Vec<Reservation>,
    is_settled: bool,
    /// The amounts among replicas, if there are any.
    shared: Option<Box<SharedCharges>>,
}

/// The amounts that a call takes of limits that replicas share.
struct SharedCharges {
    limits: Vec<Arc<Limits>>,
    estimate: Charge,
    charges: Vec<LimitCharge>,
    actual: Option<Charge>,
}

impl Spending {
    /// Holds the agent's own reservation and those of its groups until the call is settled.
    pub(crate) fn reserve(&mut self, own: Option<Reservation>, of_groups: Vec<Reservation>) {
        self.reservation = own;
        self.of_groups = of_groups;
    }

    /// Computes the amounts that the call takes of limits that replicas share.
    pub(crate) fn share(&mut self, limits: Vec<(String, Arc<Limits>)>, estimate: Charge, now: Timestamp) {
        let charges = Limits::shared_charges(&limits, &estimate, now);
        let limits = limits.into_iter().map(|(_, limits)| limits).collect();
        self.shared = Some(Box::new(SharedCharges { limits, estimate, charges, actual: None }));
    }

    /// The amounts that the call takes of limits that replicas share.
    pub(crate) fn charges(&self) -> &[LimitCharge] {
        self.shared.as_ref().map_or(&[], |shared| &shared.charges)
    }

    /// Whether the call takes anything of those limits.
    pub(crate) fn is_charged(&self) -> bool {
        !self.charges().is_empty()
    }

    /// Adopts the spending of all replicas together.
    pub(crate) fn note_shared(&self, spent: &[(u64, u64)]) {
        if let Some(shared) = &self.shared {
            Limits::note_shared(&shared.limits, &shared.charges, &shared.estimate, spent);
        }
    }

    /// The amount that the call took of one limit; 0 before it is settled.
    pub(crate) fn actual(&self, charge: &LimitCharge) -> u64 {
        let actual = self.shared.as_ref().and_then(|shared| shared.actual.as_ref());
        actual.map_or(0, |actual| charge.actual(actual))
    }

    /// Cancels the reservation: the call is refused because of what other replicas counted.
    pub(crate) fn cancel(&mut self) {
        self.is_settled = true;
        self.take_back();
    }

    /// Releases the reservation, and returns it.
    pub(crate) fn take_back(&mut self) -> Option<Charge> {
        let reservations = self.reservation.take().into_iter().chain(self.of_groups.drain(..));
        let take_back = |_, reservation: Reservation| {
            let charge = reservation.charge().clone();
            reservation.cancel();
            Some(charge)
        };
        reservations.fold(None, take_back)
    }

    /// Replaces the reservation by what the call of `event` used. A repetition has no effect.
    pub(crate) fn settle(&mut self, core: &Core, event: &Event) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        let policies = core.guard.policies();
        let (reservation, of_groups) = (self.reservation.take(), std::mem::take(&mut self.of_groups));
        let groups = policies.groups_of(&event.agent);
        // The policy may have been set while the call was in flight.
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
        if let Some(shared) = &mut self.shared {
            shared.actual = Some(actual.clone());
        }
        policies.settle(&event.agent, reservation, &actual);
        policies.settle_groups(&groups, of_groups, &actual);
        core.budget_waiters.of(&event.agent).notify_waiters();
        groups.iter().for_each(|it| core.budget_waiters.of_name(&it.group.name).notify_waiters());
    }
}

/// The amount that the call counts towards budgets: an unpriced model is not free.
fn counted_cost(core: &Core, event: &Event) -> NanoUsd {
    if event.usage == Usage::default() {
        return NanoUsd::ZERO;
    }
    let (provider, model) = (event.provider.as_deref(), event.model.as_deref());
    let counted = || core.config.prices.counted(provider.unwrap_or_default(), model.unwrap_or_default(), &event.usage);
    event.cost.unwrap_or_else(counted)
}
