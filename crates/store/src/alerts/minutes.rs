//! Calls and failures of each agent by the minute, for rules on error rates.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use model::{AgentId, Condition, Event, EventType, Timestamp};

use crate::columns::{self, signed, unsigned};
use crate::database::{self, BulkInsert, Connection, OnConflict, Row, dialect};
use crate::{Store, StoreError};

const MINUTE_MS: i64 = 60_000;
/// A little longer than any rule looks back.
const KEPT_MINUTES: i64 = Condition::MAX_MINUTES as i64 + 5;

/// The calls of one agent that ended in the last minutes. A rule may run in the middle of a minute,
/// so there are several spans of the length that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFigures {
    /// The agent.
    pub agent: AgentId,
    /// Includes the current minute and one more at the beginning.
    pub all: Calls,
    /// Ends with the minute before the current one.
    pub before: Calls,
    /// Ends with the current minute.
    pub latest: Calls,
}

/// Calls over some minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calls {
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that failed.
    pub errors: u64,
}

static ADD: LazyLock<BulkInsert> = LazyLock::new(|| {
    let then = "on conflict (minute, agent_id) do update set calls = agent_minutes.calls + excluded.calls,
        errors = agent_minutes.errors + excluded.errors";
    BulkInsert::new(("agent_minutes", "minute, agent_id, calls, errors"), 4, &OnConflict::Clause(then))
});

impl Store {
    /// The calls of every agent over the `minutes` before `now`.
    pub async fn call_figures(&self, minutes: u32, now: Timestamp) -> Result<Vec<CallFigures>, StoreError> {
        let query = database::query(concat!(
            "select agent_id, ",
            dialect::sum!("calls"),
            " as calls, ",
            dialect::sum!("errors"),
            " as errors, ",
            dialect::sum!("case when minute < $2 then calls else 0 end"),
            " as calls_before, ",
            dialect::sum!("case when minute < $2 then errors else 0 end"),
            " as errors_before, ",
            dialect::sum!("case when minute > $1 then calls else 0 end"),
            " as calls_latest, ",
            dialect::sum!("case when minute > $1 then errors else 0 end"),
            " as errors_latest from agent_minutes where minute between $1 and $2 group by agent_id",
        ));
        let last = minute(now);
        let query = query.bind(last - i64::from(minutes)).bind(last);
        Ok(query.try_map(figures_row).fetch_all(&self.readers).await?)
    }
}

/// Counts the calls among `events`, each in the minute in which it ended.
pub(crate) async fn count<'a>(transaction: &mut Connection<'_>, events: &'a [Arc<Event>]) -> Result<(), sqlx::Error> {
    let mut counts: HashMap<(i64, &AgentId), (u64, u64)> = HashMap::new();
    let calls: Vec<&Event> =
        events.iter().map(Arc::as_ref).filter(|event| event.event_type == EventType::LlmCall).collect();
    let key = |call: &'a Event| (minute(end_time(call)), &call.agent);
    // Calls of a busy agent come one after the other: each run of them is looked up once.
    for run in calls.chunk_by(|one, next| key(one) == key(next)) {
        let (calls, errors) = counts.entry(key(run[0])).or_default();
        *calls += run.len() as u64;
        *errors += run.iter().filter(|call| call.is_error()).count() as u64;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    // In the order of the key, so that several writers cannot wait for each other.
    counts.sort_unstable_by_key(|(key, _)| *key);
    ADD.execute(transaction, &counts, |arguments, ((minute, agent), (calls, errors))| {
        arguments.add(minute)?;
        arguments.add(agent.as_str())?;
        arguments.add(signed(*calls))?;
        arguments.add(signed(*errors))
    })
    .await
}

/// Deletes up to `rows` minutes that are too old, and says whether there may be more.
pub(crate) async fn sweep(transaction: &mut Connection<'_>, now: Timestamp, rows: i64) -> Result<bool, sqlx::Error> {
    let deleted = database::query(
        "delete from agent_minutes where (minute, agent_id) in (
            select minute, agent_id from agent_minutes where minute < $1 order by minute limit $2)",
    )
    .bind(minute(now) - KEPT_MINUTES)
    .bind(rows)
    .execute(transaction)
    .await?;
    Ok(deleted.rows_affected() > 0)
}

fn end_time(event: &Event) -> Timestamp {
    Timestamp::from_millis(event.time.as_millis().saturating_add(signed(event.latency_ms.unwrap_or_default())))
}

fn minute(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(MINUTE_MS)
}

fn figures_row(row: Row) -> Result<CallFigures, sqlx::Error> {
    let figures = |calls: &str, errors: &str| -> Result<Calls, sqlx::Error> {
        Ok(Calls { calls: row.try_get(calls).map(unsigned)?, errors: row.try_get(errors).map(unsigned)? })
    };
    Ok(CallFigures {
        agent: columns::agent_id(&row, "agent_id")?,
        all: figures("calls", "errors")?,
        before: figures("calls_before", "errors_before")?,
        latest: figures("calls_latest", "errors_latest")?,
    })
}
