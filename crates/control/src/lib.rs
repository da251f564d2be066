//! Every command that people give, and every read that merges memory and disk. The only code that
//! changes `guard` and `store` together.
//!
//! Calls are judged by memory; a restart finds what is on disk. Each command therefore writes to
//! disk first and changes memory once that is acknowledged, so a command that fails has changed
//! nothing. The exception is a deactivation by hand: it holds in memory at once, because the agent
//! must stop whatever the disk does.

mod agent_keys;
mod agents;
mod channels;
mod command;
mod error;
mod exemptions;
mod groups;
mod incidents;
mod kill_switch;
mod people;
mod policies;
mod providers;
mod recording;
mod restore;
mod rules;
mod settings;
mod smtp;
#[cfg(test)]
mod test_support;
#[cfg(test)]
mod tests;
mod token;
mod view;

use std::sync::Arc;

use guard::Guard;
use model::{AgentKeys, Clock, KeyRequirement, Policy, Provider, Providers};
use store::{Recorder, Store};

pub use agent_keys::NewAgentKey;
pub use agents::AgentChange;
pub use command::Commands;
use command::{Command, State};
pub use error::ControlError;
pub use exemptions::{ExemptionOffer, LONGEST_EXEMPTION_DAYS, NewExemption};
pub use groups::{GroupChange, GroupStatus};
pub use kill_switch::KillSwitchStatus;
pub use people::{MadeToken, NewToken, NewUser, TOKEN_PREFIX, TokenHolder, UserChange};
pub use policies::{DefaultPolicy, PolicyStatus};
pub use providers::{ProviderChange, has_key};
pub use restore::{restore_guard, restore_older_agents};
pub use smtp::SmtpChange;
pub use token::{Token, random_id};
pub use view::Agent;

/// What commands change and reads merge.
#[derive(Debug)]
pub struct Parts {
    /// The agents as they are in memory.
    pub guard: Arc<Guard>,
    /// The agents as they are on disk.
    pub store: Store,
    /// The writer of the store.
    pub recorder: Recorder,
    /// The providers that calls use.
    pub providers: Providers,
    /// The providers as the configuration has them, without what is stored.
    pub configured_providers: Vec<Provider>,
    /// The agent keys that calls are checked with.
    pub agent_keys: AgentKeys,
    /// Whether calls need an agent key.
    pub key_requirement: KeyRequirement,
    /// The policy of agents without one of their own, as the configuration has it.
    pub configured_policy: Policy,
    /// The token of the dashboard and the API.
    pub token: Token,
    /// The current time.
    pub clock: Clock,
}

/// Gives out commands and merged reads. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Control(Arc<State>);

impl Control {
    /// Runs commands on `parts`, one at a time.
    pub fn new(parts: Parts) -> Control {
        Control(Arc::new(State::new(parts)))
    }
}
