//! Agent keys, as hashes.

use model::{AgentKey, AgentKeyId, AgentPattern, KeyHash};

use crate::columns::{self, invalid};
use crate::database::{self, Row};
use crate::{Store, StoreError};

impl Store {
    /// All agent keys, oldest first.
    pub async fn agent_keys(&self) -> Result<Vec<AgentKey>, StoreError> {
        let query = database::query("select * from agent_keys order by id").try_map(key_row);
        Ok(query.fetch_all(&self.readers).await?)
    }
}

fn key_row(row: Row) -> Result<AgentKey, sqlx::Error> {
    Ok(AgentKey {
        id: AgentKeyId::parse(row.try_get("id")?).ok_or_else(|| invalid("id"))?,
        name: row.try_get("name")?,
        agents: AgentPattern::parse(row.try_get("agents")?).map_err(|_| invalid("agents"))?,
        hash: KeyHash::parse_hex(row.try_get("hash")?).ok_or_else(|| invalid("hash"))?,
        created_at: columns::timestamp(&row, "created_at")?,
        expires_at: columns::maybe_timestamp(&row, "expires_at")?,
        last_used_at: columns::maybe_timestamp(&row, "last_used_at")?,
    })
}
