//! Settings of all agents: what new agents start with, and how long data is kept.

use model::{FieldError, KillSwitch};
use store::{Change, Settings, SettingsChange};

use crate::{Command, Commands, ControlError, State};

impl Commands {
    /// Changes settings: an absent field keeps its value.
    pub async fn change_settings(&self, change: SettingsChange) -> Result<(), ControlError> {
        self.exclusive(move |command| async move {
            let set = command.store.settings_change().then(change);
            command.put_settings(set).await
        })
        .await
    }

    /// Restores the settings of the configuration.
    pub async fn reset_settings(&self) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.put_settings(SettingsChange::default()).await }).await
    }
}

impl Command {
    async fn put_settings(&self, set: SettingsChange) -> Result<(), ControlError> {
        let defaults = checked_defaults(self.store.configured_settings(), set)?;
        self.change(Change::PutSettings { settings: set }).await?;
        self.use_defaults(defaults).await
    }
}

impl State {
    /// Puts the settings of new agents into effect in memory.
    pub(crate) async fn use_defaults(&self, defaults: KillSwitch) -> Result<(), ControlError> {
        // A stored agent that has left memory would return with the new defaults: it keeps its own
        // settings.
        for (agent, kill_switch) in self.store.agents_set_otherwise(defaults).await? {
            if self.guard.agent(&agent).is_none() {
                self.guard.configure(&agent, kill_switch);
            }
        }
        self.guard.set_defaults(defaults);
        Ok(())
    }
}

/// The settings of new agents under `set`.
fn checked_defaults(configured: Settings, set: SettingsChange) -> Result<KillSwitch, ControlError> {
    let of = |part: &str, error: FieldError| ControlError::field(format!("{part}.{}", error.field), error.message);
    set.retention.apply(configured.retention).map_err(|error| of("retention", error))?;
    set.kill_switch.apply(configured.kill_switch).map_err(|error| of("kill_switch", error))
}
