//! Statistics, read from the figures that the writer keeps: what a page costs does not grow with the number of events.

use std::collections::{BTreeMap, HashMap};

use model::{AgentId, NanoUsd, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite};

use crate::columns::{self, unsigned};
use crate::ladder::{self, Rung};
use crate::made::Made;
use crate::period::Piece;
use crate::span::Span;
use crate::{Period, Store, StoreError, Tally};

/// What happened in a period.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The period.
    pub period: Period,
    /// All of it.
    pub total: Tally,
    /// Step by step: when each began and what happened in it; the quiet ones, too.
    pub series: Vec<(Timestamp, Tally)>,
    /// By provider and model, the most expensive first.
    pub models: Vec<(ModelName, Tally)>,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelName {
    /// The provider; empty if a call named none.
    pub provider: String,
    /// The model; empty if a call named none.
    pub model: String,
}

impl Figures {
    /// By provider, the most expensive first.
    pub fn providers(&self) -> Vec<(String, Tally)> {
        let mut providers: HashMap<String, Tally> = HashMap::new();
        for (name, tally) in &self.models {
            providers.entry(name.provider.clone()).or_default().merge(tally);
        }
        by_cost(providers)
    }
}

/// What one conversation came to.
#[derive(Clone, Debug)]
pub struct ConversationRow {
    /// As the client or the first message names it.
    pub conversation: String,
    /// The hour it was first seen in.
    pub first_hour: Timestamp,
    /// The hour it was last seen in.
    pub last_hour: Timestamp,
    /// What it came to; no latencies are kept.
    pub tally: Tally,
}

impl Store {
    /// What happened in a period, to one agent or to all.
    pub async fn figures(&self, agent: Option<&AgentId>, period: Period) -> Result<Figures, StoreError> {
        let (mut total, mut models) = (Tally::default(), HashMap::<ModelName, Tally>::new());
        let mut series: BTreeMap<i64, Tally> = period.steps().map(|start| (start, Tally::default())).collect();
        for (start, name, tally) in self.rollups(agent, period).await? {
            total.merge(&tally);
            let step = period.step().start(Timestamp::from_millis(start));
            series.entry(step).or_default().merge(&tally);
            models.entry(name).or_default().merge(&tally);
        }
        let series = series.into_iter().map(|(start, tally)| (Timestamp::from_millis(start), tally)).collect();
        Ok(Figures { period, total, series, models: by_cost(models) })
    }

    /// The same in one sum.
    pub async fn total(&self, agent: Option<&AgentId>, period: Period) -> Result<Tally, StoreError> {
        let mut total = Tally::default();
        for (_, _, tally) in self.rollups(agent, period).await? {
            total.merge(&tally);
        }
        Ok(total)
    }

    /// What happened in as much time right before `period`. If the period runs, its last hour or day counts there by the part
    /// that has passed here.
    pub async fn total_before(&self, agent: Option<&AgentId>, period: Period) -> Result<Tally, StoreError> {
        let now = self.config.clock.now();
        let before = period.before(now);
        let made = self.made().await?;
        let (last_start, share) = before.last_span_share(period.left(now), &made);
        let (mut whole, mut last) = (Tally::default(), Tally::default());
        for (start, _, tally) in self.rollups_of(agent, before.pieces(&made)).await? {
            if start == last_start { last.merge(&tally) } else { whole.merge(&tally) }
        }
        whole.merge(&last.part(share));
        Ok(whole)
    }

    /// The agents that did something in a period, the most expensive first, at most `limit`; without latencies.
    pub async fn agent_figures(&self, period: Period, limit: u32) -> Result<Vec<(AgentId, Tally)>, StoreError> {
        // First who they are, by two columns, then all columns of those: adding up everything of everyone takes twice as long.
        let mut query = QueryBuilder::new("select agent_id from (");
        let rungs = ladder::rungs(period, &self.made().await?);
        push_sums(&mut query, &rungs, "agent_id, cost_nano_usd, requests", None);
        query.push(") group by agent_id order by total(cost_nano_usd) desc, total(requests) desc, agent_id limit ");
        query.push_bind(i64::from(limit));
        let agent_id = |row: SqliteRow| columns::agent_id(&row, "agent_id");
        let agents = query.build().try_map(agent_id).fetch_all(&self.readers).await?;

        let mut figures = self.figures_of(agents.iter(), period).await?;
        let with_figures = |agent: AgentId| figures.remove(&agent).map(|tally| (agent, tally));
        Ok(agents.into_iter().filter_map(with_figures).collect())
    }

