//! The limits of one agent: its policy, and what its calls have used of it. They are checked and
//! used in one step, under one lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use model::{BudgetPeriod, ClockJump, NanoUsd, Policy, RateLimit, Spending, Timestamp};
use parking_lot::Mutex;

use super::budget::{Booked, Budgets};
use super::charge::{Charge, Refused};
use super::hours;
use super::rate::Minute;
use super::reservation::{Held, Reservation};

/// The limits of one agent or group.
#[derive(Debug)]
pub struct Limits {
    pub(super) state: Mutex<State>,
    pub(super) is_own: AtomicBool,
    pub(super) last_use: AtomicU64,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) policy: Arc<Policy>,
    /// One for each rate limit, in the policy's order.
    used: Vec<Used>,
    pub(super) budgets: Budgets,
}

/// What was used of one rate limit.
#[derive(Clone, Debug, Default)]
struct Used {
    requests: Minute,
    tokens: Minute,
    /// The same, with the most that calls in flight may still take.
    tokens_at_most: Minute,
}

/// After how many seconds a call passes; `None` if it passes now.
#[derive(Clone, Copy, Default)]
struct Wait {
    /// If the calls in flight take what is expected.
    about: Option<u64>,
    /// If the calls in flight take the most that they may.
    at_most: Option<u64>,
}

impl Wait {
    fn longer(self, other: Wait) -> Wait {
        Wait { about: self.about.max(other.about), at_most: self.at_most.max(other.at_most) }
    }
}

impl Used {
    /// `replicas` that cannot agree share the limit.
    fn wait_for_call(&mut self, limit: &RateLimit, now: Timestamp, replicas: u64) -> Wait {
        let most = limit.requests_per_minute.map(|most| share_of(most, replicas));
        let wait = most.and_then(|most| self.requests.wait(now, 1, most));
        Wait { about: wait, at_most: wait }
    }

    fn wait_for_tokens(&mut self, limit: &RateLimit, tokens: u64, now: Timestamp, replicas: u64) -> Wait {
        let Some(most) = limit.tokens_per_minute.map(|most| share_of(most, replicas)) else { return Wait::default() };
        Wait { about: self.tokens.wait(now, tokens, most), at_most: self.tokens_at_most.wait(now, tokens, most) }
    }
}

/// The share of one of `replicas` in a limit, at least 1.
fn share_of(most: u64, replicas: u64) -> u64 {
    if replicas <= 1 { most } else { (most / replicas).max(most.min(1)) }
}

impl Limits {
    pub(super) fn new(policy: Arc<Policy>, is_own: bool, now: Timestamp) -> Limits {
        let used = vec![Used::default(); policy.rate_limits.len()];
        let budgets = Budgets::new(&policy.time_zone, now);
        let state = Mutex::new(State { policy, used, budgets });
        Limits { state, is_own: AtomicBool::new(is_own), last_use: AtomicU64::new(0) }
    }

    /// Whether the policy is the agent's own, and not the default.
    pub fn is_own(&self) -> bool {
        self.is_own.load(Ordering::Relaxed)
    }

