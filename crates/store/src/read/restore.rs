//! Reads what the guard is restored from at start: agents with their windows, and the calls of the
//! last minutes.

use std::collections::HashMap;

use model::{AgentId, Exemption, KillSwitch, SavedAgent, Timestamp};
use tokio_stream::StreamExt;

use super::agents::bind_settings;
use super::exemptions;
use crate::columns::{self, first_id, signed, unsigned};
use crate::database::{self, Query, Row, dialect};
use crate::{Store, StoreError};
use model::fingerprint_bytes as fingerprint;

/// Agents that are read at a time after the start.
const PORTION: usize = 2_000;

impl Store {
    /// The agents that the guard needs before the first call: every agent that is inactive, was
    /// ever activated again, has exemptions or settings other than `defaults`, and the `recent`
    /// most recently seen others; each with the newest fingerprints of its epoch.
    pub async fn saved_agents(&self, defaults: KillSwitch, recent: usize) -> Result<Vec<SavedAgent>, StoreError> {
        let since = self.seen_since(recent).await?;
        // Two readers at once. Each reads its agents in the cheapest order: the recent by their
        // index, the others in the order of the table.
        let (recent, special) = (Chosen::Recent { since }, Chosen::Special { defaults, before: since });
        let (mut agents, others) = tokio::try_join!(self.chosen_agents(&recent), self.chosen_agents(&special))?;
        agents.extend(others);
        agents.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        let exemptions =
            exemptions::in_force(&mut self.readers.acquire().await?.connection(), self.config.clock.now()).await?;
        add_exemptions(&mut agents, exemptions);
        Ok(agents)
    }

    /// The agents that [`saved_agents`](Store::saved_agents) returns for `recent` and not for
    /// `first`, to be restored while calls already come in.
    pub async fn older_agents(
        &self,
        defaults: KillSwitch,
        first: usize,
        recent: usize,
    ) -> Result<OlderAgents, StoreError> {
        let (before, until) = (self.seen_since(first).await?, self.seen_since(recent).await?);
        Ok(OlderAgents { store: self.clone(), defaults, before, until })
    }

    /// The time since which the `recent` most recently seen agents were seen; ties are included.
    async fn seen_since(&self, recent: usize) -> Result<i64, StoreError> {
        let Some(before) = recent.checked_sub(1) else { return Ok(i64::MAX) };
        let query =
            "select last_seen from agents where last_seen is not null order by last_seen desc limit 1 offset $1";
        let query = database::query_scalar::<Option<i64>>(query).bind(signed(before as u64));
        Ok(query.fetch_optional(&self.readers).await?.flatten().unwrap_or(NEVER + 1))
    }

    /// The chosen agents with their windows.
    async fn chosen_agents(&self, chosen: &Chosen) -> Result<Vec<SavedAgent>, StoreError> {
        // One transaction: both queries see the same agents.
        let mut transaction = self.readers.begin().await?;
        let mut reader = transaction.connection();
        let query = chosen.bind(database::query(chosen.agents_query()));
        let mut agents = query.try_map(saved_agent).fetch_all(&mut reader).await?;
        // One query for all windows: one per agent would be a hundred thousand trips to the
        // connection's thread.
        let positions: HashMap<AgentId, usize> =
            agents.iter().enumerate().map(|(position, agent)| (agent.id.clone(), position)).collect();
        let query = chosen.bind(database::query(chosen.windows_query())).bind(signed(SavedAgent::RECALL));
        let windows = query.try_map(|row: Row| {
            let window: &[u8] = row.try_get(1)?;
            Ok((columns::agent_id(&row, "agent_id")?, fingerprint::decode(window)))
        });
        let mut windows = windows.fetch(&mut reader)?;
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
}

/// Agents that are restored after the start, most recently seen first.
#[derive(Debug)]
pub struct OlderAgents {
    store: Store,
    defaults: KillSwitch,
    /// Agents seen before this time are not read yet.
    before: i64,
    /// Agents seen before this time are not restored.
    until: i64,
}

impl OlderAgents {
    /// The next of them; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Vec<SavedAgent>>, StoreError> {
        if self.before <= self.until {
            return Ok(None);
        }
        let query = "select last_seen from agents where last_seen < $1 order by last_seen desc limit 1 offset $2";
        let query = database::query_scalar(query).bind(self.before).bind(signed(PORTION as u64 - 1));
        let since: Option<i64> = query.fetch_optional(&self.store.readers).await?;
        let since = since.unwrap_or(i64::MIN).max(self.until);
        let chosen = Chosen::Older { defaults: self.defaults, since, before: self.before };
        self.before = since;
        self.store.chosen_agents(&chosen).await.map(Some)
    }
}

/// Sorts before the time of any agent; stands for an agent that was never seen.
const NEVER: i64 = i64::MIN;

