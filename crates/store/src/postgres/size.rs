//! The size of the database.

use sqlx::PgConnection;

use super::in_time;
use crate::columns::unsigned;

/// The size of all tables of the schema with their indexes.
pub(crate) async fn used_bytes(connection: &mut PgConnection) -> Result<u64, sqlx::Error> {
    let query = sqlx::query_scalar(
        "select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class
         where relkind = 'r' and relnamespace = current_schema()::regnamespace",
    );
    let bytes: i64 = in_time(query.fetch_one(connection)).await?;
    Ok(unsigned(bytes))
}
