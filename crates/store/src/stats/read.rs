//! Statistics of a period, read from the sums that the writer keeps.

use std::collections::{BTreeMap, HashMap};

use model::{AgentId, Timestamp};

use super::spans::Progress;
use super::spans::Run;
use super::spans::Span;
use super::totals::{count_columns, summed_counts};
use super::{ModelName, Period, Totals};
use crate::columns;
use crate::database::{QueryBuilder, Row, dialect};
use crate::{Store, StoreError};

/// The statistics of a period.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The period.
    pub period: Period,
    /// The sums over the whole period.
    pub total: Totals,
    /// The start and the sums of each step, including steps without calls.
    pub series: Vec<(Timestamp, Totals)>,
    /// By provider and model, the most expensive first.
    pub models: Vec<(ModelName, Totals)>,
}

impl Figures {
    /// By provider, the most expensive first.
    pub fn providers(&self) -> Vec<(String, Totals)> {
        let mut providers: HashMap<String, Totals> = HashMap::new();
        for (name, totals) in &self.models {
            providers.entry(name.provider.clone()).or_default().merge(totals);
        }
        by_cost(providers)
    }
}

impl Store {
    /// The statistics of a period, of one agent or of all.
    pub async fn figures(&self, agent: Option<&AgentId>, period: Period) -> Result<Figures, StoreError> {
        let (mut total, mut models) = (Totals::default(), HashMap::<ModelName, Totals>::new());
        let mut series: BTreeMap<i64, Totals> = period.steps().map(|start| (start, Totals::default())).collect();
        for (start, name, totals) in self.model_sums(agent, period).await? {
            total.merge(&totals);
            series.entry(period.resolution().span().start(start)).or_default().merge(&totals);
            models.entry(name).or_default().merge(&totals);
        }
        let series = series.into_iter().map(|(start, totals)| (Timestamp::from_millis(start), totals)).collect();
        Ok(Figures { period, total, series, models: by_cost(models) })
    }

    /// The sums over a whole period, of one agent or of all.
    pub async fn total(&self, agent: Option<&AgentId>, period: Period) -> Result<Totals, StoreError> {
        let mut total = Totals::default();
        for (_, _, totals) in self.model_sums(agent, period).await? {
            total.merge(&totals);
        }
        Ok(total)
    }

    /// The sums over the period right before `period`. If `period` has not ended, the last hour or
    /// day before it counts in proportion to the time that has passed.
    pub async fn total_before(&self, agent: Option<&AgentId>, period: Period) -> Result<Totals, StoreError> {
        let now = self.config.clock.now();
        let before = period.before(now);
        let progress = self.progress().await?;
        let (last_start, share) = before.last_span_share(period.millis_left(now), &progress);
        let (mut whole, mut last) = (Totals::default(), Totals::default());
        for (start, _, totals) in self.model_sums_of(agent, before.model_runs(&progress)).await? {
            if start == last_start { last.merge(&totals) } else { whole.merge(&totals) }
        }
        whole.merge(&last.scaled(share));
        Ok(whole)
    }

    /// The agents that made calls in a period, the most expensive first, at most `limit`; without
    /// latencies.
    pub async fn agent_figures(&self, period: Period, limit: u32) -> Result<Vec<(AgentId, Totals)>, StoreError> {
        // Ranks the agents by two columns first, then reads all columns of the top ones: adding up
        // all columns of all agents takes twice as long.
        let mut query = QueryBuilder::new("select agent_id from (");
        let runs = period.agent_runs(&self.progress().await?);
        push_sums(&mut query, &runs, "agent_id, cost_nano_usd, requests", None);
        query.push(concat!(
            ") as sums group by agent_id order by ",
            dialect::sum!("cost_nano_usd"),
            " desc, ",
            dialect::sum!("requests"),
            " desc, agent_id limit "
        ));
        query.push_bind(i64::from(limit));
        let agent_id = |row: Row| columns::agent_id(&row, "agent_id");
        let agents = query.build().try_map(agent_id).fetch_all(&self.readers).await?;

        let mut figures = self.figures_of(agents.iter(), period).await?;
        let with_figures = |agent: AgentId| figures.remove(&agent).map(|totals| (agent, totals));
        Ok(agents.into_iter().filter_map(with_figures).collect())
    }

