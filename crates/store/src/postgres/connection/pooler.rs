//! Recognises a pooler that gives every transaction another connection. Locks, notifications and
//! prepared statements belong to a connection: behind such a pooler they are silently lost.

use sqlx::{Connection, PgConnection, Row};

use super::{PostgresConfig, in_plain_words, in_time};
use crate::StoreError;

/// The number of attempts: another client of the pooler may take the connection that the test waits
/// for.
const ATTEMPTS: usize = 3;

/// Refuses a database behind a pooler in transaction mode.
pub(crate) async fn refuse_pooler(config: &PostgresConfig) -> Result<(), StoreError> {
    let failed = |why: String| StoreError::Setup(format!("the database {} cannot be used: {why}", config.address()));
    let (mut one, mut other) = (config.connect().await?, config.connect().await?);
    let pooled = in_time(is_pooled(&mut one, &mut other)).await.map_err(|error| failed(in_plain_words(&error)))?;
    let _ = (one.close().await, other.close().await);
    match pooled {
        true => Err(failed(
            "a pooler in transaction mode stands before it (pgbouncer?) and gives every transaction another connection, \
             but locks and notifications belong to one: connect to the server itself, or set pool_mode to session"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

/// Whether the server's end of `one` changes, or is given to `other`, between two transactions.
async fn is_pooled(one: &mut PgConnection, other: &mut PgConnection) -> Result<bool, sqlx::Error> {
    for _ in 0..ATTEMPTS {
        let before = backend(one).await?;
        // A pooler must give the whole transaction one connection: the one that was just used.
        sqlx::raw_sql("begin").execute(&mut *other).await?;
        let theirs = backend(other).await?;
        let is_pooled = theirs == before || backend(one).await? != before;
        sqlx::raw_sql("rollback").execute(&mut *other).await?;
        if is_pooled {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The id of the server process behind a connection. It is read with one message, because such a
/// pooler may not even keep a prepared statement.
async fn backend(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    sqlx::raw_sql("select pg_backend_pid()").fetch_one(connection).await?.try_get(0)
}