    /// The current policy.
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.state.lock().policy)
    }

    /// What was spent in the policy's day, week and month.
    pub fn spent(&self, now: Timestamp) -> [NanoUsd; 3] {
        let State { policy, budgets, .. } = &mut *self.state.lock();
        budgets.spent(policy, now)
    }

    /// Whether a budget of the current day, week or month is spent.
    pub fn is_spent(&self, now: Timestamp) -> bool {
        let State { policy, budgets, .. } = &mut *self.state.lock();
        let mut spent = BudgetPeriod::ALL.into_iter().zip(budgets.spent(policy, now));
        spent.any(|(period, spent)| policy.budget(period).is_some_and(|limit| spent >= limit))
    }

    /// Whether hours and calls per minute allow a call to `provider`, before its body is read.
    /// Nothing is used. Token limits are checked later, because the wait for them depends on the
    /// call's tokens.
    pub fn precheck(&self, provider: &str, now: Timestamp) -> Result<(), Refused> {
        let state = &mut *self.state.lock();
        state.check_hours(now)?;
        state.check_rates(provider, |limit, used| used.wait_for_call(limit, now, 1))
    }

    /// Admits a call and reserves what it may take, or refuses it and changes nothing.
    pub fn admit(self: &Arc<Self>, charge: Charge, now: Timestamp) -> Result<Reservation, (Refused, Charge)> {
        match self.state.lock().admit(&charge, now, 1) {
            Ok(booked) => {
                let held = Held { charge, admitted: now, booked };
                Ok(Reservation { limits: Arc::clone(self), held, is_open: true })
            }
            Err(refused) => Err((refused, charge)),
        }
    }

    /// Admits a call by all of `all` and reserves what it may take in each, or refuses it and
    /// changes nothing. An error holds the position of the limits that refuse.
    pub fn admit_all(
        all: &[Arc<Limits>],
        charge: Charge,
        now: Timestamp,
    ) -> Result<Vec<Reservation>, (usize, Refused, Charge)> {
        Limits::admit_share(all, charge, now, 1)
    }

    /// As [`admit_all`](Limits::admit_all), for one of `replicas` that cannot agree: it has its
    /// share of each limit.
    pub fn admit_share(
        all: &[Arc<Limits>],
        charge: Charge,
        now: Timestamp,
        replicas: u64,
    ) -> Result<Vec<Reservation>, (usize, Refused, Charge)> {
        // Locked together, so that no call takes from some limits and is refused by others. Callers
        // pass an agent before its groups and groups by name, so no two calls wait for each other.
        let mut states: Vec<_> = all.iter().map(|limits| limits.state.lock()).collect();
        for (position, state) in states.iter_mut().enumerate() {
            if let Err(refused) = state.check(&charge, now, replicas) {
                return Err((position, refused, charge));
            }
        }
        let booked: Vec<Booked> = states.iter_mut().map(|state| state.book(&charge, now)).collect();
        drop(states);
        let reservation = |(limits, booked): (&Arc<Limits>, Booked)| Reservation {
            limits: Arc::clone(limits),
            held: Held { charge: charge.clone(), admitted: now, booked },
            is_open: true,
        };
        Ok(all.iter().zip(booked).map(reservation).collect())
    }

    /// Replaces what was held for a call by what it really took.
    pub(super) fn settle(&self, held: Option<&Held>, actual: &Charge) {
        let State { policy, used, budgets } = &mut *self.state.lock();
        if let Some(held) = held {
            budgets.release(held.booked, held.charge.cost);
        }
        budgets.spend(policy, actual);
        // A call may be admitted long after it came: its tokens were counted when it was admitted.
        let counted_at = held.map_or(actual.time, |held| held.admitted);
        let (counted, at_most) = held.map_or((0, 0), |held| held.charge.counted_tokens());
        for (_, used) in policy.rate_limits.iter().zip(used).filter(|(limit, _)| limit.covers(&actual.provider)) {
            used.tokens.correct(counted_at, counted, actual.tokens);
            used.tokens_at_most.correct(counted_at, at_most, actual.tokens);
        }
    }

    /// Releases what was counted for a call that was refused elsewhere.
    pub(super) fn cancel(&self, held: &Held) {
        let nothing = Charge { cost: NanoUsd::ZERO, tokens: 0, tokens_at_most: 0, ..held.charge.clone() };
        self.settle(Some(held), &nothing);
        let State { policy, used, .. } = &mut *self.state.lock();
        for (_, used) in policy.rate_limits.iter().zip(used).filter(|(limit, _)| limit.covers(&nothing.provider)) {
            used.requests.correct(held.admitted, 1, 0);
        }
    }

    /// Counts calls from before the start.
    pub(super) fn recount(&self, provider: &str, at: Timestamp, (calls, tokens): (u64, u64)) {
        let State { policy, used, .. } = &mut *self.state.lock();
        for (_, used) in policy.rate_limits.iter().zip(used).filter(|(limit, _)| limit.covers(provider)) {
            used.requests.add(at, calls);
            used.tokens.add(at, tokens);
            used.tokens_at_most.add(at, tokens);
        }
    }

    /// Changes the policy; what was used stays used.
    pub(super) fn change(&self, policy: Arc<Policy>, spending: Option<&Spending>, now: Timestamp) {
        let state = &mut *self.state.lock();
        let before = state.policy.rate_limits.iter().map(|limit| limit.provider.as_str()).zip(&state.used);
        let before: Vec<(&str, &Used)> = before.collect();
        let kept = |provider: &str| {
            let known = before.iter().find(|(name, _)| *name == provider);
            known.map(|(_, used)| (*used).clone()).unwrap_or_default()
        };
        state.used = policy.rate_limits.iter().map(|limit| kept(&limit.provider)).collect();
        if let Some(spending) = spending {
            state.budgets.restate(&policy.time_zone, spending, now);
        }
        state.policy = policy;
    }

    /// Raises what was spent to `spending`, where that is more.
    pub(super) fn raise(&self, spending: &Spending, now: Timestamp) {
        let State { policy, budgets, .. } = &mut *self.state.lock();
        budgets.raise(policy, spending, now);
    }

    /// The clock was set: what was spent still counts.
    pub(super) fn set_clock(&self, jump: ClockJump) {
        let State { policy, budgets, .. } = &mut *self.state.lock();
        budgets.set_clock(&policy.time_zone, jump);
    }

    pub(super) fn touch(&self, use_number: u64) {
        self.last_use.store(use_number, Ordering::Relaxed);
    }
}

