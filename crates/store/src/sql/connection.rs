//! Connections and pools of either database.

use sqlx::pool::PoolOptions;
use sqlx::{PgConnection, PgPool, Postgres, Sqlite, SqliteConnection, SqlitePool, Transaction};

use super::{Arguments, Value};

/// A connection, or a transaction on it.
pub(crate) enum Connection<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

impl Connection<'_> {
    /// Whether statements go to PostgreSQL.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Connection::Postgres(_))
    }

    /// No values yet, for a statement on this connection.
    pub(crate) fn arguments(&self, values: usize) -> Arguments {
        use sqlx::Arguments as _;
        match self {
            Connection::Sqlite(_) => {
                let mut arguments = sqlx::sqlite::SqliteArguments::default();
                arguments.reserve(values, 0);
                Arguments::Sqlite(arguments)
            }
            Connection::Postgres(_) => Arguments::Postgres(Vec::<Value>::with_capacity(values)),
        }
    }
}

/// Options of a pool whose connections stay open until it is closed. Without them a task of sqlx's
/// pool closes old connections. It counts idle ones without a lock: if one is taken at the same
/// moment the count underflows, and neither the task nor the program ever ends.
pub(crate) fn pool_options<DB: sqlx::Database>() -> PoolOptions<DB> {
    PoolOptions::new().idle_timeout(None).max_lifetime(None)
}

/// The connections that read.
#[derive(Clone, Debug)]
pub(crate) enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Pool {
    /// Takes a connection for several statements.
    pub(crate) async fn acquire(&self) -> Result<Reader, sqlx::Error> {
        Ok(match self {
            Pool::Sqlite(pool) => Reader::Sqlite(pool.acquire().await?),
            Pool::Postgres(pool) => Reader::Postgres(pool.acquire().await?),
        })
    }

    /// Begins a transaction whose statements see the same state.
    pub(crate) async fn begin(&self) -> Result<ReadTransaction, sqlx::Error> {
        Ok(match self {
            Pool::Sqlite(pool) => ReadTransaction::Sqlite(pool.begin().await?),
            Pool::Postgres(pool) => {
                ReadTransaction::Postgres(pool.begin_with("begin isolation level repeatable read read only").await?)
            }
        })
    }
}

#[cfg(test)]
impl Pool {
    /// The pool of a test that runs on SQLite.
    pub(crate) fn sqlite(&self) -> &SqlitePool {
        match self {
            Pool::Sqlite(pool) => pool,
            Pool::Postgres(_) => panic!("a test for SQLite"),
        }
    }

    /// Closes all connections.
    pub(crate) async fn close(&self) {
        match self {
            Pool::Sqlite(pool) => pool.close().await,
            Pool::Postgres(pool) => pool.close().await,
        }
    }
}

/// A connection of the pool.
pub(crate) enum Reader {
    Sqlite(sqlx::pool::PoolConnection<Sqlite>),
    Postgres(sqlx::pool::PoolConnection<Postgres>),
}

impl Reader {
    pub(crate) fn connection(&mut self) -> Connection<'_> {
        match self {
            Reader::Sqlite(connection) => Connection::Sqlite(connection),
            Reader::Postgres(connection) => Connection::Postgres(connection),
        }
    }
}

/// A transaction that reads.
pub(crate) enum ReadTransaction {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

impl ReadTransaction {
    pub(crate) fn connection(&mut self) -> Connection<'_> {
        match self {
            ReadTransaction::Sqlite(transaction) => Connection::Sqlite(transaction),
            ReadTransaction::Postgres(transaction) => Connection::Postgres(transaction),
        }
    }
}

/// The connection or pool that a statement runs on.
pub(crate) enum Source<'c> {
    Sqlite(&'c mut SqliteConnection),
    SqlitePool(&'c SqlitePool),
    Postgres(&'c mut PgConnection),
    PostgresPool(&'c PgPool),
}

impl<'c> From<&'c mut Connection<'_>> for Source<'c> {
    fn from(connection: &'c mut Connection<'_>) -> Source<'c> {
        match connection {
            Connection::Sqlite(connection) => Source::Sqlite(connection),
            Connection::Postgres(connection) => Source::Postgres(connection),
        }
    }
}

impl<'c> From<&'c Pool> for Source<'c> {
    fn from(pool: &'c Pool) -> Source<'c> {
        match pool {
            Pool::Sqlite(pool) => Source::SqlitePool(pool),
            Pool::Postgres(pool) => Source::PostgresPool(pool),
        }
    }
}
