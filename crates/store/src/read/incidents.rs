//! Incidents.

use model::{
    ActivatedBy, AgentId, Cycle, Fingerprint, IncidentId, IncidentState, KillSwitch, NanoUsd, Score, Timestamp,
};

use crate::columns::{self, first_id, invalid, unsigned};
use crate::database::dialect::{self, contains_pattern};
use crate::database::{self, QueryBuilder, Row};
use serde::{Deserialize, Serialize};

use crate::{Page, PageRequest, Store, StoreError};
use model::fingerprint_bytes as fingerprint;

/// A person's verdict on an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Feedback {
    /// It was a loop.
    Loop,
    /// It was not.
    FalseAlarm,
}

impl Feedback {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<Feedback> {
        word.parse().ok()
    }
}

/// One incident.
#[derive(Clone, Debug)]
pub struct IncidentRow {
    /// Its id.
    pub id: IncidentId,
    /// The agent.
    pub agent: AgentId,
    /// When it happened.
    pub at: Timestamp,
    /// The provider of the call that triggered it.
    pub provider: String,
    /// The model of that call.
    pub model: Option<String>,
    /// The conversation of that call.
    pub conversation: Option<String>,
    /// The score.
    pub score: Score,
    /// The settings at that moment.
    pub kill_switch: KillSwitch,
    /// Its state.
    pub state: IncidentState,
    /// Since when the agent made no progress; `None` in incidents of versions that did not record
    /// it.
    pub stuck_since: Option<Timestamp>,
    /// How many calls it made since then, including the stopped one.
    pub stuck_calls: u64,
    /// The cycle that it repeated, if any.
    pub cycle: Option<Cycle>,
    /// What those calls had cost when it was stopped; `None` if no price is known.
    pub loop_cost: Option<NanoUsd>,
    /// How many requests were refused since, until the agent was activated again.
    pub refused: u64,
    /// When the agent was activated again.
    pub closed_at: Option<Timestamp>,
    /// The interface through which the agent was activated again.
    pub closed_by: Option<ActivatedBy>,
    /// A person's verdict on it.
    pub feedback: Option<Feedback>,
    /// How many calls the evidence holds.
    pub evidence_count: u64,
}

/// Filters incidents.
#[derive(Clone, Debug, Default)]
pub struct IncidentFilter {
    /// Only this agent's.
    pub agent: Option<AgentId>,
    /// Only in this state.
    pub state: Option<IncidentState>,
    /// Only if the agent, provider, model or conversation contains this, in any case.
    pub text: Option<String>,
}

/// All columns but the window, which only the guard can read.
const COLUMNS: &str = "id, agent_id, timestamp, state, provider, model, conversation, score, similar_prompts,
    similar_responses, repeated_tool_calls, score_window, enabled, window_size, threshold, action, counting, stuck_since,
    stuck_calls, cycle_period, cycle_laps, loop_cost_nano_usd, refused, closed_at, closed_by, feedback, evidence_count";

impl Store {
    /// A page of incidents, newest first.
    pub async fn incidents(
        &self,
        filter: &IncidentFilter,
        page: &PageRequest,
    ) -> Result<Page<IncidentRow>, StoreError> {
        let mut query = QueryBuilder::new("select ");
        query.push(COLUMNS).push(" from incidents where true");
        if let Some(agent) = &filter.agent {
            query.push(" and agent_id = ").push_bind(agent.to_string());
        }
        if let Some(state) = filter.state {
            query.push(" and state = ").push_bind(state.as_str());
        }
        if let Some(text) = &filter.text {
            let pattern = contains_pattern(text);
            for (number, column) in ["agent_id", "provider", "model", "conversation"].into_iter().enumerate() {
                query.push(if number == 0 { " and (" } else { " or " }).push(column);
                query.push(dialect::like!()).push_bind(pattern.clone()).push(r" escape '\'");
            }
            query.push(")");
        }
        if let Some(after) = page.after()? {
            query.push(" and id < ").push_bind(after);
        }
        query.push(" order by id desc limit ").push_bind(page.rows());
        let rows = query.build().try_map(incident_row).fetch_all(&self.readers).await?;
        Ok(Page::of(rows, page, |incident| incident.id.to_string()))
    }

    /// How many incidents there were from `from` until before `to`.
    pub async fn incident_count(&self, from: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        // Ids sort by time, so this reads no other rows.
        let query = database::query_scalar("select count(*) from incidents where id >= $1 and id < $2");
        let count: i64 = query.bind(first_id(from)).bind(first_id(to)).fetch_one(&self.readers).await?;
        Ok(unsigned(count))
    }

    /// One incident.
    pub async fn incident(&self, id: IncidentId) -> Result<Option<IncidentRow>, StoreError> {
        let mut query = QueryBuilder::new("select ");
        query.push(COLUMNS).push(" from incidents where id = ").push_bind(id.to_string());
        Ok(query.build().try_map(incident_row).fetch_optional(&self.readers).await?)
    }

    /// The window that fired, oldest first. Empty if the incident does not exist or is of a version
    /// that did not record it.
    pub async fn incident_window(&self, id: IncidentId) -> Result<Vec<Fingerprint>, StoreError> {
        let query = database::query_scalar("select fingerprints from incidents where id = $1").bind(id.to_string());
        let window: Option<Option<Vec<u8>>> = query.fetch_optional(&self.readers).await?;
        Ok(window.flatten().map(|window| fingerprint::decode_all(&window)).unwrap_or_default())
    }
}

fn incident_row(row: Row) -> Result<IncidentRow, sqlx::Error> {
    let feedback: Option<&str> = row.try_get("feedback")?;
    let closed_by: Option<&str> = row.try_get("closed_by")?;
    Ok(IncidentRow {
        id: columns::incident_id(&row, "id")?.ok_or_else(|| invalid("id"))?,
        agent: columns::agent_id(&row, "agent_id")?,
        at: columns::timestamp(&row, "timestamp")?,
        provider: row.try_get("provider")?,
        model: row.try_get("model")?,
        conversation: row.try_get("conversation")?,
        score: columns::score(&row)?.unwrap_or_default(),
        kill_switch: columns::kill_switch(&row)?,
        state: IncidentState::parse(row.try_get("state")?).ok_or_else(|| invalid("state"))?,
        stuck_since: columns::maybe_timestamp(&row, "stuck_since")?,
        stuck_calls: row.try_get("stuck_calls").map(unsigned)?,
        cycle: cycle(&row)?,
        loop_cost: row.try_get::<Option<i64>, _>("loop_cost_nano_usd")?.map(NanoUsd::new),
        refused: row.try_get("refused").map(unsigned)?,
        closed_at: columns::maybe_timestamp(&row, "closed_at")?,
        closed_by: closed_by.and_then(ActivatedBy::parse),
        feedback: feedback.and_then(Feedback::parse),
        evidence_count: row.try_get("evidence_count").map(unsigned)?,
    })
}

fn cycle(row: &Row) -> Result<Option<Cycle>, sqlx::Error> {
    let period: Option<u32> = row.try_get("cycle_period")?;
    let laps: Option<u32> = row.try_get("cycle_laps")?;
    Ok(period.zip(laps).map(|(period, laps)| Cycle { period, laps }))
}