impl State {
    fn admit(&mut self, charge: &Charge, now: Timestamp, replicas: u64) -> Result<Booked, Refused> {
        self.check(charge, now, replicas)?;
        Ok(self.book(charge, now))
    }

    fn check(&mut self, charge: &Charge, now: Timestamp, replicas: u64) -> Result<(), Refused> {
        self.check_hours(now)?;
        self.check_rates(&charge.provider, |limit, used| {
            let tokens = used.wait_for_tokens(limit, charge.tokens, now, replicas);
            used.wait_for_call(limit, now, replicas).longer(tokens)
        })?;
        self.budgets.check(&self.policy, charge, now, replicas)
    }

    fn book(&mut self, charge: &Charge, now: Timestamp) -> Booked {
        let (tokens, at_most) = charge.counted_tokens();
        for (limit, used) in self.policy.rate_limits.iter().zip(&mut self.used) {
            if limit.covers(&charge.provider) {
                used.requests.add(now, 1);
                used.tokens.add(now, tokens);
                used.tokens_at_most.add(now, at_most);
            }
        }
        self.budgets.reserve(&self.policy, charge)
    }

    fn check_hours(&self, now: Timestamp) -> Result<(), Refused> {
        match &self.policy.allowed_hours {
            Some(allowed) if !hours::allow(allowed, &self.policy.time_zone, now) => Err(Refused::OutsideHours),
            _ => Ok(()),
        }
    }

    /// Refuses for the longest `wait` of any rate limit. What calls in flight may use at most does
    /// not decide whether a call waits, because most use less, but it decides for how long: a
    /// caller that comes back then finds room.
    fn check_rates(&mut self, provider: &str, wait: impl Fn(&RateLimit, &mut Used) -> Wait) -> Result<(), Refused> {
        let limits = self.policy.rate_limits.iter().zip(&mut self.used).filter(|(limit, _)| limit.covers(provider));
        let Wait { about, at_most } = limits.map(|(limit, used)| wait(limit, used)).fold(Wait::default(), Wait::longer);
        match about.max(at_most.filter(|_| about.is_some())) {
            Some(retry_after_seconds) => Err(Refused::RateLimited { retry_after_seconds }),
            None => Ok(()),
        }
    }
}