    /// The sums of these agents over a period, without latencies. Agents without calls are left
    /// out.
    pub async fn figures_of(
        &self,
        agents: impl Iterator<Item = &AgentId>,
        period: Period,
    ) -> Result<HashMap<AgentId, Totals>, StoreError> {
        let agents: Vec<&AgentId> = agents.collect();
        // PostgreSQL rejects an empty list.
        if agents.is_empty() {
            return Ok(HashMap::new());
        }
        let mut query = QueryBuilder::new(format!("select agent_id, {} from (", summed_counts()));
        let runs = period.agent_runs(&self.progress().await?);
        push_sums(&mut query, &runs, &format!("agent_id, {}", count_columns()), Some(&agents));
        query.push(") as sums group by agent_id");
        Ok(query.build().try_map(agent_totals).fetch_all(&self.readers).await?.into_iter().collect())
    }

    /// The sums by model of a period, each with the beginning of its span.
    pub(super) async fn model_sums(
        &self,
        agent: Option<&AgentId>,
        period: Period,
    ) -> Result<Vec<(i64, ModelName, Totals)>, StoreError> {
        self.model_sums_of(agent, period.model_runs(&self.progress().await?)).await
    }

    /// How far sums are made. Read it before the sums: sums made in between are then read from
    /// their parts.
    pub(crate) async fn progress(&self) -> Result<Progress, StoreError> {
        Ok(Progress::read(&self.readers).await?)
    }

    async fn model_sums_of(
        &self,
        agent: Option<&AgentId>,
        runs: Vec<Run>,
    ) -> Result<Vec<(i64, ModelName, Totals)>, StoreError> {
        let agent = agent.map_or("", AgentId::as_str);
        let mut rows = Vec::new();
        for run in runs {
            // The time comes first in the key: naming each span finds its rows at once, a range
            // would read all agents.
            let mut query = QueryBuilder::new("select * from rollups where span = ");
            query.push_bind(run.span().model_code()).push(" and start in (");
            push_list(&mut query, run.starts());
            query.push(") and agent_id = ").push_bind(agent.to_owned());
            rows.extend(query.build().try_map(model_sum).fetch_all(&self.readers).await?);
        }
        Ok(rows)
    }
}

/// Selects the sums of these agents, or of all.
fn push_sums(query: &mut QueryBuilder, runs: &[Run], columns: &str, agents: Option<&[&AgentId]>) {
    for (number, run) in runs.iter().enumerate() {
        query.push(if number == 0 { "select " } else { " union all select " }).push(columns);
        match run.made {
            Some(span) => query.push(" from agent_sums where hours = ").push_bind(span.hours()),
            None => query.push(" from rollups where agent_id <> '' and span = ").push_bind(Span::Hour.model_code()),
        };
        let Some(agents) = agents else {
            query.push(" and start >= ").push_bind(run.from).push(" and start < ").push_bind(run.to);
            continue;
        };
        // Naming each span and agent finds their rows at once, a range would read all other agents.
        query.push(" and start in (");
        push_list(query, run.starts());
        query.push(") and agent_id in (");
        let mut list = query.separated(", ");
        for agent in agents {
            list.push_bind(agent.as_str().to_owned());
        }
        query.push(")");
    }
}

fn agent_totals(row: Row) -> Result<(AgentId, Totals), sqlx::Error> {
    Ok((columns::agent_id(&row, "agent_id")?, Totals::counts_of_row(&row)?))
}

/// Selects the sums by model of all agents, one range of the key after the other.
pub(super) fn push_model_sums(query: &mut QueryBuilder, runs: &[Run]) {
    for (number, run) in runs.iter().enumerate() {
        query.push(if number == 0 { "" } else { " union all " });
        query
            .push(
                "select agent_id, provider, model, cost_nano_usd, unpriced_in, unpriced_out from rollups where span = ",
            )
            .push_bind(run.span().model_code());
        query.push(" and start >= ").push_bind(run.from).push(" and start < ").push_bind(run.to);
    }
}

pub(super) fn push_list(query: &mut QueryBuilder, starts: impl Iterator<Item = i64>) {
    let mut list = query.separated(", ");
    for start in starts {
        list.push_bind(start);
    }
}

/// The most expensive first, then the busiest, then by name, so that the order is stable.
fn by_cost<K: Ord>(sums: HashMap<K, Totals>) -> Vec<(K, Totals)> {
    let mut list: Vec<_> = sums.into_iter().collect();
    list.sort_by(|(left_name, left), (right_name, right)| {
        (right.cost, right.requests).cmp(&(left.cost, left.requests)).then_with(|| left_name.cmp(right_name))
    });
    list
}

fn model_sum(row: Row) -> Result<(i64, ModelName, Totals), sqlx::Error> {
    Ok((row.try_get("start")?, ModelName::of_row(&row)?, Totals::of_row(&row)?))
}
