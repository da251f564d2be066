//! Deletes an agent with everything that is stored about it, a part at a time so that no kill waits
//! for the whole.

use model::AgentId;
use sqlx::AssertSqlSafe;

use crate::database::{self, Connection};
use crate::stats::Span;

/// Incidents at a time: each may have megabytes of evidence.
const INCIDENTS: i64 = 10;

/// Tables with many rows of an agent. The oldest go first.
const LARGE: [(&str, Option<i64>); 4] = [
    ("delete from events where id in (select id from events where agent_id = $1 order by id limit $2)", None),
    (
        "delete from incidents where id in (select id from incidents where agent_id = $1 order by id limit $2)",
        Some(INCIDENTS),
    ),
    ("delete from deliveries where id in (select id from deliveries where agent_id = $1 order by id limit $2)", None),
    (
        "delete from conversations where agent_id = $1 and conversation in (
            select conversation from conversations where agent_id = $1 order by conversation limit $2)",
        None,
    ),
];

/// Tables with few rows of an agent.
const SMALL: [&str; 7] = [
    "delete from alert_states where agent_id = $1",
    "delete from alert_rules where agent_id = $1",
    "delete from agent_minutes where agent_id = $1",
    "delete from exemptions where agent_id = $1",
    "delete from policies where agent_id = $1",
    "delete from unscored where agent_id = $1",
    // The switch of its recording.
    "delete from settings where name = 'recording:' || $1",
];

/// Deletes about `rows` rows of the large tables, and says whether there may be more. Evidence goes
/// with its incident, attempts with their delivery.
pub(super) async fn delete_some(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    rows: i64,
) -> Result<bool, sqlx::Error> {
    for (statement, at_a_time) in LARGE {
        let limit = at_a_time.unwrap_or(rows).min(rows);
        let query = database::query(statement).bind(agent.as_str()).bind(limit);
        if query.execute(&mut *transaction).await?.rows_affected() > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes the rest, and the agent itself; `false` if there is no such agent.
pub(super) async fn delete_rest(transaction: &mut Connection<'_>, agent: &AgentId) -> Result<bool, sqlx::Error> {
    // Locks the agent before its sums, in the order in which a batch does.
    database::query("update agents set id = id where id = $1").bind(agent.as_str()).execute(&mut *transaction).await?;
    for statement in SMALL {
        database::query(statement).bind(agent.as_str()).execute(&mut *transaction).await?;
    }
    for span in Span::BY_MODEL {
        delete_sums(transaction, ("rollups", "span", span.model_code()), agent).await?;
    }
    for span in Span::ALL {
        delete_sums(transaction, ("agent_sums", "hours", span.hours()), agent).await?;
    }
    let query = database::query("delete from agents where id = $1").bind(agent.as_str());
    Ok(query.execute(transaction).await?.rows_affected() == 1)
}

/// Deletes the sums of an agent over one span in a table. The sums over all agents stay, because
/// the money was spent.
async fn delete_sums(
    transaction: &mut Connection<'_>,
    (table, column, length): (&'static str, &'static str, i64),
    agent: &AgentId,
) -> Result<(), sqlx::Error> {
    // Goes from one start to the next, so that the rows of other agents are not read.
    let statement = format!(
        "with recursive starts (start) as (
            select min(start) from {table} where {column} = $1
            union all
            select (select min(start) from {table} where {column} = $1 and start > starts.start) from starts
            where starts.start is not null)
         delete from {table}
         where {column} = $1 and start in (select start from starts where start is not null) and agent_id = $2"
    );
    let query = database::query(AssertSqlSafe(statement)).bind(length).bind(agent.as_str());
    query.execute(transaction).await.map(drop)
}
