//! Wakes calls that wait for a budget.

use std::hash::{DefaultHasher, Hash, Hasher};

use model::AgentId;
use tokio::sync::Notify;

/// How many notifiers the agents share: enough that one agent's waiting calls are not woken by
/// every call of all other agents.
const NOTIFIERS: usize = 64;

/// Wakes calls that wait for a budget when another call of their agent is settled.
pub(crate) struct BudgetWaiters(Box<[Notify]>);

impl BudgetWaiters {
    /// The notifier of an agent.
    pub(crate) fn of(&self, agent: &AgentId) -> &Notify {
        self.of_name(agent.as_str())
    }

    /// The notifier of an agent or a group.
    pub(crate) fn of_name(&self, name: &str) -> &Notify {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        &self.0[hasher.finish() as usize % NOTIFIERS]
    }
}

impl Default for BudgetWaiters {
    fn default() -> Self {
        BudgetWaiters((0..NOTIFIERS).map(|_| Notify::new()).collect())
    }
}
