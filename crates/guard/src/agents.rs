//! All agents by name: found under a read lock, locked one by one, forgotten when there are too
//! many.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use model::{AgentId, Deactivation, KillSwitch};
use parking_lot::{Mutex, RwLock};
use twox_hash::XxHash3_64;

use crate::agent::Agent;
use crate::guard::GuardConfig;
use crate::name_hash::NameHash;
use crate::orphans::Orphans;

/// Enough that agents created at the same time seldom wait for each other.
const SHARDS: usize = 64;

type Shard = RwLock<HashMap<AgentId, Arc<Seat>, NameHash>>;

/// All agents.
#[derive(Debug)]
pub(crate) struct Agents {
    config: GuardConfig,
    /// The settings of agents not yet seen, which may change.
    defaults: RwLock<KillSwitch>,
    shards: Box<[Shard]>,
    /// Counts uses: a clock that orders them and nothing else.
    uses: AtomicU64,
    /// How many seats are taken.
    taken: AtomicUsize,
    clearing: Mutex<()>,
    /// Calls that stood in the windows of agents that were forgotten or had to make room.
    pub(crate) orphans: Orphans,
}

/// Where an agent sits.
#[derive(Debug)]
struct Seat {
    /// A copy of the agent's state that can be asked without its lock. Changed only under it.
    inactive: AtomicBool,
    /// Whether the agent holds what may be taken from it: windows, or just its place if nothing
    /// need be remembered.
    taken: AtomicBool,
    last_use: AtomicU64,
    occupant: Mutex<Occupant>,
}

#[derive(Debug)]
struct Occupant {
    agent: Agent,
    /// The seat is no longer in the map: whoever found it there before must look again, or a kill
    /// would be lost.
    gone: bool,
}

impl Agents {
    /// No agent yet.
    pub(crate) fn new(config: GuardConfig) -> Agents {
        Agents {
            defaults: RwLock::new(config.defaults),
            config,
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            uses: AtomicU64::new(0),
            taken: AtomicUsize::new(0),
            clearing: Mutex::new(()),
            orphans: Orphans::default(),
        }
    }

    /// What agents are made with.
    pub(crate) fn config(&self) -> GuardConfig {
        GuardConfig { defaults: *self.defaults.read(), ..self.config }
    }

    /// Changes the settings of agents not yet seen.
    pub(crate) fn set_defaults(&self, defaults: KillSwitch) {
        *self.defaults.write() = defaults;
    }

    /// Does something with an agent, which is created if it is unknown. The agent is locked
    /// meanwhile.
    pub(crate) fn with<R>(&self, id: &AgentId, action: impl FnOnce(&mut Agent) -> R) -> R {
        let result = loop {
            let seat = self.find(id).unwrap_or_else(|| self.create(id));
            let mut occupant = seat.occupant.lock();
            if occupant.gone {
                continue;
            }
            self.take(&seat);
            break seat.change(&mut occupant, action);
        };
        if self.taken.load(Ordering::Relaxed) > self.config.max_agents {
            self.make_room();
        }
        result
    }

    /// Does something with an agent that is known.
    pub(crate) fn with_known<R>(&self, id: &AgentId, action: impl FnOnce(&mut Agent) -> R) -> Option<R> {
        let seat = self.find(id)?;
        let mut occupant = seat.occupant.lock();
        (!occupant.gone).then(|| seat.change(&mut occupant, action))
    }

    /// Looks at every agent, one after the other.
    pub(crate) fn for_each(&self, mut look: impl FnMut(&AgentId, &Agent)) {
        for shard in &self.shards {
            let seats: Vec<_> = shard.read().iter().map(|(id, seat)| (id.clone(), Arc::clone(seat))).collect();
            for (id, seat) in seats {
                look(&id, &seat.occupant.lock().agent);
            }
        }
    }

    /// Why the agent's calls are refused, if they are.
    pub(crate) fn refuses(&self, id: &AgentId) -> Option<Deactivation> {
        let seat = {
            let shard = self.shard(id).read();
            let seat = shard.get(id)?;
            if !seat.inactive.load(Ordering::Acquire) {
                return None;
            }
            Arc::clone(seat)
        };
        let occupant = seat.occupant.lock();
        occupant.agent.deactivation()
    }

