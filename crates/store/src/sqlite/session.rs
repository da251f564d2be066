//! The writer's side of the database: one connection, the files it has open, and what happens when
//! they are lost.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;

use sqlx::{Sqlite, SqliteConnection, Transaction};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::file_watch::{FileState, FileWatch};
use super::files::Loss;
use super::rescue::{self, CopyExtent, MemoryState};
use super::write_connection::WriteConnection;
use super::{Generation, checkpoint, connect, is_damage};
use crate::StoreError;
use crate::sql::Durability;
use crate::tuning::Tuning;

/// The connection that writes, and a watch on its files.
#[derive(Debug)]
pub(crate) struct Session {
    database: PathBuf,
    tuning: Tuning,
    /// The generation that the readers use.
    generation: Generation,
    connection: WriteConnection,
    watch: FileWatch,
    /// Held while the write-ahead log is moved into the database; counts how often that was done.
    checkpoints: Arc<Mutex<u64>>,
}

impl Session {
    /// A session on `database`, which is opened with the first transaction.
    pub(crate) fn new(database: PathBuf, tuning: Tuning, generation: Generation) -> Session {
        let checkpoints = Arc::new(Mutex::new(0));
        Session {
            connection: WriteConnection::new(connect::writer(&database, &tuning)),
            watch: FileWatch::new(&database, &tuning, Arc::clone(&checkpoints)),
            database,
            tuning,
            generation,
            checkpoints,
        }
    }

    /// Moves the write-ahead log into the database beside the writer. Never ends.
    pub(crate) fn move_log(&self) -> impl Future<Output = ()> + Send + use<> {
        checkpoint::run(self.database.clone(), self.tuning.clone(), Arc::clone(&self.checkpoints))
    }

    /// Opens the files. If that fails it is tried again with every look.
    pub(crate) async fn open(&mut self) {
        let _ = self.watch.open().await;
    }

    /// Begins a transaction that has the right to write from the start.
    pub(crate) async fn begin(&mut self, durability: Durability) -> Result<WriteTransaction<'_>, sqlx::Error> {
        let inner = self.connection.begin(durability).await?;
        Ok(WriteTransaction { inner, watch: &mut self.watch, durability })
    }

    /// Opens another connection for the next transaction. After a failure SQLite may have rolled
    /// back by itself, which `sqlx` does not know; a new connection is in no transaction.
    pub(crate) async fn reset(&mut self) {
        self.connection.reset(connect::writer(&self.database, &self.tuning)).await;
    }

    /// Enlarges the cache of pages for batches with events of so many agents.
    pub(crate) async fn fit_cache(&mut self, agents: usize) {
        self.connection.fit_cache(agents).await;
    }

    /// Releases the memory of cached pages.
    pub(crate) async fn release_cache(&mut self) {
        self.connection.release_cache().await;
    }

    /// Takes an error of the writer into account.
    pub(crate) async fn note_failure(&mut self, error: &sqlx::Error) {
        self.watch.note_error(error);
        // After damage the connection stays open: its cache may hold pages that are damaged on
        // disk.
        if !is_damage(error) {
            self.reset().await;
        }
    }

    /// Checks the files if it is time. `true`: another program wrote to the database, and memory
    /// may hold kills that it lacks.
    pub(crate) async fn was_changed_by_others(&mut self) -> bool {
        if self.watch.poll().await != FileState::ChangedByOthers {
            return false;
        }
        self.reset().await;
        self.generation.advance();
        true
    }

    /// When the files are to be checked next.
    pub(crate) fn next_poll(&self) -> Instant {
        self.watch.next_poll
    }

    /// What happened to the files, if they are lost.
    pub(crate) fn loss(&self) -> Option<&Loss> {
        self.watch.loss.as_ref()
    }

    /// Whether a rescue may be tried; after one that failed there is a pause.
    pub(crate) fn may_rescue(&self) -> bool {
        Instant::now() >= self.watch.next_rescue
    }

    /// Whether the files that were lost are there again and can be read.
    pub(crate) async fn is_back(&mut self) -> bool {
        let is_back = self.watch.is_back().await;
        if is_back {
            self.watch.loss = None;
        }
        is_back
    }

    /// Writes a new database in the place of the one that was lost, and returns what to tell
    /// people.
    pub(crate) async fn rescue(&mut self, memory: MemoryState<'_>) -> Result<String, StoreError> {
        let now = memory.now;
        let extent = self.write_copy(memory).await?;
        let replaced = rescue::swap(&self.database, now).map_err(|error| StoreError::Setup(error.to_string()))?;
        let loss = self.watch.loss.clone();
        self.reset().await;
        self.watch.close().await;
        self.generation.advance();
        self.watch.open().await?;
        Ok(describe_rescue(loss.as_ref(), extent, replaced))
    }

    /// Writes the kills that memory holds to files that another program changed.
    pub(crate) async fn write_kills(&mut self, memory: &MemoryState<'_>) -> Result<(), sqlx::Error> {
        let mut transaction = self.begin(Durability::Full).await?;
        rescue::write_kills(&mut transaction, memory).await?;
        transaction.commit().await
    }

    /// Pauses before the next rescue, because one that began at `began` failed.
    pub(crate) fn pause_rescue(&mut self, began: Instant) {
        self.watch.pause_rescue(began.elapsed());
    }

    async fn write_copy(&mut self, memory: MemoryState<'_>) -> Result<CopyExtent, StoreError> {
        // The writer's own connection comes first: its cache may hold pages that are damaged on
        // disk.
        let source: &mut SqliteConnection = match (self.connection.opened(), &mut self.watch.anchor) {
            (Some(connection), _) | (None, Some(connection)) => connection,
            (None, None) => return Err(StoreError::Unavailable("no connection has it open".to_owned())),
        };
        rescue::write_copy(source, &self.database, memory, &self.tuning).await
    }

    /// Moves the write-ahead log into the database and closes.
    pub(crate) async fn close(mut self) -> Result<(), sqlx::Error> {
        // SQLite does not wait for another checkpoint: it would leave the log as it is.
        let _checkpoints = self.checkpoints.lock().await;
        self.watch.close().await;
        self.connection.close().await
    }
}

