//! What each rule last said of each agent: normal or firing, since when, and when it was last told.

use model::{AgentId, IncidentId, RuleId, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::columns::{self, odd, unsigned};
use crate::{Store, StoreError};

/// What a rule last said of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertState {
    /// The rule.
    pub rule: RuleId,
    /// The agent.
    pub agent: AgentId,
    /// Whether it lasts.
    pub firing: bool,
    /// Since when it is so.
    pub since: Timestamp,
    /// When it was last told.
    pub told_at: Timestamp,
    /// The incident it is about.
    pub incident: Option<IncidentId>,
    /// How often it was told again.
    pub repeats: u64,
}

impl Store {
    /// What all rules last said.
    pub async fn alert_states(&self) -> Result<Vec<AlertState>, StoreError> {
        Ok(sqlx::query("select * from alert_states").try_map(state_row).fetch_all(&self.readers).await?)
    }
}

/// What `rule` last said of `agent`.
pub(super) async fn get(
    transaction: &mut SqliteConnection,
    rule: RuleId,
    agent: &AgentId,
) -> Result<Option<AlertState>, sqlx::Error> {
    let query = sqlx::query("select * from alert_states where rule_id = $1 and agent_id = $2");
    query.bind(rule.to_string()).bind(agent.as_str()).try_map(state_row).fetch_optional(transaction).await
}

/// What rules about kills say of `agent`, as long as it is killed.
pub(super) async fn of_killed(
    transaction: &mut SqliteConnection,
    agent: &AgentId,
) -> Result<Vec<AlertState>, sqlx::Error> {
    let query = "select * from alert_states where agent_id = $1 and firing = 1 and incident_id is not null";
    sqlx::query(query).bind(agent.as_str()).try_map(state_row).fetch_all(transaction).await
}

/// Remembers what a rule says.
pub(super) async fn put(transaction: &mut SqliteConnection, state: &AlertState) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into alert_states (rule_id, agent_id, firing, since, told_at, incident_id, repeats)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (rule_id, agent_id) do update set firing = excluded.firing, since = excluded.since,
            told_at = excluded.told_at, incident_id = excluded.incident_id, repeats = excluded.repeats",
    )
    .bind(state.rule.to_string())
    .bind(state.agent.as_str())
    .bind(state.firing)
    .bind(state.since.as_millis())
    .bind(state.told_at.as_millis())
    .bind(state.incident.map(|incident| incident.to_string()))
    .bind(columns::signed(state.repeats))
    .execute(transaction)
    .await
    .map(drop)
}

fn state_row(row: SqliteRow) -> Result<AlertState, sqlx::Error> {
    Ok(AlertState {
        rule: RuleId::parse(row.try_get("rule_id")?).ok_or_else(|| odd("rule_id"))?,
        agent: columns::agent_id(&row, "agent_id")?,
        firing: row.try_get("firing")?,
        since: columns::timestamp(&row, "since")?,
        told_at: columns::timestamp(&row, "told_at")?,
        incident: columns::incident_id(&row, "incident_id")?,
        repeats: row.try_get("repeats").map(unsigned)?,
    })
}
