//! Changes of agent keys.

use model::{AgentKey, AgentKeyId, Timestamp};

use crate::database::{self, Connection};

pub(in crate::write) async fn add(transaction: &mut Connection<'_>, key: &AgentKey) -> Result<(), sqlx::Error> {
    database::query(
        "insert into agent_keys (id, name, agents, hash, created_at, expires_at, last_used_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(key.id.to_string())
    .bind(key.name.as_deref())
    .bind(key.agents.as_str())
    .bind(key.hash.to_hex())
    .bind(key.created_at.as_millis())
    .bind(key.expires_at.map(Timestamp::as_millis))
    .bind(key.last_used_at.map(Timestamp::as_millis))
    .execute(transaction)
    .await
    .map(drop)
}

/// Removes a key; `false` if there is none with this id.
pub(in crate::write) async fn remove(transaction: &mut Connection<'_>, id: AgentKeyId) -> Result<bool, sqlx::Error> {
    let query = database::query("delete from agent_keys where id = $1").bind(id.to_string());
    Ok(query.execute(transaction).await?.rows_affected() == 1)
}

/// Notes when keys were last used.
pub(in crate::write) async fn note_uses(
    transaction: &mut Connection<'_>,
    uses: &[(AgentKeyId, Timestamp)],
) -> Result<(), sqlx::Error> {
    for (id, at) in uses {
        let query = database::query("update agent_keys set last_used_at = $1 where id = $2");
        query.bind(at.as_millis()).bind(id.to_string()).execute(&mut *transaction).await?;
    }
    Ok(())
}