    /// What these agents did in a period, those of them that did something; without latencies.
    pub async fn figures_of(
        &self,
        agents: impl Iterator<Item = &AgentId>,
        period: Period,
    ) -> Result<HashMap<AgentId, Tally>, StoreError> {
        let agents: Vec<&AgentId> = agents.collect();
        let mut query = QueryBuilder::new(SUMS_BY_AGENT);
        let rungs = ladder::rungs(period, &self.made().await?);
        push_sums(&mut query, &rungs, COUNTS_BY_AGENT, Some(&agents));
        query.push(") group by agent_id");
        Ok(query.build().try_map(agent_tally).fetch_all(&self.readers).await?.into_iter().collect())
    }

    /// The conversations of an agent that were last seen in a period, the most expensive first, at most `limit`.
    pub async fn conversation_figures(
        &self,
        agent: &AgentId,
        period: Period,
        limit: u32,
    ) -> Result<Vec<ConversationRow>, StoreError> {
        let hours = Piece { span: Span::Hour, from: period.from().as_millis(), to: period.to().as_millis() };
        let mut query = QueryBuilder::<Sqlite>::new("select * from conversations where agent_id = ");
        query.push_bind(agent.as_str().to_owned()).push(" and last_hour in (");
        push_list(&mut query, hours.starts());
        query.push(") order by cost_nano_usd desc, requests desc, conversation limit ").push_bind(i64::from(limit));
        Ok(query.build().try_map(conversation_row).fetch_all(&self.readers).await?)
    }

    /// The sums of a period, each with the beginning of its span.
    pub(crate) async fn rollups(
        &self,
        agent: Option<&AgentId>,
        period: Period,
    ) -> Result<Vec<(i64, ModelName, Tally)>, StoreError> {
        self.rollups_of(agent, period.pieces(&self.made().await?)).await
    }

    /// How far sums are made. To be asked before they are read: what is made in between is then read from what it is made of.
    pub(crate) async fn made(&self) -> Result<Made, StoreError> {
        Ok(Made::read(&self.readers).await?)
    }

    async fn rollups_of(
        &self,
        agent: Option<&AgentId>,
        pieces: Vec<Piece>,
    ) -> Result<Vec<(i64, ModelName, Tally)>, StoreError> {
        let agent = agent.map_or("", AgentId::as_str);
        let mut rows = Vec::new();
        for piece in pieces {
            // The time comes first in the key: naming each span finds its rows at once, a range would pass all agents by.
            let mut query = QueryBuilder::<Sqlite>::new("select * from rollups where span = ");
            query.push_bind(piece.span.code()).push(" and start in (");
            push_list(&mut query, piece.starts());
            query.push(") and agent_id = ").push_bind(agent.to_owned());
            rows.extend(query.build().try_map(rollup_row).fetch_all(&self.readers).await?);
        }
        Ok(rows)
    }
}

/// The sums of these agents, or of all, span by span.
fn push_sums(query: &mut QueryBuilder<Sqlite>, rungs: &[Rung], columns: &str, agents: Option<&[&AgentId]>) {
    for (number, rung) in rungs.iter().enumerate() {
        query.push(if number == 0 { "select " } else { " union all select " }).push(columns);
        match rung.hours {
            Some(hours) => query.push(" from agent_sums where hours = ").push_bind(hours),
            None => query.push(" from rollups where agent_id <> '' and span = ").push_bind(Span::Hour.code()),
        };
        let Some(agents) = agents else {
            query.push(" and start >= ").push_bind(rung.from).push(" and start < ").push_bind(rung.to);
            continue;
        };
        // Naming each span and agent finds their rows at once, a range would pass all other agents by.
        query.push(" and start in (");
        push_list(query, rung.starts());
        query.push(") and agent_id in (");
        let mut list = query.separated(", ");
        for agent in agents {
            list.push_bind(agent.as_str().to_owned());
        }
        query.push(")");
    }
}

