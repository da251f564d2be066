//! The daily partitions of the events: the table is partitioned by the time in the ids, so that a
//! whole day is dropped instead of deleted row by row.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use super::in_time;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Makes sure that events with ids of these times can be inserted.
pub(crate) async fn add_days(
    connection: &mut PgConnection,
    times: impl Iterator<Item = i64>,
) -> Result<(), sqlx::Error> {
    let days: BTreeSet<i64> = times.map(|millis| millis.div_euclid(DAY_MS)).collect();
    let days: Vec<i64> = days.into_iter().collect();
    if days.is_empty() {
        return Ok(());
    }
    in_time(sqlx::query("select add_event_days($1)").bind(days).execute(connection)).await.map(drop)
}

/// Drops the days that ended before a time, and says whether there were any.
pub(crate) async fn drop_days_before(connection: &mut PgConnection, before: i64) -> Result<bool, sqlx::Error> {
    let query = sqlx::query_scalar("select drop_event_days($1)").bind(before.div_euclid(DAY_MS));
    let dropped: i64 = in_time(query.fetch_one(connection)).await?;
    Ok(dropped > 0)
}

/// Drops the oldest day, unless it is the only one, and returns the number of its events.
pub(crate) async fn drop_oldest_day(connection: &mut PgConnection) -> Result<u64, sqlx::Error> {
    let query = sqlx::query_scalar("select drop_oldest_event_day()");
    let rows: i64 = in_time(query.fetch_one(connection)).await?;
    Ok(rows.cast_unsigned())
}
