//! Rates and budgets in memory.

use std::collections::HashMap;

use model::Timestamp;

use crate::types::{Admitted, Charge, ChargeKind};

pub(super) type BudgetSums = HashMap<String, (u64, u64)>;
pub(super) type RateCounts = HashMap<String, HashMap<i64, u64>>;

/// The refusal of a call, if any. Fills `spent` with the state of the budgets.
pub(super) fn check(
    charges: &[Charge],
    budgets: &mut BudgetSums,
    rates: &RateCounts,
    now: Timestamp,
    spent: &mut [(u64, u64)],
) -> Option<Admitted> {
    let (mut longest, mut is_over) = ((0, 0), false);
    for (place, charge) in charges.iter().enumerate() {
        match charge.kind {
            ChargeKind::Rate => {
                let wait = wait(charge, rates.get(&charge.scope), second(now));
                longest = if wait > longest.0 { (wait, place) } else { longest };
            }
            ChargeKind::Budget => {
                let budget = budgets.entry(charge.scope.clone()).or_default();
                budget.0 = budget.0.max(charge.known);
                spent[place] = *budget;
                is_over |= budget.0 + budget.1 >= charge.limit;
            }
        }
    }
    match longest {
        (0, _) if is_over => Some(Admitted::OverBudget(spent.to_vec())),
        (0, _) => None,
        (wait_seconds, charge) => Some(Admitted::RateLimited { charge, wait_seconds }),
    }
}

fn wait(charge: &Charge, rates: Option<&HashMap<i64, u64>>, now: i64) -> u64 {
    let available = charge.limit.saturating_sub(charge.amount);
    let counted = |wait: i64| -> u64 {
        let counts = |second: i64| second > now - 60 + wait && second <= now;
        rates.into_iter().flatten().filter(|(second, _)| counts(**second)).map(|(_, amount)| amount).sum()
    };
    (0..60).find(|wait| counted(*wait) <= available).unwrap_or(60).unsigned_abs()
}

pub(super) fn reserve(charges: &[Charge], budgets: &mut BudgetSums, rates: &mut RateCounts, now: Timestamp) {
    for charge in charges {
        match charge.kind {
            ChargeKind::Rate => {
                *rates.entry(charge.scope.clone()).or_default().entry(second(now)).or_default() += charge.amount
            }
            ChargeKind::Budget => budgets.entry(charge.scope.clone()).or_default().1 += charge.amount,
        }
    }
}

/// Replaces what was counted for a charge by what was taken.
pub(super) fn correct(
    charge: &Charge,
    actual: u64,
    admitted: Timestamp,
    budgets: &mut BudgetSums,
    rates: &mut RateCounts,
) {
    match charge.kind {
        ChargeKind::Rate => {
            if let Some(count) = rates.get_mut(&charge.scope).and_then(|rates| rates.get_mut(&second(admitted))) {
                *count = (*count + actual).saturating_sub(charge.amount);
            }
        }
        ChargeKind::Budget => {
            if let Some((spent, reserved)) = budgets.get_mut(&charge.scope) {
                *spent += actual;
                *reserved = reserved.saturating_sub(charge.amount);
            }
        }
    }
}

/// Adds what a call without a ticket took.
pub(super) fn add(charge: &Charge, actual: u64, now: Timestamp, budgets: &mut BudgetSums, rates: &mut RateCounts) {
    match charge.kind {
        ChargeKind::Rate => {
            *rates.entry(charge.scope.clone()).or_default().entry(second(now)).or_default() += actual;
        }
        ChargeKind::Budget => {
            let (spent, _) = budgets.entry(charge.scope.clone()).or_default();
            *spent = (*spent).max(charge.known) + actual;
        }
    }
}

fn second(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1000)
}
