//! Rates and budgets in memory.

use std::collections::HashMap;

use model::Timestamp;

use crate::types::{Admitted, Charge, ChargeKind};

pub(super) type Tabs = HashMap<String, (u64, u64)>;
pub(super) type Ticks = HashMap<String, HashMap<i64, u64>>;

/// The refusal of a call, if any. Fills `spent` with the state of the budgets.
pub(super) fn check(
    charges: &[Charge],
    tabs: &mut Tabs,
    ticks: &Ticks,
    now: Timestamp,
    spent: &mut [(u64, u64)],
) -> Option<Admitted> {
    let (mut longest, mut is_over) = ((0, 0), false);
    for (place, charge) in charges.iter().enumerate() {
        match charge.kind {
            ChargeKind::Rate => {
                let wait = wait(charge, ticks.get(&charge.scope), second(now));
                longest = if wait > longest.0 { (wait, place) } else { longest };
            }
            ChargeKind::Budget => {
                let tab = tabs.entry(charge.scope.clone()).or_default();
                tab.0 = tab.0.max(charge.known);
                spent[place] = *tab;
                is_over |= tab.0 + tab.1 >= charge.limit;
            }
        }
    }
    match longest {
        (0, _) if is_over => Some(Admitted::OverBudget(spent.to_vec())),
        (0, _) => None,
        (wait_seconds, charge) => Some(Admitted::RateLimited { charge, wait_seconds }),
    }
}

fn wait(charge: &Charge, ticks: Option<&HashMap<i64, u64>>, now: i64) -> u64 {
    let room = charge.limit.saturating_sub(charge.amount);
    let counted = |wait: i64| -> u64 {
        let counts = |second: i64| second > now - 60 + wait && second <= now;
        ticks.into_iter().flatten().filter(|(second, _)| counts(**second)).map(|(_, amount)| amount).sum()
    };
    (0..60).find(|wait| counted(*wait) <= room).unwrap_or(60).unsigned_abs()
}

pub(super) fn reserve(charges: &[Charge], tabs: &mut Tabs, ticks: &mut Ticks, now: Timestamp) {
    for charge in charges {
        match charge.kind {
            ChargeKind::Rate => {
                *ticks.entry(charge.scope.clone()).or_default().entry(second(now)).or_default() += charge.amount
            }
            ChargeKind::Budget => tabs.entry(charge.scope.clone()).or_default().1 += charge.amount,
        }
    }
}

/// Replaces what was counted for a charge by what was taken.
pub(super) fn correct(charge: &Charge, actual: u64, admitted: Timestamp, tabs: &mut Tabs, ticks: &mut Ticks) {
    match charge.kind {
        ChargeKind::Rate => {
            if let Some(tick) = ticks.get_mut(&charge.scope).and_then(|ticks| ticks.get_mut(&second(admitted))) {
                *tick = (*tick + actual).saturating_sub(charge.amount);
            }
        }
        ChargeKind::Budget => {
            if let Some((spent, reserved)) = tabs.get_mut(&charge.scope) {
                *spent += actual;
                *reserved = reserved.saturating_sub(charge.amount);
            }
        }
    }
}

fn second(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1000)
}
