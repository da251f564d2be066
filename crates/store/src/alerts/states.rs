//! The state of each rule for each agent: normal or firing, since when, and when it last notified.

use model::{AgentId, IncidentId, RuleId, Timestamp};

use crate::columns::{self, invalid, unsigned};
use crate::database::{self, Connection, Row};
use crate::{Store, StoreError};

/// The state of a rule for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertState {
    /// The rule.
    pub rule: RuleId,
    /// The agent.
    pub agent: AgentId,
    /// Whether the condition holds.
    pub firing: bool,
    /// Since when.
    pub since: Timestamp,
    /// When it last notified.
    pub told_at: Timestamp,
    /// The incident it is about.
    pub incident: Option<IncidentId>,
    /// The number of reminders.
    pub repeats: u64,
}

impl Store {
    /// The states of all rules.
    pub async fn alert_states(&self) -> Result<Vec<AlertState>, StoreError> {
        Ok(database::query("select * from alert_states").try_map(state_row).fetch_all(&self.readers).await?)
    }
}

/// The state of `rule` for `agent`.
pub(super) async fn get(
    transaction: &mut Connection<'_>,
    rule: RuleId,
    agent: &AgentId,
) -> Result<Option<AlertState>, sqlx::Error> {
    let query = database::query("select * from alert_states where rule_id = $1 and agent_id = $2");
    query.bind(rule.to_string()).bind(agent.as_str()).try_map(state_row).fetch_optional(transaction).await
}

/// The firing states of rules about kills for `agent`.
pub(super) async fn of_killed(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
) -> Result<Vec<AlertState>, sqlx::Error> {
    let query = "select * from alert_states where agent_id = $1 and firing = 1 and incident_id is not null";
    database::query(query).bind(agent.as_str()).try_map(state_row).fetch_all(transaction).await
}

/// Stores the state of a rule.
pub(super) async fn put(transaction: &mut Connection<'_>, state: &AlertState) -> Result<(), sqlx::Error> {
    database::query(
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

fn state_row(row: Row) -> Result<AlertState, sqlx::Error> {
    Ok(AlertState {
        rule: RuleId::parse(row.try_get("rule_id")?).ok_or_else(|| invalid("rule_id"))?,
        agent: columns::agent_id(&row, "agent_id")?,
        firing: row.try_get("firing")?,
        since: columns::timestamp(&row, "since")?,
        told_at: columns::timestamp(&row, "told_at")?,
        incident: columns::incident_id(&row, "incident_id")?,
        repeats: row.try_get("repeats").map(unsigned)?,
    })
}