/// Which agents are read.
#[derive(Clone, Copy, Debug)]
enum Chosen {
    /// Agents seen since this time.
    Recent { since: i64 },
    /// Agents that differ from an unknown one and were not seen since this time.
    Special { defaults: KillSwitch, before: i64 },
    /// Other agents seen in a range of time.
    Older { defaults: KillSwitch, since: i64, before: i64 },
}

/// Whether an agent differs from an unknown one.
macro_rules! is_special {
    () => {
        "(active = 0 or epoch > 0 or window_floor > 0
        or enabled <> $1 or window_size <> $2 or threshold <> $3 or action <> $4 or counting <> $5
        or id in (select agent_id from exemptions))"
    };
}

macro_rules! is_recent {
    () => {
        "last_seen >= $1"
    };
}

/// `coalesce` keeps SQLite from using the index, which would be slower for most of the table.
macro_rules! is_special_and_not_recent {
    () => {
        concat!("coalesce(last_seen, -9223372036854775808) < $6 and ", is_special!())
    };
}

macro_rules! is_older {
    () => {
        concat!("last_seen >= $6 and last_seen < $7 and not ", is_special!())
    };
}

macro_rules! agents_where {
    ($condition:expr) => {
        concat!(
            "select id, deactivated_by, deactivated_at, incident_id, active, epoch, enabled, window_size, threshold, action,
                counting, window_floor, last_seen
            from agents where ",
            $condition
        )
    };
}

/// `cross join` makes SQLite look up the events of each agent instead of scanning all events.
macro_rules! windows_where {
    ($condition:expr, $recall:literal) => {
        concat!(
            "with chosen as materialized (
                select id, epoch, window_floor,
                       (select max(number) from events
                        where agent_id = agents.id and epoch = agents.epoch and fingerprint is not null) as newest
                from agents where ",
            $condition,
            ")
            select events.agent_id, events.fingerprint
            from chosen cross join events
            where events.agent_id = chosen.id and events.epoch = chosen.epoch and events.fingerprint is not null
              and events.number > chosen.window_floor and events.number > chosen.newest - ",
            $recall
        )
    };
}

impl Chosen {
    fn agents_query(&self) -> &'static str {
        match self {
            Chosen::Recent { .. } => agents_where!(is_recent!()),
            Chosen::Special { .. } => agents_where!(is_special_and_not_recent!()),
            Chosen::Older { .. } => agents_where!(is_older!()),
        }
    }

    fn windows_query(&self) -> &'static str {
        match self {
            Chosen::Recent { .. } => windows_where!(is_recent!(), "$2"),
            Chosen::Special { .. } => windows_where!(is_special_and_not_recent!(), "$7"),
            Chosen::Older { .. } => windows_where!(is_older!(), "$8"),
        }
    }

    fn bind(&self, query: Query) -> Query {
        match *self {
            Chosen::Recent { since } => query.bind(since),
            Chosen::Special { defaults, before } => bind_settings(query, defaults).bind(before),
            Chosen::Older { defaults, since, before } => bind_settings(query, defaults).bind(since).bind(before),
        }
    }
}

/// Gives each agent its exemptions.
fn add_exemptions(agents: &mut [SavedAgent], mut exemptions: HashMap<AgentId, Vec<Exemption>>) {
    if exemptions.is_empty() {
        return;
    }
    for agent in agents {
        agent.exemptions = exemptions.remove(&agent.id).unwrap_or_default();
    }
}

fn saved_agent(row: Row) -> Result<SavedAgent, sqlx::Error> {
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

/// The calls of an agent to a provider within a second.
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
    /// The calls that came since `from`, oldest first.
    pub async fn recent_calls(&self, from: Timestamp) -> Result<Vec<RecentCalls>, StoreError> {
        let query = database::query(RECENT_CALLS).bind(first_id(from));
        Ok(query.try_map(recent_calls).fetch_all(&self.readers).await?)
    }
}

/// Ids sort by time.
const RECENT_CALLS: &str = concat!(
    "select agent_id, coalesce(provider, '') as provider, timestamp / 1000 as second, count(*) as calls, ",
    dialect::sum!("tokens_in"),
    " + ",
    dialect::sum!("tokens_out"),
    " as tokens
    from events where event_type = 'llm_call' and id >= $1
    group by second, agent_id, provider order by second"
);

fn recent_calls(row: Row) -> Result<RecentCalls, sqlx::Error> {
    Ok(RecentCalls {
        agent: columns::agent_id(&row, "agent_id")?,
        provider: row.try_get("provider")?,
        time: Timestamp::from_millis(row.try_get::<i64, _>("second")?.saturating_mul(1000)),
        calls: unsigned(row.try_get("calls")?),
        tokens: unsigned(row.try_get("tokens")?),
    })
}
