//! Writes the kills that memory holds to a database that may have lost them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use model::SavedAgent;
use sqlx::SqliteConnection;

use super::MemoryState;
use crate::columns::signed;

/// The incident of a kill younger than this may not have reached the writer.
const UNWRITTEN_MS: i64 = 60_000;

type ReadAgents = Box<dyn Fn() -> Vec<SavedAgent> + Send + Sync>;

/// The source of the inactive agents: the guard knows them all.
#[derive(Clone, Default)]
pub(crate) struct KillsInMemory(Arc<OnceLock<ReadAgents>>);

impl KillsInMemory {
    /// Reads them from `source`. Only the first source counts.
    pub(crate) fn read_from(&self, source: impl Fn() -> Vec<SavedAgent> + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(source));
    }

    pub(crate) fn agents(&self) -> Vec<SavedAgent> {
        self.0.get().map_or_else(Vec::new, |source| source())
    }
}

impl fmt::Debug for KillsInMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KillsInMemory").field(&self.0.get().is_some()).finish()
    }
}

/// Deactivates every agent that is inactive in memory.
pub(crate) async fn write_kills(
    connection: &mut SqliteConnection,
    memory: &MemoryState<'_>,
) -> Result<(), sqlx::Error> {
    for agent in memory.agents {
        write_kill(connection, agent).await?;
    }
    forget_lost_incidents(connection, memory).await
}

async fn write_kill(connection: &mut SqliteConnection, agent: &SavedAgent) -> Result<(), sqlx::Error> {
    let Some(deactivation) = &agent.deactivation else { return Ok(()) };
    sqlx::query(
        "insert into agents (id, active, deactivated_by, deactivated_at, incident_id, epoch, window_floor, enabled,
            window_size, threshold, action, counting, created_at, last_seen)
         values ($1, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $3, $12)
         on conflict (id) do update set active = 0, deactivated_by = $2, deactivated_at = $3, incident_id = $4, epoch = $5
         where agents.epoch < excluded.epoch or (agents.epoch = excluded.epoch and agents.active = 1)",
    )
    .bind(agent.id.as_str())
    .bind(deactivation.by.as_str())
    .bind(deactivation.at.as_millis())
    .bind(deactivation.incident.map(|incident| incident.to_string()))
    .bind(signed(agent.epoch.0))
    .bind(signed(agent.window_floor))
    .bind(agent.kill_switch.enabled)
    .bind(agent.kill_switch.window_size)
    .bind(agent.kill_switch.threshold)
    .bind(agent.kill_switch.action.as_str())
    .bind(agent.kill_switch.counting.as_str())
    .bind(agent.last_seen.map(|seen| seen.as_millis()))
    .execute(connection)
    .await
    .map(drop)
}

/// Clears incidents that could not be read from their agents, so that no page links to them.
async fn forget_lost_incidents(connection: &mut SqliteConnection, memory: &MemoryState<'_>) -> Result<(), sqlx::Error> {
    let lost: Vec<(String, String)> = sqlx::query_as(
        "select id, incident_id from agents
         where incident_id is not null and incident_id not in (select id from incidents) and deactivated_at < $1",
    )
    .bind(memory.now.as_millis() - UNWRITTEN_MS)
    .fetch_all(&mut *connection)
    .await?;
    let pending: Vec<String> = memory.pending.iter().map(ToString::to_string).collect();
    for (agent, _) in lost.into_iter().filter(|(_, incident)| !pending.contains(incident)) {
        sqlx::query("update agents set incident_id = null where id = $1").bind(agent).execute(&mut *connection).await?;
    }
    Ok(())
}
