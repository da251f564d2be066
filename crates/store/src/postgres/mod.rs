//! What only PostgreSQL needs: how connections are opened, its dialect, bulk inserts by arrays, the
//! days of the events, its error codes.

mod bulk_insert;
mod connect;
mod days;
pub(crate) mod dialect;
mod error_codes;
mod migrate;
mod query;
mod session;
mod size;

use sqlx::Connection;
use sqlx::postgres::{PgPool, PgPoolOptions};

pub(crate) use self::bulk_insert::BulkInsert;
pub use self::connect::PostgresConfig;
pub(crate) use self::connect::in_time;
pub(crate) use self::days::{add_days, drop_days_before, drop_oldest_day};
pub(crate) use self::error_codes::{in_plain_words, is_full, may_pass};
pub(crate) use self::migrate::migrate;
pub(crate) use self::query::{Query, query};
pub(crate) use self::session::{Session, WriteTransaction};
pub(crate) use self::size::used_bytes;

use crate::StoreError;

/// People look at few pages at a time, and a small managed database has few connections.
const READERS: u32 = 4;

/// A server that started on half of the data would go on as if the other half had never been.
async fn refuse_unfinished_move(config: &PostgresConfig) -> Result<(), StoreError> {
    let mut connection = config.connect().await?;
    let query = sqlx::query_scalar("select exists (select 1 from moves where finished = 0)");
    let is_unfinished: bool = in_time(query.fetch_one(&mut connection)).await?;
    connection.close().await?;
    match is_unfinished {
        true => Err(StoreError::Setup(format!(
            "a move into {} has not finished: run `agentgazer move` again",
            config.address()
        ))),
        false => Ok(()),
    }
}

/// Migrates the database and opens the readers.
pub(crate) async fn open(config: &PostgresConfig) -> Result<PgPool, StoreError> {
    migrate(config).await?;
    refuse_unfinished_move(config).await?;
    let options = config.options().map_err(StoreError::Setup)?;
    let pool = PgPoolOptions::new().max_connections(READERS).acquire_timeout(connect::PATIENCE);
    Ok(pool.connect_lazy_with(options))
}
