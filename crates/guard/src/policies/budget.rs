//! Budgets: what was spent, and what calls in flight may still cost. A call passes while both
//! together are below the limit, so that of any number of concurrent calls only the last can exceed
//! it.

use std::collections::HashMap;
use std::ops::Range;

use model::{BudgetPeriod, ClockJump, ConversationId, NanoUsd, Policy, Spending, Timestamp, Zone};

use super::account::Account;
use super::charge::{Budget, Charge, Refused};
use crate::fingerprint::conversation_id;
use crate::least_recently_used;

/// How many conversations of one agent are counted; the least recently used is forgotten first.
const MAX_CONVERSATIONS: usize = 1000;

/// The budgets of one agent.
#[derive(Debug)]
pub(super) struct Budgets {
    periods: [Period; 3],
    conversations: HashMap<ConversationId, (Account, u64)>,
    /// Counts uses of conversations: a clock that orders them and nothing else.
    uses: u64,
}

/// The account of the current day, week or month.
#[derive(Debug)]
struct Period {
    period: BudgetPeriod,
    range: Range<Timestamp>,
    /// Counts renewals, so that a reservation of an earlier period is not released in this one.
    number: u64,
    account: Account,
    /// What was spent in the previous period.
    spent_before: NanoUsd,
}

/// The accounts on which a call in flight was reserved. The policy may change before it is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Booked {
    periods: [u64; 3],
    conversation: Option<ConversationId>,
}

impl Budgets {
    pub(super) fn new(zone: &Zone, now: Timestamp) -> Budgets {
        let begin = |period| Period {
            period,
            range: zone.period(period, now),
            number: 0,
            account: Account::default(),
            spent_before: NanoUsd::ZERO,
        };
        let periods = BudgetPeriod::ALL.map(begin);
        Budgets { periods, conversations: HashMap::new(), uses: 0 }
    }

    /// Replaces what was spent by `spending`. Reservations stay: those calls are still in flight.
    pub(super) fn restate(&mut self, zone: &Zone, spending: &Spending, now: Timestamp) {
        for period in &mut self.periods {
            period.range = zone.period(period.period, now);
            period.account.spent = spending.of(period.period);
            period.account.shared = period.account.spent;
        }
        self.conversations.values_mut().for_each(|(account, _)| account.spent = NanoUsd::ZERO);
        for (name, spent) in &spending.conversations {
            let account = self.conversation(conversation_id(name));
            (account.spent, account.shared) = (*spent, *spent);
        }
    }

    /// Raises what was spent to `spending` where that is more: calls that ended while a policy was
    /// put are counted nowhere else.
    pub(super) fn raise(&mut self, policy: &Policy, spending: &Spending, now: Timestamp) {
        self.turn(&policy.time_zone, now);
        for Period { period, account, .. } in &mut self.periods {
            account.spent = account.spent.max(spending.of(*period));
        }
        for (name, spent) in &spending.conversations {
            let account = self.conversation(conversation_id(name));
            account.spent = account.spent.max(*spent);
        }
    }

    /// Whether the budgets admit a call. If several refuse it, the error is that of the one that
    /// refuses for longest. `replicas` that cannot agree share what is left.
    pub(super) fn check(
        &mut self,
        policy: &Policy,
        charge: &Charge,
        now: Timestamp,
        replicas: u64,
    ) -> Result<(), Refused> {
        self.turn(&policy.time_zone, now);
        let conversation = charge.conversation.zip(policy.budget_conversation);
        let conversation = conversation.map(|(id, limit)| (*self.conversation(id), limit));
        let conversation = conversation
            .and_then(|(account, limit)| account.exhausted_share(Budget::Conversation, limit, None, replicas));
        let periods = self.periods.iter().filter_map(|Period { period, range, account, .. }| {
            account.exhausted_share(Budget::Of(*period), policy.budget(*period)?, Some(range.end), replicas)
        });
        match periods.chain(conversation).max_by_key(|it| (it.is_spent, it.until.is_none(), it.until)) {
            Some(exhausted) => Err(exhausted.refused(now)),
            None => Ok(()),
        }
    }

    /// The budgets that a call counts towards: which one, its name among replicas, its limit, and
    /// what all replicas have spent of it as the engine last reported. What this replica has spent
    /// since may not have reached the engine.
    pub(super) fn scopes(
        &mut self,
        policy: &Policy,
        charge: &Charge,
        now: Timestamp,
    ) -> Vec<(Budget, String, NanoUsd, NanoUsd)> {
        self.turn(&policy.time_zone, now);
        let periods = self.periods.iter().filter_map(|Period { period, range, account, .. }| {
            let scope = format!("{period:?}:{}", range.start.as_millis());
            Some((Budget::Of(*period), scope, policy.budget(*period)?, account.shared))
        });
        let mut scopes: Vec<_> = periods.collect();
        if let Some((id, limit)) = charge.conversation.zip(policy.budget_conversation) {
            let spent = self.conversation(id).shared;
            scopes.push((Budget::Conversation, format!("conversation:{:x}", id.0), limit, spent));
        }
        scopes
    }

