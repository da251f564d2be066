//! The connections to the engine. One whose operation failed or was given up is dropped at once:
//! to test it or to close it in order never ends if the host has vanished.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgRow};
use sqlx::query::Query;
use sqlx::{ConnectOptions, Error};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Connections of one replica. Each is busy for a fraction of a millisecond per call.
const MAX_CONNECTIONS: usize = 8;
/// How long opening a connection may take. Longer than an operation may: over a slow network the
/// connection is there for a later one.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

type Statement<'q> = Query<'q, sqlx::Postgres, PgArguments>;

/// The connections to the engine. Cloning is cheap.
#[derive(Clone, Debug)]
pub(super) struct Connections(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: PgConnectOptions,
    /// The one that was used last is at the end.
    idle: Mutex<Vec<PgConnection>>,
    permits: Arc<Semaphore>,
}

impl Connections {
    /// Opens connections with `options` as they are needed. `first` is one that is open.
    pub(super) fn new(options: PgConnectOptions, first: PgConnection) -> Connections {
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Connections(Arc::new(Inner { options, idle: Mutex::new(vec![first]), permits }))
    }

    /// How to open a connection.
    pub(super) fn options(&self) -> &PgConnectOptions {
        &self.0.options
    }

    /// Runs a statement that returns one row.
    pub(super) async fn one(&self, statement: Statement<'_>) -> Result<PgRow, Error> {
        let mut lease = self.lease().await?;
        let row = statement.fetch_one(lease.connection()?).await;
        lease.finish(row)
    }

    /// Runs a statement that returns one row or none.
    pub(super) async fn optional(&self, statement: Statement<'_>) -> Result<Option<PgRow>, Error> {
        let mut lease = self.lease().await?;
        let row = statement.fetch_optional(lease.connection()?).await;
        lease.finish(row)
    }

    /// Runs a statement that returns any number of rows.
    pub(super) async fn all(&self, statement: Statement<'_>) -> Result<Vec<PgRow>, Error> {
        let mut lease = self.lease().await?;
        let rows = statement.fetch_all(lease.connection()?).await;
        lease.finish(rows)
    }

    async fn lease(&self) -> Result<Lease, Error> {
        let permit = Arc::clone(&self.0.permits).acquire_owned().await.map_err(|_| Error::PoolClosed)?;
        let idle = self.0.idle.lock().pop();
        let mut lease = Lease { pool: Arc::clone(&self.0), connection: idle, is_busy: false, _permit: permit };
        if lease.connection.is_some() {
            return Ok(lease);
        }
        // In a task of its own, which goes on if the operation is given up.
        let opening = tokio::spawn(async move {
            let opened = timeout(OPEN_TIMEOUT, lease.pool.options.connect()).await;
            let late = |_| Error::Io(io::Error::new(io::ErrorKind::TimedOut, "the server does not answer"));
            lease.connection = Some(opened.map_err(late)??);
            Ok(lease)
        });
        // Boxed, because every call's future would hold its size, on one machine too.
        Box::pin(opening).await.map_err(|_| Error::PoolClosed)?
    }
}

/// A connection during one operation.
struct Lease {
    pool: Arc<Inner>,
    connection: Option<PgConnection>,
    /// Whether an answer is outstanding.
    is_busy: bool,
    _permit: OwnedSemaphorePermit,
}

impl Lease {
    fn connection(&mut self) -> Result<&mut PgConnection, Error> {
        self.is_busy = true;
        self.connection.as_mut().ok_or(Error::PoolClosed)
    }

    fn finish<T>(mut self, result: Result<T, Error>) -> Result<T, Error> {
        self.is_busy = result.as_ref().is_err_and(ends_connection);
        if self.is_busy {
            // A server that stopped has closed the others, too.
            self.pool.idle.lock().clear();
        }
        result
    }
}

fn ends_connection(error: &Error) -> bool {
    match error {
        Error::RowNotFound => false,
        // The server is stopping, or somebody ended the session.
        Error::Database(error) => error.code().is_some_and(|code| code.starts_with("57P")),
        _ => true,
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let (Some(connection), false) = (self.connection.take(), self.is_busy) {
            self.pool.idle.lock().push(connection);
        }
    }
}
