//! The size of the database.

use sqlx::SqliteConnection;

use crate::columns::unsigned;

/// The size without free pages, which SQLite fills before the file grows.
pub(crate) async fn used_bytes(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    let pages: i64 = sqlx::query_scalar("select page_count from pragma_page_count").fetch_one(&mut *connection).await?;
    let free: i64 =
        sqlx::query_scalar("select freelist_count from pragma_freelist_count").fetch_one(&mut *connection).await?;
    let size: i64 = sqlx::query_scalar("select page_size from pragma_page_size").fetch_one(connection).await?;
    Ok(unsigned(pages.saturating_sub(free)).saturating_mul(unsigned(size)))
}
