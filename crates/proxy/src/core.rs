//! The state that all calls share.

use std::sync::Arc;

use guard::Guard;
use model::{CallId, Clock, Providers, RecorderHandle};
use parking_lot::Mutex;
use wire::{Chains, RebuiltPrompts};

use crate::budgets::budget_clock::BudgetClock;
use crate::budgets::budget_waiters::BudgetWaiters;
use crate::config::ProxyConfig;
use crate::evidence::cache::EvidenceCache;
use crate::kills::Kills;
use crate::runtime::blocking::Blocking;
use crate::runtime::catch_panic::CatchPanic;
use crate::upload::body_budget::BodyBudget;
use crate::upstream::client::UpstreamClient;
use crate::upstream::destination::Destinations;

/// Memory for requests that carry only what is new, in bytes.
const CHAINS: usize = 32 << 20;

/// Memory for prompts that are rebuilt at every step, in lines of about 20 bytes.
const REBUILT_LINES: usize = 1 << 20;

/// The state that all calls share.
pub(crate) struct Core {
    pub(crate) config: ProxyConfig,
    pub(crate) guard: Arc<Guard>,
    pub(crate) recorder: RecorderHandle,
    pub(crate) clock: Clock,
    pub(crate) destinations: Destinations,
    pub(crate) upstream: UpstreamClient,
    pub(crate) evidence: EvidenceCache,
    pub(crate) kills: Kills,
    pub(crate) catch_panic: CatchPanic,
    pub(crate) blocking: Blocking,
    pub(crate) body_budget: BodyBudget,
    pub(crate) chains: Mutex<Chains>,
    pub(crate) rebuilt: Mutex<RebuiltPrompts>,
    pub(crate) budget_waiters: BudgetWaiters,
    pub(crate) budget_clock: BudgetClock,
    /// Sorts before the id of every call since the start.
    pub(crate) started: CallId,
}

impl Core {
    /// Whether the engine that replicas share is unreachable.
    pub(crate) fn is_degraded(&self) -> bool {
        self.config.shared.as_ref().is_some_and(|shared| shared.replica.is_degraded())
    }

    /// The number of replicas that limits are divided among; 1 while they agree on them.
    pub(crate) fn dividing_replicas(&self) -> u64 {
        let degraded = self.config.shared.as_ref().filter(|shared| shared.replica.is_degraded());
        degraded.map_or(1, |shared| shared.replica.alive())
    }

    pub(crate) fn new(
        config: ProxyConfig,
        guard: Arc<Guard>,
        providers: Providers,
        recorder: RecorderHandle,
        clock: Clock,
    ) -> Core {
        Core {
            destinations: Destinations::new(providers, config.own_tokens.clone()),
            upstream: UpstreamClient::new(&config),
            evidence: EvidenceCache::new(config.evidence_budget, config.copy_evidence),
            kills: Kills::default(),
            catch_panic: CatchPanic::default(),
            blocking: Blocking::default(),
            body_budget: BodyBudget::new(config.bodies_in_flight),
            chains: Mutex::new(Chains::new(CHAINS)),
            rebuilt: Mutex::new(RebuiltPrompts::new(REBUILT_LINES)),
            budget_waiters: BudgetWaiters::default(),
            budget_clock: BudgetClock::new(clock.clone()),
            started: CallId::new(),
            config,
            guard,
            recorder,
            clock,
        }
    }
}
