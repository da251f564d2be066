//! Agents.

use model::{AgentId, DeactivatedBy, Deactivation, Epoch, KillSwitch, Label, Timestamp};

use crate::columns::{self, unsigned};
use crate::database::dialect::contains_pattern;
use crate::database::{self, Query, QueryBuilder, Row};
use crate::{Page, PageRequest, Store, StoreError};

/// One agent.
#[derive(Clone, Debug)]
pub struct AgentRow {
    /// Its name.
    pub id: AgentId,
    /// Why it is inactive, if it is.
    pub deactivation: Option<Deactivation>,
    /// Its epoch.
    pub epoch: Epoch,
    /// Its settings.
    pub kill_switch: KillSwitch,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// When it was last seen.
    pub last_seen: Option<Timestamp>,
    /// Its display name, if set.
    pub name: Option<String>,
    /// Labels, by which groups may name it.
    pub labels: Vec<Label>,
}

/// Filters agents.
#[derive(Clone, Debug, Default)]
pub struct AgentFilter {
    /// Only agents whose id or name contains this.
    pub search: Option<String>,
    /// Only active agents, or only inactive ones.
    pub active: Option<bool>,
    /// Only agents that were deactivated by this.
    pub deactivated_by: Option<DeactivatedBy>,
}

/// How many agents there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentCounts {
    /// All agents.
    pub all: u64,
    /// Inactive agents, for any reason.
    pub inactive: u64,
    /// Agents that the kill switch deactivated.
    pub stopped: u64,
}

impl Store {
    /// A page of agents, by id.
    pub async fn agents(&self, filter: &AgentFilter, page: &PageRequest) -> Result<Page<AgentRow>, StoreError> {
        let mut query = QueryBuilder::new("select * from agents where true");
        if let Some(active) = filter.active {
            query.push(" and active = ").push_bind(i64::from(active));
        }
        if let Some(by) = filter.deactivated_by {
            query.push(" and active = 0 and deactivated_by = ").push_bind(by.as_str());
        }
        if let Some(search) = &filter.search {
            let pattern = contains_pattern(search);
            query.push(" and (lower(id) like ").push_bind(pattern.clone()).push(r" escape '\'");
            query.push(" or lower(name) like ").push_bind(pattern).push(r" escape '\')");
        }
        if let Some(after) = page.after()? {
            query.push(" and id > ").push_bind(after);
        }
        query.push(" order by id limit ").push_bind(page.rows());
        let rows = query.build().try_map(agent_row).fetch_all(&self.readers).await?;
        Ok(Page::of(rows, page, |agent| agent.id.to_string()))
    }

    /// One agent.
    pub async fn agent(&self, id: &AgentId) -> Result<Option<AgentRow>, StoreError> {
        let query = database::query("select * from agents where id = $1").bind(id.as_str());
        Ok(query.try_map(agent_row).fetch_optional(&self.readers).await?)
    }

    /// The agents that were last seen after a time, the newest first, at most `limit`.
    pub async fn agents_seen_after(&self, at: Timestamp, limit: u32) -> Result<Vec<(AgentId, Timestamp)>, StoreError> {
        let query =
            database::query("select id, last_seen from agents where last_seen > $1 order by last_seen desc limit $2");
        let query = query.bind(at.as_millis()).bind(i64::from(limit));
        let row = |row: Row| Ok((columns::agent_id(&row, "id")?, columns::timestamp(&row, "last_seen")?));
        Ok(query.try_map(row).fetch_all(&self.readers).await?)
    }

    /// The active agents that were last seen from `from` to `to`.
    pub async fn agents_last_seen(&self, from: Timestamp, to: Timestamp) -> Result<Vec<AgentRow>, StoreError> {
        let query = database::query("select * from agents where last_seen between $1 and $2 and active = 1");
        let query = query.bind(from.as_millis()).bind(to.as_millis());
        Ok(query.try_map(agent_row).fetch_all(&self.readers).await?)
    }

    /// How many agents there are.
    pub async fn agent_counts(&self) -> Result<AgentCounts, StoreError> {
        let query = database::query(
            "select count(*) as all_agents, count(*) filter (where active = 0) as inactive,
                    count(*) filter (where active = 0 and deactivated_by = $1) as stopped
             from agents",
        );
        let row = query.bind(DeactivatedBy::KillSwitch.as_str()).fetch_one(&self.readers).await?;
        let count = |column: &str| row.try_get(column).map(unsigned);
        Ok(AgentCounts { all: count("all_agents")?, inactive: count("inactive")?, stopped: count("stopped")? })
    }

    /// The agents whose settings differ from `defaults`.
    pub async fn agents_set_otherwise(&self, defaults: KillSwitch) -> Result<Vec<(AgentId, KillSwitch)>, StoreError> {
        let query = database::query(
            "select * from agents
             where enabled <> $1 or window_size <> $2 or threshold <> $3 or action <> $4 or counting <> $5",
        );
        let query = bind_settings(query, defaults);
        let rows = query.try_map(|row: Row| Ok((columns::agent_id(&row, "id")?, columns::kill_switch(&row)?)));
        Ok(rows.fetch_all(&self.readers).await?)
    }

    /// How many calls of an agent's current epoch would have been stopped, had the kill switch been
    /// on.
    pub async fn would_have_stopped(&self, id: &AgentId) -> Result<u64, StoreError> {
        let count: i64 = database::query_scalar(
            "select count(*) from events
             where agent_id = $1 and would_have_stopped = 1 and epoch = (select epoch from agents where id = $1)",
        )
        .bind(id.as_str())
        .fetch_one(&self.readers)
        .await?;
        Ok(unsigned(count))
    }
}

/// Binds the five settings.
pub(super) fn bind_settings(query: Query, defaults: KillSwitch) -> Query {
    query
        .bind(defaults.enabled)
        .bind(defaults.window_size)
        .bind(defaults.threshold)
        .bind(defaults.action.as_str())
        .bind(defaults.counting.as_str())
}

fn agent_row(row: Row) -> Result<AgentRow, sqlx::Error> {
    Ok(AgentRow {
        id: columns::agent_id(&row, "id")?,
        deactivation: columns::deactivation(&row)?,
        epoch: columns::epoch(&row)?,
        kill_switch: columns::kill_switch(&row)?,
        created_at: columns::timestamp(&row, "created_at")?,
        last_seen: columns::maybe_timestamp(&row, "last_seen")?,
        name: row.try_get("name")?,
        labels: super::groups::labels(&row)?,
    })
}
