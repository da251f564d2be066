//! Activating, deactivating, naming and deleting agents.

use std::time::Duration;

use model::{AgentId, DeactivatedBy, Deactivation, Epoch, Timestamp};
use store::{Change, Changed, StoreError};

use super::view::AgentState;
use crate::{Command, Commands, ControlError, State};

/// How often an activation is tried while the kill before it is still being written, and the pause
/// between attempts.
const ACTIVATION_ATTEMPTS: u32 = 40;
const ACTIVATION_PAUSE: Duration = Duration::from_millis(50);

const MAX_NAME_LENGTH: usize = 200;

/// A change of an agent: an absent field keeps its value.
#[derive(Clone, Debug, Default)]
pub struct AgentChange {
    /// The display name; `Some(None)` removes it.
    pub name: Option<Option<String>>,
    /// Whether it is active.
    pub active: Option<bool>,
}

impl Commands {
    /// Activates an agent; an active one stays as it is. The activation is on disk first: once a
    /// call has passed, a restart must not refuse the agent again.
    pub async fn activate(&self, agent: AgentId) -> Result<(), ControlError> {
        self.check_agent(&agent)?;
        self.exclusive(move |command| async move { command.activate(&agent).await }).await
    }

    /// Deactivates an agent by hand. It takes effect in memory before the command gets its turn:
    /// another command may be waiting for a disk that does not answer.
    pub async fn deactivate(&self, agent: AgentId) -> Result<(), ControlError> {
        self.check_agent(&agent)?;
        self.state().deactivate_in_memory(&agent);
        self.exclusive(move |command| async move { command.deactivate(&agent).await }).await
    }

    /// Renames, activates or deactivates an agent in one turn. An invalid name changes nothing.
    pub async fn change_agent(&self, agent: AgentId, change: AgentChange) -> Result<(), ControlError> {
        self.check_agent(&agent)?;
        change.name.iter().flatten().try_for_each(|name| check_name(name))?;
        if change.active == Some(false) {
            self.state().deactivate_in_memory(&agent);
        }
        self.exclusive(move |command| async move {
            match change.active {
                Some(true) => command.activate(&agent).await?,
                Some(false) => command.deactivate(&agent).await?,
                None => {}
            }
            match change.name {
                Some(name) => command.rename(agent, name).await,
                None => Ok(()),
            }
        })
        .await
    }

    /// Sets the display name of an agent; `None` removes it.
    pub async fn rename(&self, agent: AgentId, name: Option<String>) -> Result<(), ControlError> {
        name.as_deref().map_or(Ok(()), check_name)?;
        self.exclusive(move |command| async move { command.rename(agent, name).await }).await
    }

    /// Deletes an agent with all its data. A failure leaves it whole.
    pub async fn delete_agent(&self, agent: AgentId) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.delete_agent(&agent).await }).await
    }
}

impl State {
    /// Deactivates an agent that is in memory. One that is not gets there once it is on disk.
    pub(crate) fn deactivate_in_memory(&self, agent: &AgentId) {
        if self.guard.agent(agent).is_some() {
            self.guard.deactivate(agent, self.clock.now());
        }
    }
}

impl Command {
    pub(super) async fn activate(&self, agent: &AgentId) -> Result<(), ControlError> {
        self.refresh_agent(agent).await;
        self.check_not_stopped(agent)?;
        let AgentState { deactivation, epoch, .. } = self.known(agent).await?;
        let inactive = match deactivation {
            Some(deactivation) => Some((epoch, deactivation)),
            // The stop of its group may have deactivated it on disk only.
            None => self.store.agent(agent).await?.and_then(|row| Some((row.epoch, row.deactivation?))),
        };
        let Some(inactive) = inactive else { return Ok(()) };
        let epoch = self.store_activation(agent, inactive).await?;
        self.guard.activate(agent, epoch);
        Ok(())
    }

