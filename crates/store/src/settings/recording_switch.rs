//! The agents whose recording people have switched on or off. There are few, so they are read as a
//! whole.

use std::collections::HashMap;

use model::AgentId;

use crate::config::in_force;
use crate::database::{self, Connection};
use crate::{Store, StoreError};

/// The prefix of such a setting's name; the agent follows.
const PREFIX: &str = "recording:";

impl Store {
    /// Whether people have switched the recording of an agent on or off; others are as configured.
    pub async fn recording_switches(&self) -> Result<HashMap<AgentId, bool>, StoreError> {
        let query = database::query_as("select name, value from settings where substr(name, 1, 10) = $1");
        let rows: Vec<(String, String)> = query.bind(PREFIX).fetch_all(&self.readers).await?;
        let switch = |(name, value): (String, String)| {
            let agent = AgentId::parse(name.strip_prefix(PREFIX)?).ok()?;
            Some((agent, value == "true"))
        };
        Ok(rows.into_iter().filter_map(switch).collect())
    }
}

/// Stores the switch of an agent; `None` leaves the agent as configured.
pub(crate) async fn write(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    enabled: Option<bool>,
) -> Result<(), sqlx::Error> {
    let name = format!("{PREFIX}{agent}");
    match enabled {
        Some(enabled) => in_force::put(transaction, &name, if enabled { "true" } else { "false" }).await,
        None => database::query("delete from settings where name = $1").bind(name).execute(transaction).await.map(drop),
    }
}
