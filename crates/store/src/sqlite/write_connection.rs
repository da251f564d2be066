//! The one connection that writes: opened when it is needed, discarded after any failure.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Sqlite, SqliteConnection, Transaction};

use crate::sql::Durability;

#[derive(Debug)]
pub(crate) struct WriteConnection {
    options: SqliteConnectOptions,
    open: Option<SqliteConnection>,
    durability: Durability,
}

impl WriteConnection {
    pub(super) fn new(options: SqliteConnectOptions) -> WriteConnection {
        WriteConnection { options, open: None, durability: Durability::Normal }
    }

    /// Begins a transaction that locks the database for writing at once, so that no later statement
    /// waits for a lock.
    pub(super) async fn begin(&mut self, durability: Durability) -> Result<Transaction<'_, Sqlite>, sqlx::Error> {
        let connection = match self.open.take() {
            Some(connection) => connection,
            None => {
                self.durability = Durability::Normal;
                self.options.connect().await?
            }
        };
        let connection = self.open.insert(connection);
        if self.durability != durability {
            let pragma = match durability {
                Durability::Normal => "pragma synchronous = normal",
                Durability::Full => "pragma synchronous = full",
            };
            sqlx::query(pragma).execute(&mut *connection).await?;
            self.durability = durability;
        }
        connection.begin_with("begin immediate").await
    }

    /// Releases the pages that SQLite has cached, for all connections of this process.
    pub(super) async fn release_cache(&mut self) {
        if let Some(connection) = &mut self.open {
            // If it fails, the memory stays within the limits of the caches.
            let _ = sqlx::query("pragma shrink_memory").execute(connection).await;
        }
    }

    /// The connection, if it is open.
    pub(super) fn opened(&mut self) -> Option<&mut SqliteConnection> {
        self.open.as_mut()
    }

    /// Discards the connection with any transaction it is in. The next one is opened with
    /// `options`.
    pub(super) async fn reset(&mut self, options: SqliteConnectOptions) {
        if let Some(connection) = self.open.take() {
            let _ = connection.close().await;
        }
        self.options = options;
    }

    /// Moves the write-ahead log into the database and closes.
    pub(super) async fn close(&mut self) -> Result<(), sqlx::Error> {
        let Some(mut connection) = self.open.take() else { return Ok(()) };
        sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut connection).await?;
        connection.close().await
    }
}
