//! Policies as they are stored.

use model::{AgentId, Policy};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::columns::{self, odd};
use crate::{Store, StoreError};

impl Store {
    /// All agents that have a policy of their own. One that cannot be read is an error: to drop it would lift its limits.
    pub async fn policies(&self) -> Result<Vec<(AgentId, Policy)>, StoreError> {
        let query = sqlx::query("select agent_id, policy from policies order by agent_id");
        Ok(query.try_map(policy_row).fetch_all(&self.readers).await?)
    }
}

fn policy_row(row: SqliteRow) -> Result<(AgentId, Policy), sqlx::Error> {
    let policy = serde_json::from_str(row.try_get("policy")?).map_err(|_| odd("policy"))?;
    Ok((columns::agent_id(&row, "agent_id")?, policy))
}
