//! The writer's side of either database.

use tokio::time::{Duration, Instant};

use super::Connection;
use crate::sql::Durability;
use crate::sqlite::rescue::MemoryState;
use crate::{StoreError, postgres, sqlite};

/// PostgreSQL has no files to check: a lost connection reports every failure.
const NEVER: Duration = Duration::from_secs(3600);

/// The connection that writes.
#[derive(Debug)]
pub(crate) enum Session {
    Sqlite(Box<sqlite::Session>),
    Postgres(postgres::Session),
}

impl Session {
    /// Work beside the writer. Never ends.
    pub(crate) fn background_work(&self) -> impl Future<Output = ()> + Send + use<> {
        let move_log = match self {
            Session::Sqlite(session) => Some(session.move_log()),
            Session::Postgres(_) => None,
        };
        async move {
            match move_log {
                Some(move_log) => move_log.await,
                None => std::future::pending().await,
            }
        }
    }

    /// Opens the files, if there are any.
    pub(crate) async fn open(&mut self) {
        if let Session::Sqlite(session) = self {
            session.open().await;
        }
    }

    /// Begins a transaction that has the right to write from the start.
    pub(crate) async fn begin(&mut self, durability: Durability) -> Result<WriteTransaction<'_>, sqlx::Error> {
        Ok(match self {
            Session::Sqlite(session) => WriteTransaction::Sqlite(session.begin(durability).await?),
            Session::Postgres(session) => WriteTransaction::Postgres(session.begin(durability).await?),
        })
    }

    /// Whether the last transaction, whose commit was not acknowledged, was committed all the same.
    pub(crate) async fn was_committed(&mut self) -> Result<bool, sqlx::Error> {
        match self {
            Session::Sqlite(_) => Ok(false),
            Session::Postgres(session) => session.was_committed().await,
        }
    }

    /// Opens another connection for the next transaction.
    pub(crate) async fn reset(&mut self) {
        match self {
            Session::Sqlite(session) => session.reset().await,
            Session::Postgres(session) => session.reset(),
        }
    }

    /// Enlarges the cache of pages for batches with events of so many agents.
    pub(crate) async fn fit_cache(&mut self, agents: usize) {
        if let Session::Sqlite(session) = self {
            session.fit_cache(agents).await;
        }
    }

    /// Releases the memory of cached pages.
    pub(crate) async fn release_cache(&mut self) {
        if let Session::Sqlite(session) = self {
            session.release_cache().await;
        }
    }

    /// Takes an error of the writer into account.
    pub(crate) async fn note_failure(&mut self, error: &sqlx::Error) {
        match self {
            Session::Sqlite(session) => session.note_failure(error).await,
            Session::Postgres(session) => session.reset(),
        }
    }

    /// Whether the database may lack kills that memory holds: another program wrote to the file, or
    /// the connection to the server is a new one.
    pub(crate) async fn may_lack_kills(&mut self) -> bool {
        match self {
            Session::Sqlite(session) => session.was_changed_by_others().await,
            Session::Postgres(session) => session.was_reconnected(),
        }
    }

    /// When the files are to be checked next.
    pub(crate) fn next_poll(&self) -> Instant {
        match self {
            Session::Sqlite(session) => session.next_poll(),
            Session::Postgres(_) => Instant::now() + NEVER,
        }
    }

    /// What happened to the files; `None` if they are intact.
    pub(crate) fn loss(&self) -> Option<String> {
        match self {
            Session::Sqlite(session) => session.loss().map(ToString::to_string),
            Session::Postgres(_) => None,
        }
    }

    /// Whether a rescue may be tried; after one that failed there is a pause.
    pub(crate) fn may_rescue(&self) -> bool {
        matches!(self, Session::Sqlite(session) if session.may_rescue())
    }

    /// Whether the files that were lost are there again and can be read.
    pub(crate) async fn is_back(&mut self) -> bool {
        match self {
            Session::Sqlite(session) => session.is_back().await,
            Session::Postgres(_) => true,
        }
    }

    /// Writes a new file in the place of the one that was lost, and returns what to tell people.
    pub(crate) async fn rescue(&mut self, memory: MemoryState<'_>) -> Result<String, StoreError> {
        match self {
            Session::Sqlite(session) => session.rescue(memory).await,
            Session::Postgres(_) => Err(StoreError::Unavailable("a server's files are not ours".to_owned())),
        }
    }

    /// Writes the kills that memory holds to files that another program changed.
    pub(crate) async fn write_kills(&mut self, memory: &MemoryState<'_>) -> Result<(), sqlx::Error> {
        match self {
            Session::Sqlite(session) => session.write_kills(memory).await,
            Session::Postgres(_) => Ok(()),
        }
    }

    /// Pauses before the next rescue, because one that began at `began` failed.
    pub(crate) fn pause_rescue(&mut self, began: Instant) {
        if let Session::Sqlite(session) = self {
            session.pause_rescue(began);
        }
    }

    /// Closes; what was written is on disk.
    pub(crate) async fn close(self) -> Result<(), sqlx::Error> {
        match self {
            Session::Sqlite(session) => session.close().await,
            Session::Postgres(session) => session.close().await,
        }
    }
}

/// A transaction of the writer.
pub(crate) enum WriteTransaction<'a> {
    Sqlite(sqlite::WriteTransaction<'a>),
    Postgres(postgres::WriteTransaction<'a>),
}

impl WriteTransaction<'_> {
    pub(crate) fn connection(&mut self) -> Connection<'_> {
        match self {
            WriteTransaction::Sqlite(transaction) => Connection::Sqlite(transaction),
            WriteTransaction::Postgres(transaction) => Connection::Postgres(transaction.connection()),
        }
    }

    /// Records the id of this transaction, so that a lost acknowledgement of its commit can be
    /// resolved. For writes that must not happen twice.
    pub(crate) async fn record_id(&mut self) -> Result<(), sqlx::Error> {
        match self {
            WriteTransaction::Sqlite(_) => Ok(()),
            WriteTransaction::Postgres(transaction) => transaction.record_id().await,
        }
    }

    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        match self {
            WriteTransaction::Sqlite(transaction) => transaction.commit().await,
            WriteTransaction::Postgres(transaction) => transaction.commit().await,
        }
    }

    pub(crate) async fn rollback(self) -> Result<(), sqlx::Error> {
        match self {
            WriteTransaction::Sqlite(transaction) => transaction.rollback().await,
            WriteTransaction::Postgres(transaction) => transaction.rollback().await,
        }
    }
}
