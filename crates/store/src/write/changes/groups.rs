//! Changes of groups of agents.

use model::Group;
use serde::Serialize;

use crate::StoreError;
use crate::database::{self, Connection};
use crate::error::Failure;

/// Adds a group or replaces the one with its name.
pub(in crate::write) async fn put(transaction: &mut Connection<'_>, group: &Group) -> Result<(), Failure> {
    database::query(
        "insert into agent_groups (name, agents, policy, kill_switch) values ($1, $2, $3, $4)
         on conflict (name) do update set agents = excluded.agents, policy = excluded.policy,
            kill_switch = excluded.kill_switch",
    )
    .bind(&group.name)
    .bind(json(&group.agents)?)
    .bind(json(&group.policy)?)
    .bind(json(&group.kill_switch)?)
    .execute(transaction)
    .await?;
    Ok(())
}

/// Removes a group; `false` if there is none.
pub(in crate::write) async fn remove(transaction: &mut Connection<'_>, name: &str) -> Result<bool, sqlx::Error> {
    let query = database::query("delete from agent_groups where name = $1").bind(name.to_owned());
    Ok(query.execute(transaction).await?.rows_affected() == 1)
}

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Conflict(error.to_string()))
}