/// A transaction of the writer.
pub(crate) struct WriteTransaction<'a> {
    inner: Transaction<'a, Sqlite>,
    watch: &'a mut FileWatch,
    durability: Durability,
}

impl WriteTransaction<'_> {
    /// Commits. Writes that a caller waits for are confirmed first: if the names no longer lead to
    /// the open files, the write would be lost with the process.
    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        if self.durability == Durability::Full {
            self.watch.confirm()?;
        }
        self.inner.commit().await
    }

    pub(crate) async fn rollback(self) -> Result<(), sqlx::Error> {
        self.inner.rollback().await
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.inner
    }
}

impl DerefMut for WriteTransaction<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.inner
    }
}

/// Describes a rescue for the log and the status.
fn describe_rescue(loss: Option<&Loss>, extent: CopyExtent, replaced: Option<PathBuf>) -> String {
    let content = match (loss, extent) {
        // Rows that a damaged page or log held may be missing though the rest could be copied.
        (Some(Loss::Damaged(_)), _) | (_, CopyExtent::Readable) => "with every kill and with what could still be read",
        (_, CopyExtent::Whole) => "with everything that was in it",
    };
    let kept =
        replaced.map(|path| format!("; what was in its place is kept as {}", path.display())).unwrap_or_default();
    let loss = loss.map(Loss::to_string).unwrap_or_default();
    format!("{loss}: a new database was written {content}{kept}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rescue_of_a_damaged_database_does_not_promise_everything() {
        let told = |loss, extent| describe_rescue(Some(&loss), extent, None);
        assert!(told(Loss::Deleted("agentgazer.db".to_owned()), CopyExtent::Whole).contains("everything"));
        assert!(!told(Loss::Deleted("agentgazer.db".to_owned()), CopyExtent::Readable).contains("everything"));
        assert!(!told(Loss::Damaged("disk I/O error".to_owned()), CopyExtent::Whole).contains("everything"));
    }
}
