//! What a call takes of limits that replicas share, and whether the engine's sums refuse it.

use std::sync::Arc;

use model::{NanoUsd, Timestamp};

use super::charge::{Budget, Charge, Refused};
use super::limits::Limits;

/// What a call takes of one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitCharge {
    /// The name of the sum that it counts towards.
    pub scope: String,
    /// What is counted.
    pub unit: Unit,
    /// The limit of that sum.
    pub limit: u64,
    /// How much the call takes.
    pub amount: u64,
    /// For a budget, the sum as the engine last reported it.
    pub known: u64,
    /// The position of the limits that it belongs to.
    pub position: usize,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Calls in a minute.
    Requests,
    /// Tokens in a minute.
    Tokens,
    /// Billionths of a dollar.
    Cost(Budget),
}

impl LimitCharge {
    /// The amount of a call that took `actual`.
    pub fn actual(&self, actual: &Charge) -> u64 {
        match self.unit {
            Unit::Requests => self.amount,
            Unit::Tokens => actual.tokens,
            Unit::Cost(_) => nanos(actual.cost),
        }
    }
}

impl Limits {
    /// What a call takes of `all`, sorted by scope. The name of each is the start of its scopes.
    pub fn shared_charges(all: &[(String, Arc<Limits>)], charge: &Charge, now: Timestamp) -> Vec<LimitCharge> {
        let of_limits = |(position, (name, limits)): (usize, &(String, Arc<Limits>))| {
            limits.charges_of(position, name, charge, now)
        };
        let mut charges: Vec<LimitCharge> = all.iter().enumerate().flat_map(of_limits).collect();
        charges.sort_unstable_by(|one, other| one.scope.cmp(&other.scope));
        charges
    }

    fn charges_of(&self, position: usize, name: &str, charge: &Charge, now: Timestamp) -> Vec<LimitCharge> {
        let state = &mut *self.state.lock();
        let policy = Arc::clone(&state.policy);
        let new = |scope, unit, limit, amount, known| LimitCharge { scope, unit, limit, amount, known, position };
        let mut charges = Vec::new();
        for limit in policy.rate_limits.iter().filter(|limit| limit.covers(&charge.provider)) {
            if let Some(most) = limit.requests_per_minute {
                charges.push(new(format!("{name}:requests:{}", limit.provider), Unit::Requests, most, 1, 0));
            }
            if let Some(most) = limit.tokens_per_minute {
                let scope = format!("{name}:tokens:{}", limit.provider);
                charges.push(new(scope, Unit::Tokens, most, charge.tokens, 0));
            }
        }
        for (budget, scope, limit, spent) in state.budgets.scopes(&policy, charge, now) {
            let (unit, scope) = (Unit::Cost(budget), format!("{name}:{scope}"));
            charges.push(new(scope, unit, nanos(limit), nanos(charge.cost), nanos(spent)));
        }
        charges
    }

    /// Raises what was spent of each budget to the engine's sum, where that is more.
    pub fn note_shared(all: &[Arc<Limits>], charges: &[LimitCharge], charge: &Charge, spent: &[(u64, u64)]) {
        for (of, (spent, _)) in charges.iter().zip(spent) {
            if let (Unit::Cost(budget), Some(limits)) = (of.unit, all.get(of.position)) {
                limits.state.lock().budgets.note_shared(budget, charge.conversation, amount(*spent));
            }
        }
    }

    /// Why the engine refuses a call for its budgets: the position of the limits, and the refusal.
    pub fn shared_refusal(
        all: &[Arc<Limits>],
        charges: &[LimitCharge],
        spent: &[(u64, u64)],
        now: Timestamp,
    ) -> Option<(usize, Refused)> {
        let mut refusals: Vec<(usize, Refused)> = Vec::new();
        for (charge, (spent, reserved)) in charges.iter().zip(spent) {
            if let (Unit::Cost(budget), Some(limits)) = (charge.unit, all.get(charge.position)) {
                let state = limits.state.lock();
                let sums = (amount(*spent), amount(*reserved));
                let refused = state.budgets.refusal_by(budget, amount(charge.limit), sums, now);
                refusals.extend(refused.map(|refused| (charge.position, refused)));
            }
        }
        // A budget that is spent is a better reason than one whose rest is only reserved.
        let is_spent = |refused: &Refused| matches!(refused, Refused::BudgetExceeded { .. });
        refusals.into_iter().max_by_key(|(position, refused)| (is_spent(refused), std::cmp::Reverse(*position)))
    }
}

fn nanos(money: NanoUsd) -> u64 {
    u64::try_from(money.nanos()).unwrap_or_default()
}

fn amount(nanos: u64) -> NanoUsd {
    NanoUsd::new(i64::try_from(nanos).unwrap_or(i64::MAX))
}
