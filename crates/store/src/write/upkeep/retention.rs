//! Deletes what is too old, or too much for the size limit, a few rows at a time.

use model::{IncidentState, Timestamp};

use crate::database::{self, Connection};
use crate::write::changes::exemptions;
use crate::{Retention, alerts, stats};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Incidents to delete at a time: each has megabytes of evidence.
const INCIDENTS: i64 = 10;

/// Deletes up to `rows` events and a few incidents that are too old at `now`, and says whether
/// there may be more.
///
/// Ids sort by time, so the oldest rows are the first ones of each table: it looks at no others.
pub(crate) async fn sweep(
    transaction: &mut Connection<'_>,
    retention: Retention,
    now: Timestamp,
    rows: i64,
) -> Result<bool, sqlx::Error> {
    let before = |days: u32| now.as_millis().saturating_sub(i64::from(days) * DAY_MS);
    let events = sweep_events(transaction, before(retention.event_days), rows).await?;
    let incidents = database::query(
        "delete from incidents where id in (
            select id from (select id, timestamp from incidents where state <> $3 order by id limit $2) as oldest
            where timestamp < $1)",
    )
    .bind(before(retention.incident_days))
    .bind(INCIDENTS)
    .bind(IncidentState::Open.as_str())
    .execute(&mut *transaction)
    .await?;
    let statistics = stats::sweep(transaction, i64::from(retention.statistics_days), now, rows).await?;
    let deliveries = alerts::sweep_deliveries(transaction, before(retention.incident_days)).await?;
    let minutes = alerts::sweep_minutes(transaction, now, rows).await?;
    let exemptions = exemptions::sweep(transaction, now, rows).await?;
    let more = statistics || deliveries || minutes || exemptions;
    Ok(events || incidents.rows_affected() > 0 || more)
}

/// Drops the days that are over, or deletes rows where events have no days.
async fn sweep_events(transaction: &mut Connection<'_>, before: i64, rows: i64) -> Result<bool, sqlx::Error> {
    if let Some(dropped) = database::drop_days_before(transaction, before).await? {
        return Ok(dropped);
    }
    let events = database::query(
        "delete from events where id in (
            select id from (select id, timestamp from events order by id limit $2) as oldest where timestamp < $1)",
    );
    Ok(events.bind(before).bind(rows).execute(transaction).await?.rows_affected() > 0)
}

/// Deletes up to `rows` of the oldest events; if there are none, a few of the oldest incidents that
/// are not open. Returns the number of events and of incidents.
pub(crate) async fn delete_oldest(connection: &mut Connection<'_>, rows: i64) -> Result<(u64, u64), sqlx::Error> {
    // Deleted rows occupy space until the database reuses it, so a whole day is dropped: nothing
    // else would free space.
    if let Some(events) = database::drop_oldest_day(connection).await? {
        return Ok((events, 0));
    }
    // Ids sort by time.
    let events = database::query("delete from events where id in (select id from events order by id limit $1)");
    let events = events.bind(rows).execute(&mut *connection).await?.rows_affected();
    if events > 0 {
        return Ok((events, 0));
    }
    let incidents = database::query(
        "delete from incidents where id in (select id from incidents where state <> $1 order by id limit $2)",
    );
    let incidents = incidents.bind(IncidentState::Open.as_str()).bind(INCIDENTS).execute(connection).await?;
    Ok((0, incidents.rows_affected()))
}
