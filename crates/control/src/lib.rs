//! Every command that people give, and every read that merges memory and disk. The only code that
//! changes `guard` and `store` together.
//!
//! Calls are judged by memory; a restart finds what is on disk. Each command therefore writes to
//! disk first and changes memory once that is acknowledged, so a command that fails has changed
//! nothing. The exception is a deactivation by hand: it holds in memory at once, because the agent
//! must stop whatever the disk does.

mod agents;
mod channels;
mod error;
mod exemptions;
mod incidents;
mod kill_switch;
mod policies;
mod providers;
mod restore;
mod rules;
mod settings;
#[cfg(test)]
mod test_support;
#[cfg(test)]
mod tests;
mod token;
mod view;

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use guard::Guard;
use model::{Clock, Policy, Provider, Providers};
use store::{Recorder, Store};
use tokio::sync::Mutex;

pub use agents::AgentChange;
pub use error::ControlError;
pub use exemptions::{ExemptionOffer, LONGEST_EXEMPTION_DAYS, NewExemption};
pub use kill_switch::KillSwitchStatus;
pub use policies::{DefaultPolicy, PolicyStatus};
pub use providers::{ProviderChange, has_key};
pub use restore::{restore_guard, restore_older_agents};
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
    /// The policy of agents without one of their own, as the configuration has it.
    pub configured_policy: Policy,
    /// The token of the dashboard and the API.
    pub token: Token,
    /// The current time.
    pub clock: Clock,
}

/// Runs commands, one at a time. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Control(Arc<State>);

/// The parts, and the turn that a command waits for.
#[derive(Debug)]
struct State {
    parts: Parts,
    turn: Mutex<()>,
}

impl Deref for State {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Control {
    /// Runs commands on `parts`.
    pub fn new(parts: Parts) -> Control {
        Control(Arc::new(State { parts, turn: Mutex::default() }))
    }

    /// Runs `command` while no other command runs. It has a task of its own: a client that
    /// disconnects between the write to disk and the change in memory must not leave the two apart.
    async fn exclusive<T, E, F>(&self, command: impl FnOnce(Arc<State>) -> F + Send + 'static) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>> + Send,
        T: Send + 'static,
        E: From<ControlError> + Send + 'static,
    {
        let state = Arc::clone(&self.0);
        let task = tokio::spawn(async move {
            let _turn = state.turn.lock().await;
            command(Arc::clone(&state)).await
        });
        task.await.unwrap_or_else(|error| Err(ControlError::Failed(error.to_string()).into()))
    }
}
