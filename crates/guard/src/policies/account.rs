//! The account of one budget: what is spent, what is reserved, and whether it is exhausted.

use model::{NanoUsd, Timestamp};

use super::charge::{Budget, Refused};

/// What was spent and what is reserved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub(super) spent: NanoUsd,
    pub(super) reserved: NanoUsd,
    /// What all replicas together had spent when that was last known.
    pub(super) shared: NanoUsd,
}

/// A budget that refuses a call.
pub(super) struct ExhaustedBudget {
    budget: Budget,
    limit: NanoUsd,
    /// `false` if the rest is reserved for calls in flight.
    pub(super) is_spent: bool,
    /// When it is renewed; `None` means never.
    pub(super) until: Option<Timestamp>,
}

impl Account {
    /// As [`exhausted`](Account::exhausted) for one of several replicas that cannot agree: each
    /// has its share of what was left when they last agreed.
    pub(super) fn exhausted_share(
        self,
        budget: Budget,
        limit: NanoUsd,
        until: Option<Timestamp>,
        replicas: u64,
    ) -> Option<ExhaustedBudget> {
        let replicas = i64::try_from(replicas).unwrap_or(i64::MAX).max(1);
        if replicas == 1 || self.spent >= limit {
            return self.exhausted(budget, limit, until);
        }
        let left = limit.less(self.shared).max(NanoUsd::ZERO);
        let share = self.shared + NanoUsd::new((left.nanos() / replicas).max(1));
        self.exhausted(budget, share, until).map(|exhausted| ExhaustedBudget { limit, is_spent: false, ..exhausted })
    }

    pub(super) fn exhausted(self, budget: Budget, limit: NanoUsd, until: Option<Timestamp>) -> Option<ExhaustedBudget> {
        if self.spent + self.reserved < limit {
            return None;
        }
        // A budget of 0 stays 0 on the next day.
        let until = until.filter(|_| limit > NanoUsd::ZERO);
        Some(ExhaustedBudget { budget, limit, is_spent: self.spent >= limit, until })
    }
}

impl ExhaustedBudget {
    pub(super) fn refused(self, now: Timestamp) -> Refused {
        let millis = self.until.map(|until| until.as_millis().saturating_sub(now.as_millis()).max(1).unsigned_abs());
        let renewed_in_seconds = millis.map(|millis| millis.div_ceil(1000));
        match self.is_spent {
            true => Refused::BudgetExceeded { budget: self.budget, limit: self.limit, renewed_in_seconds },
            false => Refused::BudgetHeld { renewed_in_seconds },
        }
    }
}
