//! Calls of the last moments, for rates that go on after a restart.

use model::{AgentId, Timestamp};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::columns::{self, unsigned};
use crate::figures::first_id;
use crate::{Store, StoreError};

/// What an agent called at a provider within a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentCalls {
    /// The agent.
    pub agent: AgentId,
    /// The provider.
    pub provider: String,
    /// When that second began.
    pub time: Timestamp,
    /// How many calls were forwarded.
    pub calls: u64,
    /// Their tokens, in and out.
    pub tokens: u64,
}

impl Store {
    /// The calls that came since `from`, the oldest first.
    pub async fn recent_calls(&self, from: Timestamp) -> Result<Vec<RecentCalls>, StoreError> {
        let query = sqlx::query(RECENT_CALLS).bind(first_id(from));
        Ok(query.try_map(recent_calls).fetch_all(&self.readers).await?)
    }
}

/// Ids sort by time.
const RECENT_CALLS: &str = "
    select agent_id, coalesce(provider, '') as provider, timestamp / 1000 as second, count(*) as calls,
        cast(total(tokens_in) + total(tokens_out) as integer) as tokens
    from events where event_type = 'llm_call' and id >= $1
    group by second, agent_id, provider order by second";

fn recent_calls(row: SqliteRow) -> Result<RecentCalls, sqlx::Error> {
    Ok(RecentCalls {
        agent: columns::agent_id(&row, "agent_id")?,
        provider: row.try_get("provider")?,
        time: Timestamp::from_millis(row.try_get::<i64, _>("second")?.saturating_mul(1000)),
        calls: unsigned(row.try_get("calls")?),
        tokens: unsigned(row.try_get("tokens")?),
    })
}
