//! All agents by name: found under a read lock, locked one by one, evicted when there are too many.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use model::{AgentId, Deactivation, Groups, KillSwitch};
use parking_lot::{Mutex, MutexGuard, RwLock};
use twox_hash::XxHash3_64;

use super::agent::{Agent, Settings, StoredAgent};
use super::name_hash::NameHash;
use super::open_agents::OpenAgents;
use super::released_calls::ReleasedCalls;
use super::slot::{Slot, SyncFlag};
use crate::config::GuardConfig;
use crate::decision::AgentView;
use crate::least_recently_used;

/// Enough that agents that are created at the same time seldom wait for each other. Maps double
/// when they are full: with this number they are well filled at a hundred thousand agents and at a
/// million.
const SHARDS: usize = 80;

type Shard = RwLock<HashMap<AgentId, Arc<Slot>, NameHash>>;

/// All agents.
#[derive(Debug)]
pub(crate) struct Registry {
    config: GuardConfig,
    /// The settings of agents not yet seen, which may change.
    defaults: RwLock<Arc<Settings>>,
    /// Groups may override the defaults for new agents.
    pub(crate) groups: Groups,
    shards: Box<[Shard]>,
    /// Counts uses: a clock that orders them and nothing else.
    uses: AtomicU64,
    /// How many slots count towards `max_agents`.
    counted: AtomicUsize,
    /// Held while agents are evicted: one thread at a time does that.
    evicting: Mutex<()>,
    open_agents: OpenAgents,
    /// Calls from the windows of agents that were forgotten or evicted.
    pub(crate) released_calls: ReleasedCalls,
}

impl Registry {
    /// A registry without agents.
    pub(crate) fn new(config: GuardConfig) -> Registry {
        Registry {
            defaults: RwLock::new(Arc::new(Settings::new(config.defaults))),
            groups: Groups::default(),
            config,
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            uses: AtomicU64::new(0),
            counted: AtomicUsize::new(0),
            evicting: Mutex::new(()),
            open_agents: OpenAgents::default(),
            released_calls: ReleasedCalls::default(),
        }
    }

    /// The settings of new agents and the bounds.
    pub(crate) fn config(&self) -> GuardConfig {
        GuardConfig { defaults: self.defaults.read().kill_switch, ..self.config }
    }

    /// Changes the settings of agents not yet seen.
    pub(crate) fn set_defaults(&self, defaults: KillSwitch) {
        *self.defaults.write() = Arc::new(Settings::new(defaults));
    }

    /// The kill switch of a new agent: its groups may override the defaults.
    pub(crate) fn defaults_of(&self, id: &AgentId) -> KillSwitch {
        let defaults = self.defaults.read().kill_switch;
        self.groups.kill_switch(id, defaults)
    }

    /// The settings of a new agent. Agents without a group share one copy.
    fn settings_of(&self, id: &AgentId) -> Arc<Settings> {
        let shared = Arc::clone(&self.defaults.read());
        let own = self.groups.kill_switch(id, shared.kill_switch);
        if shared.kill_switch == own { shared } else { Arc::new(Settings::new(own)) }
    }

