//! How many calls were not scored, by agent, hour and reason.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use model::{AgentId, Event, EventType, Unscored};

use super::Period;
use super::spans::Span;
use crate::columns::{signed, unsigned};
use crate::database::{self, BulkInsert, Connection, OnConflict, dialect};
use crate::{Store, StoreError};

static ADD: LazyLock<BulkInsert> = LazyLock::new(|| {
    let then = "on conflict (agent_id, hour, reason) do update set calls = unscored.calls + excluded.calls";
    BulkInsert::new(("unscored", "agent_id, hour, reason, calls"), 4, &OnConflict::Clause(then))
});

impl Store {
    /// How many calls of an agent were not scored in a period, by reason; the most frequent first.
    pub async fn unscored(&self, agent: &AgentId, period: Period) -> Result<Vec<(Unscored, u64)>, StoreError> {
        let query = database::query(concat!(
            "select reason, ",
            dialect::sum!("calls"),
            " as calls from unscored
             where agent_id = $1 and hour >= $2 and hour < $3 group by reason order by 2 desc, reason"
        ));
        let query = query.bind(agent.as_str()).bind(period.from().as_millis()).bind(period.to().as_millis());
        let rows = query.fetch_all(&self.readers).await?;
        let counts = rows.iter().map(|row| {
            let reason = Unscored::parse(row.try_get("reason")?);
            Ok(reason.zip(row.try_get("calls").map(unsigned).ok()))
        });
        // Skips reasons that only a newer version knows.
        Ok(counts.collect::<Result<Vec<_>, sqlx::Error>>()?.into_iter().flatten().collect())
    }
}

/// Adds the calls among `events` that were not scored.
pub(crate) async fn add(transaction: &mut Connection<'_>, events: &[Arc<Event>]) -> Result<(), sqlx::Error> {
    let mut counts: BTreeMap<(&str, i64, &str), u64> = BTreeMap::new();
    for event in events.iter().filter(|event| event.event_type == EventType::LlmCall) {
        if let Some(reason) = event.unscored {
            let hour = Span::Hour.start(event.time.as_millis());
            *counts.entry((event.agent.as_str(), hour, reason.as_str())).or_default() += 1;
        }
    }
    let counts: Vec<_> = counts.into_iter().collect();
    ADD.execute(transaction, &counts, |arguments, ((agent, hour, reason), calls)| {
        arguments.add((*agent).to_owned())?;
        arguments.add(*hour)?;
        arguments.add((*reason).to_owned())?;
        arguments.add(signed(*calls))
    })
    .await
}

/// Deletes up to `rows` counts of hours before `before`, and returns their number.
pub(crate) async fn sweep(transaction: &mut Connection<'_>, before: i64, rows: i64) -> Result<u64, sqlx::Error> {
    let query = database::query(
        "delete from unscored where (agent_id, hour, reason) in (
            select agent_id, hour, reason from unscored where hour < $1 order by hour limit $2)",
    );
    Ok(query.bind(before).bind(rows).execute(transaction).await?.rows_affected())
}
