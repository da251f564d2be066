//! What only PostgreSQL needs: how connections are opened, its dialect, bulk inserts by arrays, the
//! days of the events, its error codes.

mod bulk_insert;
mod claim;
mod connect;
mod days;
pub(crate) mod dialect;
mod error_codes;
mod feed;
mod key_check;
mod leases;
mod locks;
mod migrate;
mod pooler;
mod query;
mod replicas;
mod session;
mod sessions;
mod size;
mod unrecorded_kills;

use sqlx::Connection;
use sqlx::postgres::PgPool;

pub(crate) use self::bulk_insert::BulkInsert;
pub use self::claim::WriterClaim;
pub(crate) use self::claim::WriterName;
pub use self::connect::PostgresConfig;
pub(crate) use self::connect::in_time;
pub(crate) use self::days::{add_days, drop_days_before, drop_oldest_day};
pub(crate) use self::error_codes::{in_plain_words, is_contention, is_full, may_pass};
pub use self::feed::ChangeFeed;
pub(crate) use self::feed::{sweep_changes, tell};
pub(crate) use self::key_check::check_key;
pub(crate) use self::leases::{claim as claim_work, lease_deliveries};
pub(crate) use self::locks::{Lock, lock, lock_shared, try_lock};
pub(crate) use self::migrate::migrate;
pub use self::pooler::refuse_pooler;
pub(crate) use self::query::{Query, query};
pub use self::replicas::ReplicaRow;
pub(crate) use self::session::{Session, WriteTransaction};
pub(crate) use self::size::used_bytes;

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
    let pool = crate::database::pool_options().max_connections(READERS).acquire_timeout(connect::PATIENCE);
    Ok(pool.connect_lazy_with(options))
}
