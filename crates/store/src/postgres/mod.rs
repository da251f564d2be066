//! What only PostgreSQL needs: `connection/` opens connections and knows their errors,
//! `statements/` translates the shared SQL, `servers/` coordinates several servers; and the days of
//! the events.

mod connection;
mod days;
mod migrate;
mod servers;
mod session;
mod size;
mod statements;

use sqlx::Connection;
use sqlx::postgres::PgPool;

pub use self::connection::PostgresConfig;
pub(crate) use self::connection::refuse_pooler;
pub(crate) use self::connection::{in_plain_words, in_time, is_contention, is_full, is_temporary};
pub(crate) use self::days::{add_days, drop_days_before, drop_oldest_day};
pub(crate) use self::migrate::migrate;
pub use self::servers::{ChangeFeed, WriterClaim};
pub(crate) use self::servers::{
    Lock, WriterName, announce, check_key, claim_work, lease_deliveries, lock, lock_shared, sweep_changes, try_lock,
};
pub(crate) use self::session::{Session, WriteTransaction};
pub(crate) use self::size::used_bytes;
pub(crate) use self::statements::{BulkInsert, Query, query};

use crate::StoreError;

/// People look at few pages at a time, and a small managed database has few connections.
const READERS: u32 = 4;

/// A server that started on half of the data would continue as if the other half never existed.
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
    Ok(connection::pool(options, READERS))
}
