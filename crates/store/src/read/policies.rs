//! Policies as they are stored.

use model::{ANY, AgentId, Policy};

use crate::columns::{self, odd};
use crate::database::{self, Row};
use crate::{Store, StoreError};

impl Store {
    /// All agents that have a policy of their own. One that cannot be read is an error: to drop it
    /// would lift its limits.
    pub async fn policies(&self) -> Result<Vec<(AgentId, Policy)>, StoreError> {
        let query =
            database::query("select agent_id, policy from policies where agent_id <> $1 order by agent_id").bind(ANY);
        let row = |row: Row| Ok((columns::agent_id(&row, "agent_id")?, policy(&row)?));
        Ok(query.try_map(row).fetch_all(&self.readers).await?)
    }

    /// The policy that people have set for all other agents. It goes before the configuration.
    pub async fn default_policy(&self) -> Result<Option<Policy>, StoreError> {
        let query = database::query("select policy from policies where agent_id = $1").bind(ANY);
        Ok(query.try_map(|row: Row| policy(&row)).fetch_optional(&self.readers).await?)
    }
}

fn policy(row: &Row) -> Result<Policy, sqlx::Error> {
    serde_json::from_str(row.try_get("policy")?).map_err(|_| odd("policy"))
}
