//! Notices that the files of the database were deleted, replaced or damaged while they are open.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::{ConnectOptions, Connection as _, SqliteConnection};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant};

use super::connect;
use super::error_codes::{damage_reports, is_damage};
use super::files::{DatabaseFiles, Loss, Stamp};
use crate::tuning::Tuning;

/// How often the files are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The pause after a rescue that failed is at least this, and several times as long as the rescue
/// took.
const RESCUE_PAUSE: Duration = Duration::from_secs(1);
const PAUSE_PER_ATTEMPT: u32 = 4;

/// The pause after a check is this many times as long as the check took.
const PAUSE_PER_CHECK: u32 = 20;

/// The state of the files.
#[derive(Debug)]
pub(crate) struct FileWatch {
    database: PathBuf,
    tuning: Tuning,
    checkpoint_count: Arc<Mutex<u64>>,
    /// A connection that is never closed: deleted files stay readable through it.
    pub(super) anchor: Option<SqliteConnection>,
    files: Option<DatabaseFiles>,
    stamp: Option<Stamp>,
    /// The number of checkpoints when the stamp was taken, and when the log last became shorter.
    checkpoints: u64,
    checkpoints_at_shrink: u64,
    damage_reports: u64,
    /// Whether the content of the files should be checked, and the earliest time for it.
    is_suspected: bool,
    next_check: Instant,
    /// A running check of the whole database, and its start.
    check: Option<(Instant, JoinHandle<Result<(), Loss>>)>,
    pub(super) loss: Option<Loss>,
    pub(super) next_poll: Instant,
    pub(super) next_rescue: Instant,
}

/// The result of a check of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileState {
    /// Nothing new.
    Unchanged,
    /// Another program wrote to the database, and it can be read.
    ChangedByOthers,
}

impl FileWatch {
    pub(super) fn new(database: &Path, tuning: &Tuning, checkpoint_count: Arc<Mutex<u64>>) -> FileWatch {
        FileWatch {
            database: database.to_owned(),
            tuning: tuning.clone(),
            checkpoint_count,
            anchor: None,
            files: None,
            stamp: None,
            checkpoints: 0,
            checkpoints_at_shrink: 0,
            damage_reports: damage_reports(),
            is_suspected: false,
            next_check: Instant::now(),
            check: None,
            loss: None,
            next_poll: Instant::now(),
            next_rescue: Instant::now(),
        }
    }

    /// Opens the anchor and records which files it opened.
    pub(super) async fn open(&mut self) -> Result<(), sqlx::Error> {
        let mut anchor = connect::writer(&self.database, &self.tuning).connect().await?;
        // SQLite opens the log and its index with the first read.
        sqlx::query("select count(*) from sqlite_schema").execute(&mut anchor).await?;
        let files = DatabaseFiles::of(&self.database)?;
        self.stamp = files.stamp().ok();
        self.files = Some(files);
        self.anchor = Some(anchor);
        self.loss = None;
        Ok(())
    }

    /// An error if the names no longer lead to the open files: what is written there would be lost
    /// with the process.
    pub(super) fn confirm(&mut self) -> Result<(), sqlx::Error> {
        if self.loss.is_none() {
            self.loss = self.files.as_ref().and_then(DatabaseFiles::loss);
        }
        match &self.loss {
            Some(loss) => Err(sqlx::Error::Io(io::Error::other(loss.to_string()))),
            None => Ok(()),
        }
    }

    /// Checks the files, if it is time.
    pub(super) async fn poll(&mut self) -> FileState {
        if Instant::now() < self.next_poll || self.loss.is_some() {
            return FileState::Unchanged;
        }
        self.next_poll = Instant::now() + POLL_INTERVAL;
        if self.files.is_none() {
            let _ = self.open().await;
        }
        if self.confirm().is_err() {
            return FileState::Unchanged;
        }
        self.is_suspected |= self.is_suspect();
        self.begin_check();
        self.take_check().await
    }

    /// Starts a check if an error of the writer means damage.
    pub(super) fn note_error(&mut self, error: &sqlx::Error) {
        self.is_suspected |= is_damage(error) && self.loss.is_none();
        self.begin_check();
    }

    /// Starts to read the whole database if something is suspected and the last check was long
    /// enough ago: a program that writes to the file all the time must not keep the server busy
    /// with checks.
    fn begin_check(&mut self) {
        if self.is_suspected && self.check.is_none() && Instant::now() >= self.next_check {
            self.is_suspected = false;
            self.check = Some((Instant::now(), tokio::spawn(check(self.database.clone()))));
        }
    }

    /// Whether something may have happened to the content of the files.
    fn is_suspect(&mut self) -> bool {
        let reports = damage_reports();
        let reported = std::mem::replace(&mut self.damage_reports, reports) != reports;
        // While the log is moved the file changes all the time.
        let Ok(checkpoints) = self.checkpoint_count.try_lock().map(|count| *count) else { return reported };
        let Some(stamp) = self.files.as_ref().and_then(|files| files.stamp().ok()) else { return reported };
        let Some(before) = self.stamp.replace(stamp) else { return reported };
        let by_us = std::mem::replace(&mut self.checkpoints, checkpoints) != checkpoints;
        let is_shorter = stamp.log_length < before.log_length;
        let shortened_by_us = !is_shorter || self.checkpoints_at_shrink != checkpoints;
        if is_shorter {
            self.checkpoints_at_shrink = checkpoints;
        }
        reported || !shortened_by_us || !(by_us || stamp.is_same_file(&before))
    }

    /// The result of the check, once it has ended.
    async fn take_check(&mut self) -> FileState {
        let ended = self.check.take_if(|(_, check)| check.is_finished());
        let Some((began, check)) = ended else { return FileState::Unchanged };
        self.next_check = Instant::now() + began.elapsed() * PAUSE_PER_CHECK;
        match check.await {
            Ok(Ok(())) => FileState::ChangedByOthers,
            Ok(Err(loss)) => {
                self.loss = Some(loss);
                FileState::Unchanged
            }
            Err(_) => FileState::Unchanged,
        }
    }

    /// Whether the files that are open are there again and can be read.
    pub(super) async fn is_back(&self) -> bool {
        match (&self.loss, &self.files) {
            (Some(Loss::Damaged(_)), _) => check(self.database.clone()).await.is_ok(),
            (_, Some(files)) => files.loss().is_none(),
            (_, None) => false,
        }
    }

    /// Sets the time of the next rescue, after one that failed and took `took`.
    pub(super) fn pause_rescue(&mut self, took: Duration) {
        self.next_rescue = Instant::now() + RESCUE_PAUSE.max(took * PAUSE_PER_ATTEMPT);
    }

    pub(super) async fn close(&mut self) {
        if let Some(anchor) = self.anchor.take() {
            let _ = anchor.close().await;
        }
    }
}

/// Reads the whole database on a connection that has none of it in memory.
async fn check(database: PathBuf) -> Result<(), Loss> {
    let checked = async {
        let mut connection = connect::checker(&database).connect().await?;
        let found: String = sqlx::query_scalar("pragma quick_check(1)").fetch_one(&mut connection).await?;
        connection.close().await?;
        Ok::<_, sqlx::Error>(found)
    };
    match checked.await {
        Ok(found) if found == "ok" => Ok(()),
        Ok(found) => Err(Loss::Damaged(found)),
        Err(error) if is_damage(&error) => Err(Loss::Damaged(error.to_string())),
        // A lock or a full disk says nothing about the content.
        Err(_) => Ok(()),
    }
}
