//! The settings in force for all agents, and the rows in which what people have set is stored.

use std::sync::Arc;

use parking_lot::RwLock;
use serde::de::DeserializeOwned;

use crate::database::{self, Connection, Pool};
use crate::{Settings, SettingsChange, StoreError};

const KILL_SWITCH: &str = "kill_switch";
const RETENTION: &str = "retention";

/// The settings in force. Cloning is cheap.
#[derive(Clone, Debug)]
pub(crate) struct SettingsInForce(Arc<RwLock<(SettingsChange, Settings)>>);

impl SettingsInForce {
    /// Reads what people have set.
    pub(crate) async fn read(readers: &Pool, configured: Settings) -> Result<SettingsInForce, StoreError> {
        let rows: Vec<(String, String)> =
            database::query_as("select name, value from settings").fetch_all(readers).await?;
        let set = SettingsChange { kill_switch: value(&rows, KILL_SWITCH)?, retention: value(&rows, RETENTION)? };
        let in_force = set.apply(configured).map_err(|error| unreadable(&error.to_string()))?;
        Ok(SettingsInForce(Arc::new(RwLock::new((set, in_force)))))
    }

    /// Reads again what people have set, which another server may have changed.
    pub(crate) async fn reload(&self, readers: &Pool, configured: Settings) -> Result<(), StoreError> {
        let read = SettingsInForce::read(readers, configured).await?;
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
