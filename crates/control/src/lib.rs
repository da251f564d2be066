//! Every command that people give, and every read that merges memory and disk. The only code that
//! changes `guard` and `store` together.
//!
//! Calls are judged by memory; a restart reads the disk. Each command therefore writes to disk
//! first and changes memory once that is acknowledged, so a command that fails has changed nothing.
//! The exception is a deactivation by hand: it takes effect in memory at once, because the agent
//! must stop whatever the disk does.

mod accounts;
mod agents;
mod alerting;
mod command;
mod error;
mod follow;
mod incidents;
mod people;
#[cfg(test)]
#[path = "../../store/tests/contract/postgres_server.rs"]
#[allow(dead_code, clippy::expect_used, reason = "tests of other crates use the rest")]
mod postgres_server;
mod providers;
mod recording;
mod replicas;
mod settings;
#[cfg(test)]
mod test_support;
#[cfg(test)]
mod tests;
mod token;

use std::sync::Arc;

use guard::Guard;
use model::{AgentKeys, Clock, KeyRequirement, Policy, Provider, Providers};
use store::{Recorder, Store};

pub use agents::{
    Agent, AgentChange, DefaultPolicy, ExemptionOffer, GroupChange, GroupStatus, KillSwitchStatus,
    LONGEST_EXEMPTION_DAYS, NewAgentKey, NewExemption, PolicyStatus, restore_guard, restore_older_agents,
};
pub use alerting::SmtpChange;
pub use command::Commands;
use command::{Command, State};
pub use error::ControlError;
pub use people::{CreatedToken, NewToken, NewUser, TOKEN_PREFIX, TokenHolder, UserChange};
pub use providers::{ProviderChange, has_key};
pub use replicas::Participation;
pub use token::{Token, random_id};

/// What commands change and reads merge.
#[derive(Debug)]
pub struct Parts {
    /// The agents in memory.
    pub guard: Arc<Guard>,
    /// The agents on disk.
    pub store: Store,
    /// The writer of the store.
    pub recorder: Recorder,
    /// The providers that calls use.
    pub providers: Providers,
    /// The configured providers, without stored changes.
    pub configured_providers: Vec<Provider>,
    /// The agent keys that calls are checked with.
    pub agent_keys: AgentKeys,
    /// Whether calls need an agent key.
    pub key_requirement: KeyRequirement,
    /// The configured policy of agents without one of their own.
    pub configured_policy: Policy,
    /// The token of the dashboard and the API.
    pub token: Token,
    /// The current time.
    pub clock: Clock,
}

/// Creates commands and merged reads. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Control(Arc<State>);

impl Control {
    /// Runs commands on `parts`, one at a time.
    pub fn new(parts: Parts) -> Control {
        Control(Arc::new(State::new(parts)))
    }
}
