//! The databases that the store can use, behind one set of types. The rest of the crate writes its
//! statements once, in SQL that SQLite takes as it is; `postgres` translates the few words that
//! differ.

mod bulk_insert;
pub(crate) mod dialect;
mod error_codes;
mod query;
mod query_builder;
mod row_insert;
mod session;

pub(crate) use self::bulk_insert::BulkInsert;
pub(crate) use self::error_codes::{in_plain_words, is_contention, is_full, is_temporary};
pub(crate) use self::query::{Query, query, query_as, query_scalar, query_with};
pub(crate) use self::query_builder::QueryBuilder;
pub(crate) use self::session::Session;
pub(crate) use crate::sql::{Arguments, Connection, Durability, Merge, OnConflict, Pool, Row, Source, Value, text};

pub(crate) use self::row_insert::{INSERT_OR_IGNORE, RowInsert, execute_with};
pub(crate) use crate::sqlite::rescue::MemoryState;
pub(crate) use crate::sqlite::{Generation, KillsInMemory};

pub(crate) use crate::postgres::Lock;

use crate::{postgres, sqlite};

/// Waits until no other server has the lock. A SQLite file has one writer, which needs no lock.
pub(crate) async fn lock(connection: &mut Connection<'_>, lock: Lock) -> Result<(), sqlx::Error> {
    match connection {
        Connection::Sqlite(_) => Ok(()),
        Connection::Postgres(connection) => postgres::lock(connection, lock).await,
    }
}

/// Waits until no other server has the lock exclusively.
pub(crate) async fn lock_shared(connection: &mut Connection<'_>, lock: Lock) -> Result<(), sqlx::Error> {
    match connection {
        Connection::Sqlite(_) => Ok(()),
        Connection::Postgres(connection) => postgres::lock_shared(connection, lock).await,
    }
}

/// Takes the lock if no other server has it.
pub(crate) async fn try_lock(connection: &mut Connection<'_>, lock: Lock) -> Result<bool, sqlx::Error> {
    match connection {
        Connection::Sqlite(_) => Ok(true),
        Connection::Postgres(connection) => postgres::try_lock(connection, lock).await,
    }
}

/// Deletes change rows that every replica has read.
pub(crate) async fn sweep_changes(connection: &mut Connection<'_>, now: i64) -> Result<(), sqlx::Error> {
    match connection {
        Connection::Sqlite(_) => Ok(()),
        Connection::Postgres(connection) => postgres::sweep_changes(connection, now).await,
    }
}

/// Makes sure that events with ids of these times can be inserted.
pub(crate) async fn add_days(
    connection: &mut Connection<'_>,
    times: impl Iterator<Item = i64>,
) -> Result<(), sqlx::Error> {
    match connection {
        Connection::Sqlite(_) => Ok(()),
        Connection::Postgres(connection) => postgres::add_days(connection, times).await,
    }
}

/// Drops the days of events that ended before a time, and says whether there were any. `None` if
/// the database has no days: its events are deleted row by row.
pub(crate) async fn drop_days_before(
    connection: &mut Connection<'_>,
    before: i64,
) -> Result<Option<bool>, sqlx::Error> {
    match connection {
        Connection::Sqlite(_) => Ok(None),
        Connection::Postgres(connection) => postgres::drop_days_before(connection, before).await.map(Some),
    }
}

/// Drops the oldest day of events unless it is the only one, and returns the number of its events.
/// `None` if the database has no days.
pub(crate) async fn drop_oldest_day(connection: &mut Connection<'_>) -> Result<Option<u64>, sqlx::Error> {
    match connection {
        Connection::Sqlite(_) => Ok(None),
        Connection::Postgres(connection) => postgres::drop_oldest_day(connection).await.map(Some),
    }
}

/// The bytes that the data takes.
pub(crate) async fn used_bytes(connection: &mut Connection<'_>) -> Result<u64, sqlx::Error> {
    match connection {
        Connection::Sqlite(connection) => sqlite::used_bytes(connection).await,
        Connection::Postgres(connection) => postgres::used_bytes(connection).await,
    }
}
