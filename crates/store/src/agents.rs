//! Agents as they are stored.

use std::collections::HashMap;

use model::{AgentId, DeactivatedBy, Deactivation, Epoch, KillSwitch, SavedAgent, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite};
use tokio::task::JoinSet;
use tokio_stream::StreamExt;

use crate::columns::{self, signed, unsigned};
use crate::{Page, PageRequest, Store, StoreError, exemptions, fingerprint};

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
    /// When it was first heard of.
    pub created_at: Timestamp,
    /// When it was last heard of.
    pub last_seen: Option<Timestamp>,
    /// A name for people, if one was given.
    pub name: Option<String>,
}

/// Which agents.
#[derive(Clone, Debug, Default)]
pub struct AgentFilter {
    /// Only those whose id or name contains this.
    pub search: Option<String>,
    /// Only active ones, or only inactive ones.
    pub active: Option<bool>,
    /// Only those that are inactive because of this.
    pub deactivated_by: Option<DeactivatedBy>,
}

/// How many agents there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentCounts {
    /// All of them.
    pub all: u64,
    /// Those that are inactive, for whatever reason.
    pub inactive: u64,
    /// Those that the kill switch holds inactive.
    pub stopped: u64,
}

impl Store {
    /// A page of agents, by id.
    pub async fn agents(&self, filter: &AgentFilter, page: &PageRequest) -> Result<Page<AgentRow>, StoreError> {
        let mut query = QueryBuilder::<Sqlite>::new("select * from agents where true");
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
        let query = sqlx::query("select * from agents where id = $1").bind(id.as_str());
        Ok(query.try_map(agent_row).fetch_optional(&self.readers).await?)
    }

    /// The active agents that were last heard of from `from` to `to`.
    pub async fn agents_last_seen(&self, from: Timestamp, to: Timestamp) -> Result<Vec<AgentRow>, StoreError> {
        let query = sqlx::query("select * from agents where last_seen between $1 and $2 and active = 1");
        let query = query.bind(from.as_millis()).bind(to.as_millis());
        Ok(query.try_map(agent_row).fetch_all(&self.readers).await?)
    }

    /// How many agents there are.
    pub async fn agent_counts(&self) -> Result<AgentCounts, StoreError> {
        let query = sqlx::query(
            "select count(*) as all_agents, count(*) filter (where active = 0) as inactive,
                    count(*) filter (where active = 0 and deactivated_by = $1) as stopped
             from agents",
        );
        let row = query.bind(DeactivatedBy::KillSwitch.as_str()).fetch_one(&self.readers).await?;
        let count = |column: &str| row.try_get(column).map(unsigned);
        Ok(AgentCounts { all: count("all_agents")?, inactive: count("inactive")?, stopped: count("stopped")? })
    }

    /// What is restored at start: every agent that is inactive, was ever activated again, has exemptions or settings other
    /// than `defaults`, and the `recent` most recently seen others; each with its newest fingerprints of its epoch.
    pub async fn saved_agents(&self, defaults: KillSwitch, recent: usize) -> Result<Vec<SavedAgent>, StoreError> {
        let exemptions = exemptions::in_force(&mut *self.readers.acquire().await?, self.config.clock.now()).await?;
        let since = self.seen_since(recent).await?;
        // Several readers at once: a start waits for nothing else.
        let (last,): (i64,) =
            sqlx::query_as("select coalesce(max(rowid), 0) from agents").fetch_one(&self.readers).await?;
        let border = |part: i64| last / PARTS * part + last % PARTS * part / PARTS;
        let parts = (0..PARTS).map(|part| Chosen { defaults, since, rows: (border(part), border(part + 1)) });
        let mut reading = JoinSet::new();
        for (number, part) in parts.enumerate() {
            let store = self.clone();
            reading.spawn(async move { Ok::<_, StoreError>((number, store.saved_part(part).await?)) });
        }
        let mut parts = Vec::new();
        while let Some(part) = reading.join_next().await {
            parts.push(part.map_err(|error| StoreError::Unavailable(error.to_string()))??);
        }
        parts.sort_unstable_by_key(|(number, _)| *number);
        let mut agents: Vec<SavedAgent> = parts.into_iter().flat_map(|(_, agents)| agents).collect();
        add_exemptions(&mut agents, exemptions);
        Ok(agents)
    }

    /// Since when the `recent` most recently seen agents were seen; those seen at the same moment are among them.
    async fn seen_since(&self, recent: usize) -> Result<i64, StoreError> {
        let Some(before) = recent.checked_sub(1) else { return Ok(i64::MAX) };
        let query = "select last_seen from agents order by last_seen desc limit 1 offset $1";
        let query = sqlx::query_scalar::<_, Option<i64>>(query).bind(signed(before as u64));
        Ok(query.fetch_optional(&self.readers).await?.flatten().unwrap_or(i64::MIN))
    }

    /// The chosen agents of some rows of the table, with their windows.
    async fn saved_part(&self, chosen: Chosen) -> Result<Vec<SavedAgent>, StoreError> {
        // One transaction: both queries see the same agents.
        let mut reader = self.readers.begin().await?;
        let query = chosen.bind(sqlx::query(SAVED_AGENTS));
        let mut agents = query.try_map(saved_agent).fetch_all(&mut *reader).await?;
        // One query for all windows: one per agent would be a hundred thousand trips to the connection's thread.
        let positions: HashMap<AgentId, usize> =
            agents.iter().enumerate().map(|(position, agent)| (agent.id.clone(), position)).collect();
        let query = chosen.bind(sqlx::query(SAVED_WINDOWS)).bind(signed(SavedAgent::RECALL));
        let windows = query.try_map(|row: SqliteRow| {
            let window: &[u8] = row.try_get(1)?;
            Ok((columns::agent_id(&row, "agent_id")?, fingerprint::decode(window)))
        });
        let mut windows = windows.fetch(&mut *reader);
        while let Some(window) = windows.next().await {
            let (id, fingerprint) = window?;
            if let (Some(&position), Some(fingerprint)) = (positions.get(&id), fingerprint) {
                agents[position].fingerprints.push(fingerprint);
            }
        }
        for agent in &mut agents {
            agent.fingerprints.sort_unstable_by_key(|fingerprint| fingerprint.number);
        }
        Ok(agents)
    }