    /// Calls `action` with an agent, which is created if it is unknown. The agent is locked
    /// meanwhile.
    pub(crate) fn with<R>(&self, id: &AgentId, action: impl FnOnce(&mut Agent<'_>) -> R) -> R {
        let result = loop {
            let slot = self.find(id).unwrap_or_else(|| self.create(id));
            let agent = slot.agent.lock();
            if slot.is_removed() {
                continue;
            }
            self.count_use(&slot);
            break self.change(&slot, agent, action);
        };
        if self.counted.load(Ordering::Relaxed) > self.config.max_agents {
            self.evict_least_recently_used();
        }
        result
    }

    /// Calls `action` with an agent that is known.
    pub(crate) fn with_known<R>(&self, id: &AgentId, action: impl FnOnce(&mut Agent<'_>) -> R) -> Option<R> {
        let slot = self.find(id)?;
        let agent = slot.agent.lock();
        (!slot.is_removed()).then(|| self.change(&slot, agent, action))
    }

    /// The current state of an agent, if it is known.
    pub(crate) fn view(&self, id: &AgentId) -> Option<AgentView> {
        let slot = self.find(id)?;
        let agent = slot.agent.lock();
        (!slot.is_removed()).then(|| agent.state.view())
    }

    /// Calls `action` with the agent of a slot, whose windows are opened for it.
    fn change<R>(
        &self,
        slot: &Arc<Slot>,
        mut stored: MutexGuard<'_, StoredAgent>,
        action: impl FnOnce(&mut Agent<'_>) -> R,
    ) -> R {
        let mut at_work = SyncFlag { slot, agent: stored.open(self.config.max_conversations) };
        let result = action(&mut at_work.agent);
        drop(at_work);
        stored.windows.close_if_small();
        let is_open = stored.windows.is_open();
        drop(stored);
        if is_open {
            self.open_agents.add(slot);
        }
        result
    }

    /// Calls `look` with every agent, one after the other.
    pub(crate) fn for_each(&self, mut look: impl FnMut(&AgentId, &StoredAgent)) {
        for shard in &self.shards {
            let slots: Vec<_> = shard.read().iter().map(|(id, slot)| (id.clone(), Arc::clone(slot))).collect();
            for (id, slot) in slots {
                look(&id, &slot.agent.lock());
            }
        }
    }

    /// Why the agent's calls are refused, if they are.
    pub(crate) fn refuses(&self, id: &AgentId) -> Option<Deactivation> {
        let slot = {
            let shard = self.shard(id).read();
            let slot = shard.get(id)?;
            if !slot.inactive.load(Ordering::Acquire) {
                return None;
            }
            Arc::clone(slot)
        };
        let agent = slot.agent.lock();
        agent.state.deactivation()
    }

    /// Forgets an agent.
    pub(crate) fn remove(&self, id: &AgentId) {
        let mut shard = self.shard(id).write();
        let Some(slot) = shard.remove(id) else { return };
        self.stop_counting(&slot);
        let mut agent = slot.agent.lock();
        slot.removed.store(true, Ordering::Relaxed);
        self.released_calls.add(agent.drop_windows());
    }

    fn shard(&self, id: &AgentId) -> &Shard {
        &self.shards[XxHash3_64::oneshot(id.as_str().as_bytes()) as usize % SHARDS]
    }

    fn find(&self, id: &AgentId) -> Option<Arc<Slot>> {
        self.shard(id).read().get(id).cloned()
    }

    fn create(&self, id: &AgentId) -> Arc<Slot> {
        let mut shard = self.shard(id).write();
        let slot = shard.entry(id.clone()).or_insert_with(|| Arc::new(Slot::new(self.settings_of(id))));
        Arc::clone(slot)
    }

    /// Called under the lock of the slot.
    fn count_use(&self, slot: &Slot) {
        slot.last_use.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        if !slot.counted.swap(true, Ordering::Relaxed) {
            self.counted.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn stop_counting(&self, slot: &Slot) {
        if slot.counted.swap(false, Ordering::Relaxed) {
            self.counted.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Evicts the least recently used agents, some more than needed so that it is rare.
    fn evict_least_recently_used(&self) {
        let Some(_evicting) = self.evicting.try_lock() else {
            return;
        };
        let excess = self.counted.load(Ordering::Relaxed).saturating_sub(self.config.max_agents);
        if excess == 0 {
            return;
        }
        for (last_use, id) in least_recently_used::oldest(self.counted_slots(), excess + self.config.max_agents / 32) {
            self.evict(&id, last_use);
        }
    }

    fn counted_slots(&self) -> Vec<(u64, AgentId)> {
        let mut slots = Vec::with_capacity(self.counted.load(Ordering::Relaxed));
        for shard in &self.shards {
            let shard = shard.read();
            let counted = shard.iter().filter(|(_, slot)| slot.counted.load(Ordering::Relaxed));
            slots.extend(counted.map(|(id, slot)| (slot.last_use.load(Ordering::Relaxed), id.clone())));
        }
        slots
    }

    /// Evicts an agent unless it is in use or was used since.
    fn evict(&self, id: &AgentId, last_use: u64) {
        let mut shard = self.shard(id).write();
        let Some(slot) = shard.get(id).cloned() else {
            return;
        };
        let Some(mut agent) = slot.agent.try_lock() else {
            return;
        };
        if slot.last_use.load(Ordering::Relaxed) != last_use {
            return;
        }
        if agent.state.is_plain(self.defaults_of(id)) {
            slot.removed.store(true, Ordering::Relaxed);
            shard.remove(id);
        }
        // A kill, an epoch or a setting never depends on memory: only the windows and the bodies of
        // their calls are dropped.
        self.released_calls.add(agent.drop_windows());
        self.stop_counting(&slot);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use model::Timestamp;

    use super::*;

    #[test]
    fn a_kill_decided_before_a_panic_holds() {
        let registry = Registry::new(GuardConfig::default());
        let id = AgentId::parse("bot").unwrap();
        let decide_and_panic = |agent: &mut Agent<'_>| {
            agent.deactivate(Timestamp::default());
            panic!("a bug in the detector");
        };
        assert!(catch_unwind(AssertUnwindSafe(|| registry.with(&id, decide_and_panic))).is_err());
        assert!(registry.refuses(&id).is_some());
    }
}
