//! The one connection that writes: opened when it is needed, discarded after any failure.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Sqlite, SqliteConnection, Transaction};

use super::cache_size::CacheSize;
use crate::sql::Durability;

#[derive(Debug)]
pub(crate) struct WriteConnection {
    options: SqliteConnectOptions,
    open: Option<SqliteConnection>,
    durability: Durability,
    cache_size: CacheSize,
}

impl WriteConnection {
    pub(super) fn new(options: SqliteConnectOptions) -> WriteConnection {
        WriteConnection { options, open: None, durability: Durability::Normal, cache_size: CacheSize::default() }
    }

    /// Begins a transaction that locks the database for writing at once, so that no later statement
    /// waits for a lock.
    pub(super) async fn begin(&mut self, durability: Durability) -> Result<Transaction<'_, Sqlite>, sqlx::Error> {
        let connection = match self.open.take() {
            Some(connection) => connection,
            None => {
                self.durability = Durability::Normal;
                self.cache_size = CacheSize::default();
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

    /// Enlarges the cache for batches with events of so many agents.
    pub(super) async fn fit_cache(&mut self, agents: usize) {
        let needed = CacheSize::for_agents(agents);
        if needed > self.cache_size {
            self.resize_cache(needed).await;
        }
    }

    /// Releases the pages that SQLite has cached, for all connections of this process.
    pub(super) async fn release_cache(&mut self) {
        self.resize_cache(CacheSize::default()).await;
        if let Some(connection) = &mut self.open {
            // If it fails, the memory stays within the limits of the caches.
            let _ = sqlx::query("pragma shrink_memory").execute(connection).await;
        }
    }

    async fn resize_cache(&mut self, size: CacheSize) {
        let Some(connection) = &mut self.open else { return };
        let pragma = AssertSqlSafe(format!("pragma cache_size = {}", size.value()));
        // If it fails, the cache stays as it is: batches are slower, or it takes more memory.
        if sqlx::query(pragma).execute(connection).await.is_ok() {
            self.cache_size = size;
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
