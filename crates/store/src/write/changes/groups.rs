//! Changes of groups of agents, and of the labels that put agents into them.

use model::{AgentId, Group, Label, Timestamp};
use serde::Serialize;

use crate::StoreError;
use crate::database::{self, Connection};
use crate::error::Failure;

/// Adds a group or replaces the one with its name, which stays stopped if it is.
pub(in crate::write) async fn put(transaction: &mut Connection<'_>, group: &Group) -> Result<(), Failure> {
    database::query(
        "insert into agent_groups (name, agents, policy, kill_switch, labels) values ($1, $2, $3, $4, $5)
         on conflict (name) do update set agents = excluded.agents, policy = excluded.policy,
            kill_switch = excluded.kill_switch, labels = excluded.labels",
    )
    .bind(&group.name)
    .bind(json(&group.agents)?)
    .bind(json(&group.policy)?)
    .bind(json(&group.kill_switch)?)
    .bind(maybe_labels(&group.labels)?)
    .execute(transaction)
    .await?;
    Ok(())
}

/// Stops a group, or lets its agents call again; `false` if there is none. A group that is stopped
/// already keeps its time.
pub(in crate::write) async fn set_stopped(
    transaction: &mut Connection<'_>,
    name: &str,
    at: Option<Timestamp>,
) -> Result<bool, sqlx::Error> {
    let query = match at {
        Some(at) => database::query("update agent_groups set stopped_at = coalesce(stopped_at, $1) where name = $2")
            .bind(at.as_millis()),
        None => database::query("update agent_groups set stopped_at = null where name = $1"),
    };
    Ok(query.bind(name.to_owned()).execute(transaction).await?.rows_affected() == 1)
}

/// Replaces the labels of an agent; `false` if there is none.
pub(in crate::write) async fn set_labels(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    labels: &[Label],
) -> Result<bool, Failure> {
    let query = database::query("update agents set labels = $1 where id = $2");
    let query = query.bind(maybe_labels(labels)?).bind(agent.as_str());
    Ok(query.execute(transaction).await?.rows_affected() == 1)
}

/// Removes a group; `false` if there is none.
pub(in crate::write) async fn remove(transaction: &mut Connection<'_>, name: &str) -> Result<bool, sqlx::Error> {
    let query = database::query("delete from group_spending where group_name = $1").bind(name.to_owned());
    query.execute(&mut *transaction).await?;
    let query = database::query("delete from agent_groups where name = $1").bind(name.to_owned());
    Ok(query.execute(transaction).await?.rows_affected() == 1)
}

fn maybe_labels(labels: &[Label]) -> Result<Option<String>, StoreError> {
    if labels.is_empty() { Ok(None) } else { json(&labels).map(Some) }
}

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Conflict(error.to_string()))
}
