//! What agents have spent, as budgets count it: in the day, week and month of a time zone, and by
//! conversation.

use std::collections::HashMap;

use model::{AgentId, BudgetPeriod, NanoUsd, Policy, Spending, Timestamp};

use super::read::push_model_sums;
use super::spans::Span;
use super::{ModelName, Period, Totals};
use crate::columns::{self, first_id, unsigned};
use crate::database::{self, QueryBuilder, Row, dialect};
use crate::{Store, StoreError};

/// The cost of a conversation that was idle for longer is not restored at start.
const SILENCE_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// What one agent spent on one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The agent.
    pub agent: AgentId,
    /// The model.
    pub model: ModelName,
    /// The cost as far as prices are known.
    pub cost: NanoUsd,
    /// Input tokens whose price is not known.
    pub unpriced_in: u64,
    /// Output tokens whose price is not known.
    pub unpriced_out: u64,
}

/// An agent's budget and what it has spent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentBudget {
    /// The agent.
    pub agent: AgentId,
    /// Its own policy; `None` if the default applies.
    pub own: Option<Policy>,
    /// What it has spent; empty if it has no budget.
    pub spending: Spending,
}

impl Store {
    /// What agents have spent, as `policy` counts it. Agents that have spent nothing are left out.
    pub(crate) async fn spending(
        &self,
        policy: &Policy,
        now: Timestamp,
    ) -> Result<HashMap<AgentId, Spending>, StoreError> {
        let mut all: HashMap<AgentId, Spending> = HashMap::new();
        for period in BudgetPeriod::ALL {
            for spent in self.spent_since(policy.time_zone.period(period, now).start).await? {
                let counted = self.counted(&spent);
                *all.entry(spent.agent).or_default().of_mut(period) += counted;
            }
        }
        if policy.budget_conversation.is_some() {
            for (agent, conversation, cost) in self.conversations_since(None, recently(now)).await? {
                all.entry(agent).or_default().conversations.push((conversation, cost));
            }
        }
        Ok(all)
    }

    /// What was spent, as budgets count it.
    fn counted(&self, spent: &Spent) -> NanoUsd {
        let tokens = (spent.unpriced_in, spent.unpriced_out);
        spent.cost + self.config.unpriced.of_tokens(&spent.model.provider, tokens)
    }

    /// What one agent has spent, as `policy` counts it.
    pub async fn spending_of(&self, agent: &AgentId, policy: &Policy, now: Timestamp) -> Result<Spending, StoreError> {
        let mut spending = Spending::default();
        for period in BudgetPeriod::ALL {
            for spent in self.spent_by(agent, policy.time_zone.period(period, now).start).await? {
                *spending.of_mut(period) += self.counted(&spent);
            }
        }
        if policy.budget_conversation.is_some() {
            let conversations = self.conversations_since(Some(agent), recently(now)).await?;
            spending.conversations = conversations.into_iter().map(|(_, name, cost)| (name, cost)).collect();
        }
        Ok(spending)
    }

    /// Every agent with its own policy, and agents under `default` that have spent part of its
    /// budgets.
    pub async fn budgets(&self, default: &Policy, now: Timestamp) -> Result<Vec<AgentBudget>, StoreError> {
        let own = self.policies().await?;
        let mut all = Vec::new();
        if default.has_budget() {
            let is_own = |agent: &AgentId| own.binary_search_by(|(id, _)| id.cmp(agent)).is_ok();
            let by_default = self.spending(default, now).await?.into_iter().filter(|(agent, _)| !is_own(agent));
            all.extend(by_default.map(|(agent, spending)| AgentBudget { agent, own: None, spending }));
        }
        // One query for all agents of a time zone: there are few time zones.
        let mut asked: Vec<(Policy, HashMap<AgentId, Spending>)> = Vec::new();
        for (agent, policy) in own {
            let mut spending = Spending::default();
            if policy.has_budget() {
                let known = asked.iter().position(|(other, _)| other.counts_like(&policy));
                let known = match known {
                    Some(known) => known,
                    None => {
                        asked.push((policy.clone(), self.spending(&policy, now).await?));
                        asked.len() - 1
                    }
                };
                spending = asked[known].1.get(&agent).cloned().unwrap_or_default();
            }
            all.push(AgentBudget { agent, own: Some(policy), spending });
        }
        Ok(all)
    }