    /// Raises what was spent to the sum of all replicas, where that is more.
    pub(super) fn note_shared(&mut self, budget: Budget, conversation: Option<ConversationId>, spent: NanoUsd) {
        let account = match (budget, conversation) {
            (Budget::Of(period), _) => self.periods.iter_mut().find(|it| it.period == period).map(|it| &mut it.account),
            (Budget::Conversation, Some(id)) => Some(self.conversation(id)),
            (Budget::Conversation, None) => None,
        };
        if let Some(account) = account {
            account.spent = account.spent.max(spent);
            account.shared = account.shared.max(spent);
        }
    }

    /// Why a budget refuses a call, given what all replicas together have spent and reserved;
    /// `None` if it does not.
    pub(super) fn refusal_by(
        &self,
        budget: Budget,
        limit: NanoUsd,
        (spent, reserved): (NanoUsd, NanoUsd),
        now: Timestamp,
    ) -> Option<Refused> {
        let until = match budget {
            Budget::Of(period) => self.periods.iter().find(|it| it.period == period).map(|it| it.range.end),
            Budget::Conversation => None,
        };
        let account = Account { spent, reserved, shared: spent };
        account.exhausted(budget, limit, until).map(|exhausted| exhausted.refused(now))
    }

    /// Reserves what a call in flight may cost.
    pub(super) fn reserve(&mut self, policy: &Policy, charge: &Charge) -> Booked {
        let conversation = charge.conversation.filter(|_| policy.budget_conversation.is_some());
        self.periods.iter_mut().for_each(|period| period.account.reserved += charge.cost);
        if let Some(conversation) = conversation {
            self.conversation(conversation).reserved += charge.cost;
        }
        Booked { periods: self.periods.each_ref().map(|period| period.number), conversation }
    }

    /// Releases a reservation.
    pub(super) fn release(&mut self, booked: Booked, cost: NanoUsd) {
        let periods = self.periods.iter_mut().zip(booked.periods);
        let periods =
            periods.filter(|(period, number)| period.number == *number).map(|(period, _)| &mut period.account);
        let conversation = booked.conversation.and_then(|id| self.conversations.get_mut(&id));
        for account in periods.chain(conversation.map(|(account, _)| account)) {
            account.reserved = account.reserved.less(cost).max(NanoUsd::ZERO);
        }
    }

    /// Adds what a call did cost. A call that came before midnight belongs to the previous day,
    /// which is over.
    pub(super) fn spend(&mut self, policy: &Policy, charge: &Charge) {
        for period in self.periods.iter_mut().filter(|period| charge.time >= period.range.start) {
            period.account.spent += charge.cost;
        }
        if let (Some(conversation), Some(_)) = (charge.conversation, policy.budget_conversation) {
            self.conversation(conversation).spent += charge.cost;
        }
    }

    /// What was spent in the current day, week and month.
    pub(super) fn spent(&mut self, policy: &Policy, now: Timestamp) -> [NanoUsd; 3] {
        self.turn(&policy.time_zone, now);
        self.periods.each_ref().map(|period| period.account.spent)
    }

    /// The clock was set: a period that began only by that continues the previous one, with what
    /// was spent in it.
    pub(super) fn set_clock(&mut self, zone: &Zone, jump: ClockJump) {
        for period in &mut self.periods {
            if period.range.start > jump.expected {
                // A call came before this was noticed.
                period.account.spent += std::mem::take(&mut period.spent_before);
            } else if jump.expected < period.range.end && jump.now >= period.range.end {
                period.range = zone.period(period.period, jump.now);
            }
        }
    }

    fn turn(&mut self, zone: &Zone, now: Timestamp) {
        for period in self.periods.iter_mut().filter(|period| !period.range.contains(&now)) {
            if now >= period.range.end {
                period.spent_before = period.account.spent;
                period.account = Account::default();
                period.number += 1;
            }
            // A clock that was set back does not renew a budget: what was spent still counts.
            period.range = zone.period(period.period, now);
        }
    }

    fn conversation(&mut self, id: ConversationId) -> &mut Account {
        self.uses += 1;
        if self.conversations.len() >= MAX_CONVERSATIONS && !self.conversations.contains_key(&id) {
            self.forget_some();
        }
        let (account, last_use) = self.conversations.entry(id).or_default();
        *last_use = self.uses;
        account
    }

    /// Forgets the least recently used conversations without a call in flight: the cost of such a
    /// call must not be lost.
    fn forget_some(&mut self) {
        let idle = self.conversations.iter().filter(|(_, (account, _))| account.reserved == NanoUsd::ZERO);
        let idle: Vec<(u64, ConversationId)> = idle.map(|(id, (_, last_use))| (*last_use, *id)).collect();
        for (_, id) in least_recently_used::oldest(idle, MAX_CONVERSATIONS / 16) {
            self.conversations.remove(&id);
        }
    }
}