    /// Stores the activation that ends `epoch`. Waits a little for a deactivation that is not on
    /// disk yet.
    async fn store_activation(
        &self,
        agent: &AgentId,
        (epoch, deactivation): (Epoch, Deactivation),
    ) -> Result<Epoch, ControlError> {
        let by = self.actor().via;
        for _ in 0..ACTIVATION_ATTEMPTS {
            let change = Change::Activate { agent: agent.clone(), epoch, by, at: self.clock.now() };
            match self.change(change).await {
                Ok(Changed::Activated(epoch)) => return Ok(epoch),
                Ok(Changed::Done) => return Ok(epoch.next()),
                Err(StoreError::Conflict(_) | StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
            match deactivation.by {
                // An earlier attempt to store this deactivation may have failed, and no one repeats
                // it.
                DeactivatedBy::Manual => self.store_deactivation(agent, deactivation.at).await?,
                DeactivatedBy::KillSwitch => tokio::time::sleep(ACTIVATION_PAUSE).await,
            }
        }
        let text = format!("The kill of {agent} is still being written; it stays inactive. Try again.");
        Err(ControlError::NotStored(text))
    }

    pub(super) async fn deactivate(&self, agent: &AgentId) -> Result<(), ControlError> {
        self.refresh_agent(agent).await;
        self.known(agent).await?;
        // Again: a command that ran in between may have activated the agent.
        let deactivation = self.guard.deactivate(agent, self.clock.now()).or_else(|| self.guard.refuses(agent));
        let Some(Deactivation { by: DeactivatedBy::Manual, at, .. }) = deactivation else { return Ok(()) };

        // Stored even if the agent was inactive already: that deactivation may not be on disk.
        self.store_deactivation(agent, at).await.map_err(|error| {
            tracing::warn!(%agent, %error, "a deactivation could not be stored");
            ControlError::NotStored(format!(
                "{agent} is inactive, but that could not be stored: a restart would activate it again. Repeat the request."
            ))
        })
    }

    async fn store_deactivation(&self, agent: &AgentId, at: Timestamp) -> Result<(), StoreError> {
        self.store_agent(agent).await?;
        self.change(Change::Deactivate { agent: agent.clone(), at }).await?;
        Ok(())
    }

    async fn rename(&self, agent: AgentId, name: Option<String>) -> Result<(), ControlError> {
        self.known(&agent).await?;
        self.store_agent(&agent).await?;
        self.change(Change::Rename { agent, name }).await?;
        Ok(())
    }

    /// Stores an agent that is in memory: its first call may not be written yet.
    pub(crate) async fn store_agent(&self, agent: &AgentId) -> Result<(), StoreError> {
        if self.store.agent(agent).await?.is_some() {
            return Ok(());
        }
        let Some(live) = self.guard.agent(agent) else { return Ok(()) };
        let window_floor = self.guard.window_floor_after(agent, live.kill_switch);
        let (agent, kill_switch, at) = (agent.clone(), live.kill_switch, self.clock.now());
        self.write_unaudited(Change::Configure { agent, kill_switch, window_floor, at }).await
    }

    async fn delete_agent(&self, agent: &AgentId) -> Result<(), ControlError> {
        let is_in_memory = self.guard.agent(agent).is_some();
        self.guard.suspend_kills(agent, true);
        match self.change(Change::DeleteAgent { agent: agent.clone() }).await {
            Err(StoreError::NotFound) if !is_in_memory => return Err(ControlError::unknown_agent(agent)),
            Ok(_) | Err(StoreError::NotFound) => {}
            Err(error) => {
                self.guard.suspend_kills(agent, false);
                return Err(error.into());
            }
        }
        self.guard.forget(agent);
        self.store.groups().labels().set(agent, Vec::new());
        Ok(())
    }
}

fn check_name(name: &str) -> Result<(), ControlError> {
    let length = name.chars().count();
    if name.trim().is_empty() || length > MAX_NAME_LENGTH || name.chars().any(char::is_control) {
        let message = "must have 1 to 200 characters, none of them a control character";
        return Err(ControlError::field("name", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use std::pin::pin;

    use super::*;
    use crate::test_support::{Fixture, agent};

    #[tokio::test]
    async fn deactivation_holds_while_another_command_waits_for_the_disk() {
        let fixture = Fixture::start().await;
        fixture.call(&agent());
        let turn = fixture.control.0.turn.lock().await;
        let commands = fixture.commands();
        let mut command = pin!(commands.deactivate(agent()));
        tokio::select! {
            biased;
            _ = &mut command => panic!("it is not stored before its turn"),
            () = std::future::ready(()) => {}
        }
        assert!(fixture.guard.refuses(&agent()).is_some());

        drop(turn);
        command.await.unwrap();
        let stored = fixture.store.agent(&agent()).await.unwrap().unwrap();
        assert_eq!(stored.deactivation.map(|deactivation| deactivation.by), Some(DeactivatedBy::Manual));
    }

    #[tokio::test]
    async fn deactivation_holds_and_says_so_if_it_cannot_be_stored() {
        let mut fixture = Fixture::start().await;
        fixture.call(&agent());
        fixture.break_store().await;
        let error = fixture.commands().deactivate(agent()).await.unwrap_err();
        assert!(error.to_string().contains("is inactive, but that could not be stored"), "{error}");
        assert!(fixture.guard.refuses(&agent()).is_some());
    }

    #[tokio::test]
    async fn activation_that_cannot_be_stored_leaves_the_agent_inactive() {
        let mut fixture = Fixture::start().await;
        fixture.call(&agent());
        fixture.commands().deactivate(agent()).await.unwrap();
        fixture.break_store().await;
        fixture.commands().activate(agent()).await.unwrap_err();
        assert!(fixture.guard.refuses(&agent()).is_some());
    }

    #[tokio::test]
    async fn unknown_agent_is_named() {
        let fixture = Fixture::start().await;
        let error = fixture.commands().deactivate(agent()).await.unwrap_err();
        assert_eq!(error.to_string(), "There is no agent looper.");
        assert!(fixture.guard.agent(&agent()).is_none(), "it was not created");
    }
}
