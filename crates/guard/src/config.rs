//! The settings of a guard.

use model::KillSwitch;

/// The settings of a guard.
#[derive(Clone, Copy, Debug)]
pub struct GuardConfig {
    /// The settings of agents not yet seen.
    pub defaults: KillSwitch,
    /// How many agents have their windows in memory; the least recently used leave first.
    pub max_agents: usize,
    /// How many conversations of one agent have a window; the least recently used leave first.
    pub max_conversations: usize,
}

impl Default for GuardConfig {
    fn default() -> Self {
        GuardConfig { defaults: KillSwitch::default(), max_agents: 100_000, max_conversations: 1_024 }
    }
}
