//! The policies of all agents and how much of them is used. An agent without limits is not in here,
//! and looking it up takes no lock.

mod account;
mod budget;
mod charge;
mod groups;
mod hours;
mod limits;
mod rate;
mod reservation;
mod shared;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use arc_swap::{ArcSwap, ArcSwapOption};
use model::{AgentId, ClockJump, Policy, Spending, Timestamp};
use parking_lot::Mutex;
use twox_hash::XxHash3_64;

use crate::least_recently_used;

pub use charge::{Budget, Charge, Refused};
pub use groups::GroupLimits;
pub use limits::Limits;
pub use reservation::Reservation;
pub use shared::{LimitCharge, Unit};

/// The agents are spread over so many maps: adding one copies its map.
const SHARDS: usize = 64;

type Shard = ArcSwap<HashMap<AgentId, Arc<Limits>>>;

/// The policies of all agents. Shared by reference.
#[derive(Debug)]
pub struct Policies {
    /// The policy of agents that have none of their own; `None` if it limits nothing.
    default: ArcSwapOption<Policy>,
    max_agents: usize,
    shards: Box<[Shard]>,
    /// How many agents are counted and have the default.
    by_default: AtomicUsize,
    /// Counts uses: a clock that orders them and nothing else.
    uses: AtomicU64,
    clearing: Mutex<()>,
    /// The groups that limit anything, by name.
    groups: ArcSwap<Vec<GroupLimits>>,
}

impl Policies {
    /// Policies without any agent's own. With a `default`, up to `max_agents` others are counted;
    /// the least recently used are forgotten first.
    pub fn new(default: Policy, max_agents: usize) -> Policies {
        Policies {
            default: ArcSwapOption::new((!default.is_empty()).then(|| Arc::new(default))),
            max_agents,
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            by_default: AtomicUsize::new(0),
            uses: AtomicU64::new(0),
            clearing: Mutex::new(()),
            groups: ArcSwap::default(),
        }
    }

    /// The policy of agents that have none of their own.
    pub fn default_policy(&self) -> Arc<Policy> {
        self.default.load_full().unwrap_or_default()
    }

    /// The policy that holds for an agent.
    pub fn policy(&self, agent: &AgentId) -> Arc<Policy> {
        self.counted(agent).map_or_else(|| self.default_policy(), |limits| limits.policy())
    }

    /// The limits of an agent; `None` if there are none.
    pub fn of(&self, agent: &AgentId, now: Timestamp) -> Option<Arc<Limits>> {
        if let Some(limits) = self.shard(agent).load().get(agent) {
            limits.touch(self.uses.fetch_add(1, Ordering::Relaxed));
            return Some(Arc::clone(limits));
        }
        let default = self.default.load_full()?;
        let limits = self.insert(agent, || Limits::new(Arc::clone(&default), false, now));
        // The default was changed while the agent was added, so the change did not reach it.
        let changed = self.default.load_full().filter(|current| !limits.is_own() && !Arc::ptr_eq(current, &default));
        if let Some(current) = changed {
            limits.change(current, None, now);
        }
        Some(limits)
    }

    /// The limits of an agent, if it is already counted.
    pub fn counted(&self, agent: &AgentId) -> Option<Arc<Limits>> {
        self.shard(agent).load().get(agent).cloned()
    }

    /// Gives an agent a policy of its own, which holds from the next call on. `spending` is what it
    /// has spent so far; `None` if what is counted here is right.
    pub fn put(&self, agent: &AgentId, policy: Policy, spending: Option<&Spending>, now: Timestamp) {
        let policy = Arc::new(policy);
        let new = || Limits::new(Arc::clone(&policy), true, now);
        let limits = self.insert(agent, new);
        if !limits.is_own.swap(true, Ordering::Relaxed) {
            self.by_default.fetch_sub(1, Ordering::Relaxed);
        }
        limits.change(policy, spending, now);
    }

    /// Removes an agent's own policy: from the next call on it has the default. `spending` as in
    /// [`Policies::put`].
    pub fn reset(&self, agent: &AgentId, spending: Option<&Spending>, now: Timestamp) {
        let Some(default) = self.default.load_full() else { return self.forget(agent) };
        let Some(limits) = self.counted(agent) else { return };
        if limits.is_own.swap(false, Ordering::Relaxed) {
            self.by_default.fetch_add(1, Ordering::Relaxed);
        }
        limits.change(default, spending, now);
    }

    /// Raises what an agent has spent to `spending`, which was read after its policy was put: calls
    /// that ended meanwhile count, too.
    pub fn raise(&self, agent: &AgentId, spending: &Spending, now: Timestamp) {
        if let Some(limits) = self.counted(agent) {
            limits.raise(spending, now);
        }
    }

