//! Calls and failures of each agent by the minute: what error rates are made of, without a look at the events.

use std::collections::HashMap;
use std::sync::LazyLock;

use model::{AgentId, Condition, Event, EventType, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Arguments, Row, SqliteConnection};

use crate::columns::{self, signed, unsigned};
use crate::writer::Insert;
use crate::{Store, StoreError};

const MINUTE_MS: i64 = 60_000;
/// A little more than any rule looks back on.
const KEPT_MINUTES: i64 = Condition::MAX_MINUTES as i64 + 5;

/// The calls of one agent over some minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFigures {
    /// The agent.
    pub agent: AgentId,
    /// How many calls it made.
    pub calls: u64,
    /// How many of them failed.
    pub errors: u64,
}

static ADD: LazyLock<Insert> = LazyLock::new(|| {
    let then = "on conflict (minute, agent_id) do update set calls = agent_minutes.calls + excluded.calls,
        errors = agent_minutes.errors + excluded.errors";
    Insert::new("agent_minutes (minute, agent_id, calls, errors)", 4, then)
});

impl Store {
    /// The calls of every agent over the `minutes` before `now`, the one that runs included.
    pub async fn call_figures(&self, minutes: u32, now: Timestamp) -> Result<Vec<CallFigures>, StoreError> {
        let query = sqlx::query(
            "select agent_id, sum(calls) as calls, sum(errors) as errors from agent_minutes
             where minute > $1 and minute <= $2 group by agent_id",
        );
        let last = minute(now);
        let query = query.bind(last - i64::from(minutes)).bind(last);
        Ok(query.try_map(figures_row).fetch_all(&self.readers).await?)
    }
}

/// Counts the calls among `events`.
pub(crate) async fn count(transaction: &mut SqliteConnection, events: &[Event]) -> Result<(), sqlx::Error> {
    let mut counts: HashMap<(i64, &AgentId), (u64, u64)> = HashMap::new();
    for event in events.iter().filter(|event| event.event_type == EventType::LlmCall) {
        let (calls, errors) = counts.entry((minute(event.time), &event.agent)).or_default();
        *calls += 1;
        *errors += u64::from(event.is_error());
    }
    let counts: Vec<_> = counts.into_iter().collect();
    ADD.execute(transaction, &counts, |arguments, ((minute, agent), (calls, errors))| {
        arguments.add(minute)?;
        arguments.add(agent.as_str())?;
        arguments.add(signed(*calls))?;
        arguments.add(signed(*errors))
    })
    .await
}

/// Deletes up to `rows` minutes that are too old, and says whether there may be more.
pub(crate) async fn sweep(transaction: &mut SqliteConnection, now: Timestamp, rows: i64) -> Result<bool, sqlx::Error> {
    let deleted = sqlx::query(
        "delete from agent_minutes where (minute, agent_id) in (
            select minute, agent_id from agent_minutes where minute < $1 order by minute limit $2)",
    )
    .bind(minute(now) - KEPT_MINUTES)
    .bind(rows)
    .execute(transaction)
    .await?;
    Ok(deleted.rows_affected() > 0)
}

fn minute(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(MINUTE_MS)
}

fn figures_row(row: SqliteRow) -> Result<CallFigures, sqlx::Error> {
    Ok(CallFigures {
        agent: columns::agent_id(&row, "agent_id")?,
        calls: row.try_get("calls").map(unsigned)?,
        errors: row.try_get("errors").map(unsigned)?,
    })
}
