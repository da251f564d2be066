//! The settings for all agents: the configuration, overridden field by field by what people have
//! set.

pub(crate) mod recording_switch;
pub(crate) mod smtp;

use std::sync::Arc;

use model::{FieldError, KillSwitch, KillSwitchChange};
use parking_lot::RwLock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::database::{self, Connection, Pool};

const KILL_SWITCH: &str = "kill_switch";
const RETENTION: &str = "retention";

/// A hundred years.
const MOST_DAYS: u32 = 36_500;

/// The settings for all agents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// The kill switch of agents that are first seen from now on.
    pub kill_switch: KillSwitch,
    /// How long things are kept.
    pub retention: Retention,
}

/// How long things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days that events are kept.
    pub event_days: u32,
    /// Days that incidents with their evidence and the history of alerts are kept. An open incident
    /// stays until it is closed.
    pub incident_days: u32,
    /// Days that daily statistics are kept; statistics by hour and by conversation are kept for two
    /// months at most.
    pub statistics_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { event_days: 30, incident_days: 180, statistics_days: 400 }
    }
}

/// A change of the retention: an absent field keeps its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of Retention")]
pub struct RetentionChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_days: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident_days: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics_days: Option<u64>,
}

impl RetentionChange {
    /// The retention after this change of `current`, or the field that is wrong.
    pub fn apply(self, current: Retention) -> Result<Retention, FieldError> {
        let days = |field: &'static str, days: Option<u64>, current: u32| match days {
            None => Ok(current),
            Some(days) => u32::try_from(days)
                .ok()
                .filter(|days| (1..=MOST_DAYS).contains(days))
                .ok_or_else(|| FieldError::new(field, format!("must be a whole number of days from 1 to {MOST_DAYS}"))),
        };
        Ok(Retention {
            event_days: days("event_days", self.event_days, current.event_days)?,
            incident_days: days("incident_days", self.incident_days, current.incident_days)?,
            statistics_days: days("statistics_days", self.statistics_days, current.statistics_days)?,
        })
    }

    /// This change, overridden by the fields of `newer`.
    fn then(self, newer: RetentionChange) -> RetentionChange {
        RetentionChange {
            event_days: newer.event_days.or(self.event_days),
            incident_days: newer.incident_days.or(self.incident_days),
            statistics_days: newer.statistics_days.or(self.statistics_days),
        }
    }
}

/// What people have set; an absent field keeps the configured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SettingsChange {
    /// The kill switch of new agents.
    pub kill_switch: KillSwitchChange,
    /// How long things are kept.
    pub retention: RetentionChange,
}

impl SettingsChange {
    /// Applies the change to `configured`. An error names the invalid field.
    pub fn apply(self, configured: Settings) -> Result<Settings, FieldError> {
        Ok(Settings {
            kill_switch: self.kill_switch.apply(configured.kill_switch)?,
            retention: self.retention.apply(configured.retention)?,
        })
    }

    /// This change, overridden by the fields of `newer`.
    pub fn then(self, newer: SettingsChange) -> SettingsChange {
        let (old, new) = (self.kill_switch, newer.kill_switch);
        let kill_switch = KillSwitchChange {
            enabled: new.enabled.or(old.enabled),
            window_size: new.window_size.or(old.window_size),
            threshold: new.threshold.or(old.threshold),
            action: new.action.or(old.action),
            counting: new.counting.or(old.counting),
        };
        SettingsChange { kill_switch, retention: self.retention.then(newer.retention) }
    }
}

/// The settings in force. Cloning is cheap.
#[derive(Clone, Debug)]
pub(crate) struct InForce(Arc<RwLock<(SettingsChange, Settings)>>);

impl InForce {
    /// Reads what people have set.
    pub(crate) async fn read(readers: &Pool, configured: Settings) -> Result<InForce, StoreError> {
        let rows: Vec<(String, String)> =
            database::query_as("select name, value from settings").fetch_all(readers).await?;
        let set = SettingsChange { kill_switch: value(&rows, KILL_SWITCH)?, retention: value(&rows, RETENTION)? };
        let in_force = set.apply(configured).map_err(|error| unreadable(&error.to_string()))?;
        Ok(InForce(Arc::new(RwLock::new((set, in_force)))))
    }

    /// Reads again what people have set, which another server may have changed.
    pub(crate) async fn reload(&self, readers: &Pool, configured: Settings) -> Result<(), StoreError> {
        let read = InForce::read(readers, configured).await?;
        *self.0.write() = *read.0.read();
        Ok(())
    }

    pub(crate) fn in_force(&self) -> Settings {
        self.0.read().1
    }

    pub(crate) fn set_by_people(&self) -> SettingsChange {
        self.0.read().0
    }

    /// Puts settings in force that are on disk.
    pub(crate) fn put(&self, set: SettingsChange, in_force: Settings) {
        *self.0.write() = (set, in_force);
    }
}

/// Stores what people have set.
pub(crate) async fn write(transaction: &mut Connection<'_>, set: &SettingsChange) -> Result<(), StoreError> {
    for (name, value) in
        [(KILL_SWITCH, serde_json::to_string(&set.kill_switch)), (RETENTION, serde_json::to_string(&set.retention))]
    {
        let value = value.map_err(|error| StoreError::Conflict(error.to_string()))?;
        put(transaction, name, &value).await?;
    }
    Ok(())
}

/// Stores one setting as JSON.
pub(crate) async fn put(transaction: &mut Connection<'_>, name: &str, value: &str) -> Result<(), sqlx::Error> {
    let statement = "insert into settings (name, value) values ($1, $2)
        on conflict (name) do update set value = excluded.value";
    database::query(statement).bind(name).bind(value).execute(transaction).await?;
    Ok(())
}

fn value<T: DeserializeOwned + Default>(rows: &[(String, String)], name: &str) -> Result<T, StoreError> {
    let Some((_, value)) = rows.iter().find(|(key, _)| key == name) else { return Ok(T::default()) };
    serde_json::from_str(value).map_err(|error| unreadable(&format!("{name}: {error}")))
}

fn unreadable(why: &str) -> StoreError {
    StoreError::Setup(format!("the settings in the database cannot be read: {why}"))
}
