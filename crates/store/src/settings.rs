//! What holds for all agents: as configured, unless people have set it otherwise. What they set is stored and goes before the
//! configuration, field by field.

use std::sync::Arc;

use model::{FieldError, KillSwitch, KillSwitchChange};
use parking_lot::RwLock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sqlx::{SqliteConnection, SqlitePool};

use crate::retention::RetentionChange;
use crate::{Retention, Store, StoreError};

const KILL_SWITCH: &str = "kill_switch";
const RETENTION: &str = "retention";

/// What holds for all agents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// What agents start with that are first heard of from now on.
    pub kill_switch: KillSwitch,
    /// How long things are kept.
    pub retention: Retention,
}

/// What people have set: an absent field is as configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SettingsChange {
    /// Of what new agents start with.
    pub kill_switch: KillSwitchChange,
    /// Of how long things are kept.
    pub retention: RetentionChange,
}

impl SettingsChange {
    /// What holds if `configured` is what does without it, or the field that is wrong.
    pub fn apply(self, configured: Settings) -> Result<Settings, FieldError> {
        Ok(Settings {
            kill_switch: self.kill_switch.apply(configured.kill_switch)?,
            retention: self.retention.apply(configured.retention)?,
        })
    }

    /// This, and `newer` where that says something.
    pub fn then(self, newer: SettingsChange) -> SettingsChange {
        let (old, new) = (self.kill_switch, newer.kill_switch);
        let kill_switch = KillSwitchChange {
            enabled: new.enabled.or(old.enabled),
            window_size: new.window_size.or(old.window_size),
            threshold: new.threshold.or(old.threshold),
            action: new.action.or(old.action),
            counting: new.counting.or(old.counting),
        };
        let (old, new) = (self.retention, newer.retention);
        let retention = RetentionChange {
            event_days: new.event_days.or(old.event_days),
            incident_days: new.incident_days.or(old.incident_days),
            statistics_days: new.statistics_days.or(old.statistics_days),
        };
        SettingsChange { kill_switch, retention }
    }
}

/// The settings as they are in force. Cloning is cheap.
#[derive(Clone, Debug)]
pub(crate) struct InForce(Arc<RwLock<(SettingsChange, Settings)>>);

impl InForce {
    /// Reads what people have set.
    pub(crate) async fn read(readers: &SqlitePool, configured: Settings) -> Result<InForce, StoreError> {
        let rows: Vec<(String, String)> = sqlx::query_as("select name, value from settings").fetch_all(readers).await?;
        let set = SettingsChange { kill_switch: value(&rows, KILL_SWITCH)?, retention: value(&rows, RETENTION)? };
        let in_force = set.apply(configured).map_err(|error| unreadable(&error.to_string()))?;
        Ok(InForce(Arc::new(RwLock::new((set, in_force)))))
    }

    /// Holds from now on; called once it is on disk.
    pub(crate) fn put(&self, set: SettingsChange, in_force: Settings) {
        *self.0.write() = (set, in_force);
    }
}

impl Store {
    /// What holds for all agents.
    pub fn settings(&self) -> Settings {
        self.settings.0.read().1
    }

    /// What people have set of it.
    pub fn settings_change(&self) -> SettingsChange {
        self.settings.0.read().0
    }

    /// What would hold without that.
    pub fn configured_settings(&self) -> Settings {
        self.config.settings()
    }
}

/// Stores what people have set.
pub(crate) async fn write(transaction: &mut SqliteConnection, set: &SettingsChange) -> Result<(), StoreError> {
    for (name, value) in
        [(KILL_SWITCH, serde_json::to_string(&set.kill_switch)), (RETENTION, serde_json::to_string(&set.retention))]
    {
        let value = value.map_err(|error| StoreError::Conflict(error.to_string()))?;
        sqlx::query("insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value")
            .bind(name)
            .bind(value)
            .execute(&mut *transaction)
            .await?;
    }
    Ok(())
}

fn value<T: DeserializeOwned + Default>(rows: &[(String, String)], name: &str) -> Result<T, StoreError> {
    let Some((_, value)) = rows.iter().find(|(key, _)| key == name) else { return Ok(T::default()) };
    serde_json::from_str(value).map_err(|error| unreadable(&format!("{name}: {error}")))
}

fn unreadable(why: &str) -> StoreError {
    StoreError::Setup(format!("the settings in the database cannot be read: {why}"))
}