fn agent_tally(row: SqliteRow) -> Result<(AgentId, Tally), sqlx::Error> {
    Ok((columns::agent_id(&row, "agent_id")?, Tally::of_row(&row)?))
}

const COUNTS_BY_AGENT: &str =
    "agent_id, requests, errors, blocked, tokens_in, tokens_out, tokens_cached, tokens_cache_write, tokens_reasoning,
    cost_nano_usd, unpriced, unpriced_in, unpriced_out, estimated";

/// `total` and not `sum`, which fails where the sum is too large for a column; a cast ends at the largest number.
const SUMS_BY_AGENT: &str = "
    select agent_id, cast(total(requests) as integer) as requests, cast(total(errors) as integer) as errors,
        cast(total(blocked) as integer) as blocked, cast(total(tokens_in) as integer) as tokens_in,
        cast(total(tokens_out) as integer) as tokens_out, cast(total(tokens_cached) as integer) as tokens_cached,
        cast(total(tokens_cache_write) as integer) as tokens_cache_write,
        cast(total(tokens_reasoning) as integer) as tokens_reasoning,
        cast(total(cost_nano_usd) as integer) as cost_nano_usd, cast(total(unpriced) as integer) as unpriced,
        cast(total(unpriced_in) as integer) as unpriced_in, cast(total(unpriced_out) as integer) as unpriced_out,
        cast(total(estimated) as integer) as estimated, x'' as latency
    from (";

/// The rows of all agents in `pieces`, one range of the key after the other.
pub(crate) fn push_pieces(query: &mut QueryBuilder<Sqlite>, pieces: &[Piece]) {
    for (number, piece) in pieces.iter().enumerate() {
        query.push(if number == 0 { "" } else { " union all " });
        query
            .push(
                "select agent_id, provider, model, cost_nano_usd, unpriced_in, unpriced_out from rollups where span = ",
            )
            .push_bind(piece.span.code());
        query.push(" and start >= ").push_bind(piece.from).push(" and start < ").push_bind(piece.to);
    }
}

fn push_list(query: &mut QueryBuilder<Sqlite>, starts: impl Iterator<Item = i64>) {
    let mut list = query.separated(", ");
    for start in starts {
        list.push_bind(start);
    }
}

/// The smallest id that an event at this time can have: a UUIDv7 begins with the milliseconds.
pub(crate) fn first_id(time: Timestamp) -> String {
    let digits = format!("{:012x}", time.as_millis().max(0));
    format!("{}-{}-0000-0000-000000000000", &digits[..8], &digits[8..])
}

/// The most expensive first; among equals the busiest, then by name, so that the order is always the same.
fn by_cost<K: Ord>(tallies: HashMap<K, Tally>) -> Vec<(K, Tally)> {
    let mut list: Vec<_> = tallies.into_iter().collect();
    list.sort_by(|(left_name, left), (right_name, right)| {
        (right.cost, right.requests).cmp(&(left.cost, left.requests)).then_with(|| left_name.cmp(right_name))
    });
    list
}

fn rollup_row(row: SqliteRow) -> Result<(i64, ModelName, Tally), sqlx::Error> {
    Ok((row.try_get("start")?, model_name(&row)?, Tally::of_row(&row)?))
}

pub(crate) fn model_name(row: &SqliteRow) -> Result<ModelName, sqlx::Error> {
    Ok(ModelName { provider: row.try_get("provider")?, model: row.try_get("model")? })
}

fn conversation_row(row: SqliteRow) -> Result<ConversationRow, sqlx::Error> {
    let count = |column: &str| row.try_get(column).map(unsigned);
    let tally = Tally {
        requests: count("requests")?,
        errors: count("errors")?,
        blocked: count("blocked")?,
        tokens_in: count("tokens_in")?,
        tokens_out: count("tokens_out")?,
        cost: row.try_get("cost_nano_usd").map(NanoUsd::new)?,
        unpriced: count("unpriced")?,
        ..Tally::default()
    };
    Ok(ConversationRow {
        conversation: row.try_get("conversation")?,
        first_hour: columns::timestamp(&row, "first_hour")?,
        last_hour: columns::timestamp(&row, "last_hour")?,
        tally,
    })
}