    /// Forgets an agent.
    pub(crate) fn remove(&self, id: &AgentId) {
        let mut shard = self.shard(id).write();
        let Some(seat) = shard.remove(id) else { return };
        self.give_back(&seat);
        let mut occupant = seat.occupant.lock();
        occupant.gone = true;
        occupant.agent.let_go();
        self.orphans.add(occupant.agent.take_left());
    }

    fn shard(&self, id: &AgentId) -> &Shard {
        &self.shards[XxHash3_64::oneshot(id.as_str().as_bytes()) as usize % SHARDS]
    }

    fn find(&self, id: &AgentId) -> Option<Arc<Seat>> {
        self.shard(id).read().get(id).cloned()
    }

    fn create(&self, id: &AgentId) -> Arc<Seat> {
        let mut shard = self.shard(id).write();
        let seat = shard.entry(id.clone()).or_insert_with(|| {
            Arc::new(Seat {
                inactive: AtomicBool::new(false),
                taken: AtomicBool::new(false),
                last_use: AtomicU64::new(0),
                occupant: Mutex::new(Occupant { agent: Agent::new(&self.config()), gone: false }),
            })
        });
        Arc::clone(seat)
    }

    /// Called under the lock of the seat.
    fn take(&self, seat: &Seat) {
        seat.last_use.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        if !seat.taken.swap(true, Ordering::Relaxed) {
            self.taken.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn give_back(&self, seat: &Seat) {
        if seat.taken.swap(false, Ordering::Relaxed) {
            self.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Takes their seats from the least recently used, some more than needed so that it is seldom
    /// done.
    fn make_room(&self) {
        let Some(_only_one) = self.clearing.try_lock() else {
            return;
        };
        let excess = self.taken.load(Ordering::Relaxed).saturating_sub(self.config.max_agents);
        if excess == 0 {
            return;
        }
        let mut seats = self.taken_seats();
        let count = (excess + self.config.max_agents / 32).min(seats.len());
        if count < seats.len() {
            seats.select_nth_unstable_by_key(count, |(last_use, _)| *last_use);
        }
        for (last_use, id) in &seats[..count] {
            self.evict(id, *last_use);
        }
    }

    fn taken_seats(&self) -> Vec<(u64, AgentId)> {
        let mut seats = Vec::with_capacity(self.taken.load(Ordering::Relaxed));
        for shard in &self.shards {
            let shard = shard.read();
            let taken = shard.iter().filter(|(_, seat)| seat.taken.load(Ordering::Relaxed));
            seats.extend(taken.map(|(id, seat)| (seat.last_use.load(Ordering::Relaxed), id.clone())));
        }
        seats
    }

    /// Takes the seat of an agent unless it is in use or was used since.
    fn evict(&self, id: &AgentId, last_use: u64) {
        let mut shard = self.shard(id).write();
        let Some(seat) = shard.get(id).cloned() else {
            return;
        };
        let Some(mut occupant) = seat.occupant.try_lock() else {
            return;
        };
        if seat.last_use.load(Ordering::Relaxed) != last_use {
            return;
        }
        if occupant.agent.is_plain(self.config().defaults) {
            occupant.gone = true;
            shard.remove(id);
        }
        // A kill, an epoch or a setting never depends on memory: only the windows go, and the
        // bodies of their calls.
        occupant.agent.let_go();
        self.orphans.add(occupant.agent.take_left());
        self.give_back(&seat);
    }
}

impl Seat {
    fn change<R>(&self, occupant: &mut Occupant, action: impl FnOnce(&mut Agent) -> R) -> R {
        let left = Left { seat: self, agent: &mut occupant.agent };
        action(left.agent)
    }
}

/// An agent at work. However it is left, also by a panic, its seat says whether it is inactive: a
/// kill that was decided holds.
struct Left<'a> {
    seat: &'a Seat,
    agent: &'a mut Agent,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.seat.inactive.store(self.agent.deactivation().is_some(), Ordering::Release);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use model::Timestamp;

    use super::*;

    #[test]
    fn what_is_decided_before_a_panic_holds() {
        let agents = Agents::new(GuardConfig::default());
        let id = AgentId::parse("bot").unwrap();
        let decide_and_panic = |agent: &mut Agent| {
            agent.deactivate(Timestamp::default());
            panic!("a bug in the detector");
        };
        assert!(catch_unwind(AssertUnwindSafe(|| agents.with(&id, decide_and_panic))).is_err());
        assert!(agents.refuses(&id).is_some());
    }
}
