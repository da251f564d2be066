//! The database stays below a size: the oldest events go first, closed incidents once no event is left.

use model::IncidentState;
use sqlx::SqliteConnection;

use crate::columns::unsigned;

/// Each incident has megabytes of evidence.
const INCIDENTS: i64 = 10;

/// How large the database is without its free pages, which are filled before the file grows.
pub(crate) async fn used_bytes(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    let pages: i64 = sqlx::query_scalar("select page_count from pragma_page_count").fetch_one(&mut *connection).await?;
    let free: i64 =
        sqlx::query_scalar("select freelist_count from pragma_freelist_count").fetch_one(&mut *connection).await?;
    let size: i64 = sqlx::query_scalar("select page_size from pragma_page_size").fetch_one(connection).await?;
    Ok(unsigned(pages.saturating_sub(free)).saturating_mul(unsigned(size)))
}

/// Deletes up to `rows` of the oldest events; if there are none, a few of the oldest incidents that are not open. Returns how
/// many of each.
pub(crate) async fn delete_oldest(connection: &mut SqliteConnection, rows: i64) -> Result<(u64, u64), sqlx::Error> {
    // Ids sort by time.
    let events = sqlx::query("delete from events where id in (select id from events order by id limit $1)");
    let events = events.bind(rows).execute(&mut *connection).await?.rows_affected();
    if events > 0 {
        return Ok((events, 0));
    }
    let incidents = sqlx::query(
        "delete from incidents where id in (select id from incidents where state <> $1 order by id limit $2)",
    );
    let incidents = incidents.bind(IncidentState::Open.as_str()).bind(INCIDENTS).execute(connection).await?;
    Ok((0, incidents.rows_affected()))
}