    /// What each agent spent since `from`, exactly: budgets in memory start with this.
    pub async fn spent_since(&self, from: Timestamp) -> Result<Vec<Spent>, StoreError> {
        let whole = Timestamp::from_millis(Span::Hour.end(from.as_millis()));
        let period = Period::between(whole, self.newest_time().await?.max(whole), whole);
        let runs = period.model_runs(&self.progress().await?);
        let mut query = QueryBuilder::new(SPENT);
        push_model_sums(&mut query, &runs);
        // Some time zones begin a day in the middle of a UTC hour; this reads at most an hour of
        // events.
        query.push(") as sums union all ");
        push_events(&mut query, (from, whole));
        query.push(") as spent where agent_id <> '' group by agent_id, provider, model");
        Ok(query.build().try_map(spent_row).fetch_all(&self.readers).await?)
    }

    /// Now, or the end of the newest hour with sums if the clock was set back since: that spending
    /// still counts.
    async fn newest_time(&self) -> Result<Timestamp, StoreError> {
        let query =
            database::query_scalar("select max(start) from rollups where span = $1").bind(Span::Hour.model_code());
        let newest: Option<i64> = query.fetch_one(&self.readers).await?;
        let end = newest.map(|start| Timestamp::from_millis(Span::Hour.end(start)));
        Ok(self.config.clock.now().max(end.unwrap_or_default()))
    }

    /// What one agent has spent since `from`, by model.
    pub async fn spent_by(&self, agent: &AgentId, from: Timestamp) -> Result<Vec<Spent>, StoreError> {
        let whole = Timestamp::from_millis(Span::Hour.end(from.as_millis()));
        let period = Period::between(whole, self.newest_time().await?.max(whole), whole);
        let spent = |(_, model, totals): (i64, ModelName, Totals)| Spent {
            agent: agent.clone(),
            model,
            cost: totals.cost,
            unpriced_in: totals.unpriced_in,
            unpriced_out: totals.unpriced_out,
        };
        let mut all: Vec<Spent> = self.model_sums(Some(agent), period).await?.into_iter().map(spent).collect();
        let mut query = QueryBuilder::default();
        push_events(&mut query, (from, whole));
        query.push(" and agent_id = ").push_bind(agent.as_str());
        all.extend(query.build().try_map(spent_row).fetch_all(&self.readers).await?);
        Ok(all)
    }

    /// What the conversations that were seen since `from` have cost so far, as budgets count it, of
    /// one agent or of all, the most recent last.
    pub async fn conversations_since(
        &self,
        agent: Option<&AgentId>,
        from: Timestamp,
    ) -> Result<Vec<(AgentId, String, NanoUsd)>, StoreError> {
        let mut query = QueryBuilder::new(
            "select agent_id, conversation, cost_nano_usd + unpriced_nano_usd as cost_nano_usd from conversations
             where last_hour >= ",
        );
        query.push_bind(Span::Hour.start(from.as_millis()));
        if let Some(agent) = agent {
            query.push(" and agent_id = ").push_bind(agent.as_str());
        }
        query.push(" order by last_hour");
        let rows = query.build().try_map(|row: Row| {
            let cost = row.try_get("cost_nano_usd").map(NanoUsd::new)?;
            Ok((columns::agent_id(&row, "agent_id")?, row.try_get("conversation")?, cost))
        });
        Ok(rows.fetch_all(&self.readers).await?)
    }
}

const SPENT: &str = concat!(
    "select agent_id, provider, model, ",
    dialect::sum!("cost_nano_usd"),
    " as cost_nano_usd, ",
    dialect::sum!("unpriced_in"),
    " as unpriced_in, ",
    dialect::sum!("unpriced_out"),
    " as unpriced_out
    from (select agent_id, provider, model, cost_nano_usd, unpriced_in, unpriced_out from ("
);

const SPENT_IN_EVENTS: &str = "
    select agent_id, coalesce(provider, '') as provider, coalesce(model, '') as model,
        coalesce(cost_nano_usd, 0) as cost_nano_usd,
        case when cost_nano_usd is null then coalesce(tokens_in, 0) else 0 end as unpriced_in,
        case when cost_nano_usd is null then coalesce(tokens_out, 0) else 0 end as unpriced_out
    from events where event_type = 'llm_call' and id >= ";

/// The spending between the two times, call by call. Ids sort by time.
fn push_events(query: &mut QueryBuilder, (from, to): (Timestamp, Timestamp)) {
    query.push(SPENT_IN_EVENTS).push_bind(first_id(from)).push(" and id < ").push_bind(first_id(to));
}

fn spent_row(row: Row) -> Result<Spent, sqlx::Error> {
    Ok(Spent {
        agent: columns::agent_id(&row, "agent_id")?,
        model: ModelName::of_row(&row)?,
        cost: row.try_get("cost_nano_usd").map(NanoUsd::new)?,
        unpriced_in: row.try_get("unpriced_in").map(unsigned)?,
        unpriced_out: row.try_get("unpriced_out").map(unsigned)?,
    })
}

fn recently(now: Timestamp) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_sub(SILENCE_MS))
}
