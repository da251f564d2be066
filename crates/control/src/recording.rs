//! Recording of an agent's requests and responses.

use model::AgentId;
use store::Change;

use crate::{Command, Commands, ControlError};

impl Commands {
    /// Switches the recording of an agent on or off; `None` leaves it as configured.
    pub async fn set_recording(&self, agent: AgentId, enabled: Option<bool>) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.set_recording(agent, enabled).await }).await
    }
}

impl Command {
    async fn set_recording(&self, agent: AgentId, enabled: Option<bool>) -> Result<(), ControlError> {
        let is_known = self.guard.agent(&agent).is_some() || self.store.agent(&agent).await?.is_some();
        if !is_known {
            return Err(ControlError::unknown_agent(&agent));
        }
        self.change(Change::SetRecording { agent, enabled }).await?;
        Ok(())
    }
}