    /// Changes the policy of agents that have none of their own, from the next call on. If the time
    /// zone differs, what they have spent must be [restored](Policies::restore).
    pub fn set_default(&self, policy: Policy, now: Timestamp) {
        let before = self.default_policy();
        let spending = (before.time_zone != policy.time_zone).then(Spending::default);
        let policy = (!policy.is_empty()).then(|| Arc::new(policy));
        self.default.store(policy.clone());
        for (agent, limits) in self.all().into_iter().filter(|(_, limits)| !limits.is_own()) {
            match &policy {
                Some(policy) => limits.change(Arc::clone(policy), spending.as_ref(), now),
                None => self.forget(&agent),
            }
        }
    }

    /// Every agent that is counted, with its limits.
    pub fn all(&self) -> Vec<(AgentId, Arc<Limits>)> {
        let shards = self.shards.iter().map(|shard| shard.load_full());
        shards.flat_map(|shard| shard.iter().map(|(id, it)| (id.clone(), Arc::clone(it))).collect::<Vec<_>>()).collect()
    }

    /// The machine's clock was set. That does not renew any budget.
    pub fn set_clock(&self, jump: ClockJump) {
        self.all().iter().for_each(|(_, limits)| limits.set_clock(jump));
        self.groups.load().iter().for_each(|group| group.limits.set_clock(jump));
    }

    /// Restores what an agent had spent before the start.
    pub fn restore(&self, agent: &AgentId, spending: &Spending, now: Timestamp) {
        if let Some(limits) = self.of(agent, now) {
            limits.change(limits.policy(), Some(spending), now);
        }
    }

    /// Counts the calls and tokens of an agent at a provider before the start, so that rates
    /// continue. Called for the oldest first.
    pub fn recount(&self, agent: &AgentId, provider: &str, at: Timestamp, calls_and_tokens: (u64, u64)) {
        if let Some(limits) = self.of(agent, at) {
            limits.recount(provider, at, calls_and_tokens);
        }
        for group in self.groups_of(agent) {
            group.limits.recount(provider, at, calls_and_tokens);
        }
    }

    /// Replaces the reservation of a call by what it really took. The policy may have been added,
    /// removed or changed meanwhile: the cost counts towards the current one.
    pub fn settle(&self, agent: &AgentId, reservation: Option<Reservation>, actual: &Charge) {
        match (reservation, self.counted(agent)) {
            (Some(reservation), Some(limits)) if reservation.is_of(&limits) => reservation.settle(actual),
            (_, Some(limits)) => limits.settle(None, actual),
            (_, None) => {}
        }
    }

    /// Forgets an agent altogether.
    pub fn forget(&self, agent: &AgentId) {
        let mut removed = None;
        self.shard(agent).rcu(|shard| {
            let mut shard = HashMap::clone(shard);
            removed = shard.remove(agent);
            shard
        });
        if removed.is_some_and(|limits| !limits.is_own()) {
            self.by_default.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn shard(&self, id: &AgentId) -> &Shard {
        &self.shards[XxHash3_64::oneshot(id.as_str().as_bytes()) as usize % SHARDS]
    }

    /// Adds an agent, or finds it if another call has added it.
    fn insert(&self, agent: &AgentId, limits: impl FnOnce() -> Limits) -> Arc<Limits> {
        let limits = Arc::new(limits());
        let mut known = None;
        self.shard(agent).rcu(|shard| {
            let mut shard = HashMap::clone(shard);
            known = shard.get(agent).cloned();
            if known.is_none() {
                shard.insert(agent.clone(), Arc::clone(&limits));
            }
            shard
        });
        if let Some(known) = known {
            return known;
        }
        limits.touch(self.uses.fetch_add(1, Ordering::Relaxed));
        if !limits.is_own() && self.by_default.fetch_add(1, Ordering::Relaxed) >= self.max_agents {
            self.make_room();
        }
        limits
    }

    /// Forgets the least recently used agents with the default policy.
    fn make_room(&self) {
        let Some(_only_one) = self.clearing.try_lock() else { return };
        let mut agents: Vec<(u64, AgentId)> = Vec::new();
        for shard in &self.shards {
            let shard = shard.load();
            let by_default = shard.iter().filter(|(_, limits)| !limits.is_own());
            agents.extend(by_default.map(|(id, limits)| (limits.last_use.load(Ordering::Relaxed), id.clone())));
        }
        let excess = agents.len().saturating_sub(self.max_agents) + self.max_agents / 32;
        for (_, id) in least_recently_used::oldest(agents, excess) {
            self.forget(&id);
        }
    }
}
