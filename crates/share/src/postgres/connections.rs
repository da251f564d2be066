//! The connections to the engine. One whose operation failed or was given up is closed: a pool
//! tests it before it is used again, and that never ends if the host has vanished.

use sqlx::PgPool;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;

type Statement<'q> = Query<'q, sqlx::Postgres, PgArguments>;

/// The connections to the engine. Cloning is cheap.
#[derive(Clone, Debug)]
pub(super) struct Connections(PgPool);

impl Connections {
    pub(super) fn new(pool: PgPool) -> Connections {
        Connections(pool)
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.0
    }

    /// Runs a statement that returns one row.
    pub(super) async fn one(&self, statement: Statement<'_>) -> Result<PgRow, sqlx::Error> {
        let mut lease = self.lease().await?;
        let row = statement.fetch_one(&mut *lease.connection).await;
        lease.finish(row)
    }

    /// Runs a statement that returns one row or none.
    pub(super) async fn optional(&self, statement: Statement<'_>) -> Result<Option<PgRow>, sqlx::Error> {
        let mut lease = self.lease().await?;
        let row = statement.fetch_optional(&mut *lease.connection).await;
        lease.finish(row)
    }

    /// Runs a statement that returns any number of rows.
    pub(super) async fn all(&self, statement: Statement<'_>) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut lease = self.lease().await?;
        let rows = statement.fetch_all(&mut *lease.connection).await;
        lease.finish(rows)
    }

    async fn lease(&self) -> Result<Lease, sqlx::Error> {
        // Boxed, because every call's future would hold its kilobytes, on one machine too.
        Ok(Lease { connection: Box::pin(self.0.acquire()).await?, is_finished: false })
    }
}

/// A connection during one operation.
struct Lease {
    connection: PoolConnection<sqlx::Postgres>,
    is_finished: bool,
}

impl Lease {
    fn finish<T>(mut self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        self.is_finished = matches!(result, Ok(_) | Err(sqlx::Error::Database(_) | sqlx::Error::RowNotFound));
        result
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_finished {
            self.connection.close_on_drop();
        }
    }
}
