//! Policies as they are stored.

use model::{ANY, AgentId, Policy};

use crate::columns::{self, invalid};
use crate::database::{self, Row};
use crate::{Store, StoreError};

impl Store {
    /// All agents with a policy of their own. An unreadable one is an error: dropping it would lift
    /// its limits.
    pub async fn policies(&self) -> Result<Vec<(AgentId, Policy)>, StoreError> {
        let query =
            database::query("select agent_id, policy from policies where agent_id <> $1 order by agent_id").bind(ANY);
        let row = |row: Row| Ok((columns::agent_id(&row, "agent_id")?, policy(&row)?));
        Ok(query.try_map(row).fetch_all(&self.readers).await?)
    }

    /// The agent's own policy, if it has one.
    pub async fn policy_of(&self, agent: &AgentId) -> Result<Option<Policy>, StoreError> {
        let query = database::query("select policy from policies where agent_id = $1").bind(agent.as_str());
        Ok(query.try_map(|row: Row| policy(&row)).fetch_optional(&self.readers).await?)
    }

    /// The policy that people have set for all other agents. It overrides the configuration.
    pub async fn default_policy(&self) -> Result<Option<Policy>, StoreError> {
        let query = database::query("select policy from policies where agent_id = $1").bind(ANY);
        Ok(query.try_map(|row: Row| policy(&row)).fetch_optional(&self.readers).await?)
    }
}

fn policy(row: &Row) -> Result<Policy, sqlx::Error> {
    serde_json::from_str(row.try_get("policy")?).map_err(|_| invalid("policy"))
}