    /// The agents whose settings are others than `defaults`.
    pub async fn agents_set_otherwise(&self, defaults: KillSwitch) -> Result<Vec<(AgentId, KillSwitch)>, StoreError> {
        let query = sqlx::query(
            "select * from agents
             where enabled <> $1 or window_size <> $2 or threshold <> $3 or action <> $4 or counting <> $5",
        );
        let query = settings_of(query, defaults);
        let rows = query.try_map(|row: SqliteRow| Ok((columns::agent_id(&row, "id")?, columns::kill_switch(&row)?)));
        Ok(rows.fetch_all(&self.readers).await?)
    }

    /// How many calls of an agent's current epoch would have been stopped, had the kill switch been on.
    pub async fn would_have_stopped(&self, id: &AgentId) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "select count(*) from events
             where agent_id = $1 and would_have_stopped = 1 and epoch = (select epoch from agents where id = $1)",
        )
        .bind(id.as_str())
        .fetch_one(&self.readers)
        .await?;
        Ok(unsigned(count))
    }
}

/// Into how many parts the agents are divided that are restored: there are as many readers.
const PARTS: i64 = 4;

/// Which agents are restored.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    defaults: KillSwitch,
    /// All that were seen since then.
    since: i64,
    /// Of the rows after the first up to the second.
    rows: (i64, i64),
}

const SAVED_AGENTS: &str = "
    select id, deactivated_by, deactivated_at, incident_id, active, epoch, enabled, window_size, threshold, action, counting,
        window_floor, last_seen
    from agents
    where rowid > $7 and rowid <= $8
      and (active = 0 or epoch > 0 or window_floor > 0
       or enabled <> $1 or window_size <> $2 or threshold <> $3 or action <> $4 or counting <> $5
       or coalesce(last_seen, -9223372036854775808) >= $6
       or id in (select agent_id from exemptions))";

/// `cross join` holds SQLite to going from the agents to their events, and not through all events there are.
const SAVED_WINDOWS: &str = "
    with chosen as materialized (
        select id, epoch, window_floor,
               (select max(number) from events
                where agent_id = agents.id and epoch = agents.epoch and fingerprint is not null) as newest
        from agents
        where rowid > $7 and rowid <= $8
          and (active = 0 or epoch > 0 or window_floor > 0
           or enabled <> $1 or window_size <> $2 or threshold <> $3 or action <> $4 or counting <> $5
           or coalesce(last_seen, -9223372036854775808) >= $6
           or id in (select agent_id from exemptions))
    )
    select events.agent_id, events.fingerprint
    from chosen cross join events
    where events.agent_id = chosen.id and events.epoch = chosen.epoch and events.fingerprint is not null
      and events.number > chosen.window_floor and events.number > chosen.newest - $9";

type Query = sqlx::query::Query<'static, Sqlite, <Sqlite as sqlx::Database>::Arguments>;

impl Chosen {
    fn bind(self, query: Query) -> Query {
        settings_of(query, self.defaults).bind(self.since).bind(self.rows.0).bind(self.rows.1)
    }
}

/// Gives each agent what does not count for it.
fn add_exemptions(agents: &mut [SavedAgent], mut exemptions: HashMap<AgentId, Vec<model::Exemption>>) {
    if exemptions.is_empty() {
        return;
    }
    for agent in agents {
        agent.exemptions = exemptions.remove(&agent.id).unwrap_or_default();
    }
}

/// Binds settings.
fn settings_of(query: Query, defaults: KillSwitch) -> Query {
    query
        .bind(defaults.enabled)
        .bind(defaults.window_size)
        .bind(defaults.threshold)
        .bind(defaults.action.as_str())
        .bind(defaults.counting.as_str())
}

fn agent_row(row: SqliteRow) -> Result<AgentRow, sqlx::Error> {
    Ok(AgentRow {
        id: columns::agent_id(&row, "id")?,
        deactivation: columns::deactivation(&row)?,
        epoch: columns::epoch(&row)?,
        kill_switch: columns::kill_switch(&row)?,
        created_at: columns::timestamp(&row, "created_at")?,
        last_seen: columns::maybe_timestamp(&row, "last_seen")?,
        name: row.try_get("name")?,
    })
}

fn saved_agent(row: SqliteRow) -> Result<SavedAgent, sqlx::Error> {
    Ok(SavedAgent {
        id: columns::agent_id(&row, "id")?,
        deactivation: columns::deactivation(&row)?,
        epoch: columns::epoch(&row)?,
        kill_switch: columns::kill_switch(&row)?,
        window_floor: row.try_get("window_floor").map(unsigned)?,
        last_seen: columns::maybe_timestamp(&row, "last_seen")?,
        exemptions: Vec::new(),
        fingerprints: Vec::new(),
    })
}

/// A `like` pattern for what contains `text`, in any case.
pub(crate) fn contains_pattern(text: &str) -> String {
    let escaped = text.to_lowercase().replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    format!("%{escaped}%")
}
