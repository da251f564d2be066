//! How connections to the database are set up.

use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use crate::tuning::Tuning;

/// What the write-ahead log is cut back to after a checkpoint.
const JOURNAL_SIZE_LIMIT: &str = "67108864";

/// Pages of the write-ahead log between two checkpoints. More than SQLite's 1,000, because a page that many calls write
/// to (the newest one, every index) is then copied into the database once instead of once per few batches.
const PAGES_PER_CHECKPOINT: &str = "4000";

/// Eight MiB: the newest page of every index for some thousands of agents.
const CACHE_SIZE: &str = "-8192";

/// Of the one connection that writes.
pub(crate) fn writer(database: &Path, tuning: &Tuning) -> SqliteConnectOptions {
    let mut options = base(database)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(tuning.busy_timeout)
        .pragma("journal_size_limit", JOURNAL_SIZE_LIMIT)
        .pragma("wal_autocheckpoint", PAGES_PER_CHECKPOINT)
        .pragma("cache_size", CACHE_SIZE);
    for (name, value) in tuning.faults() {
        options = options.pragma(name, value);
    }
    options
}

/// Of those that read.
pub(crate) fn reader(database: &Path) -> SqliteConnectOptions {
    base(database).read_only(true).busy_timeout(Duration::from_secs(5))
}

fn base(database: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(database)
        .foreign_keys(true)
        .optimize_on_close(false, None)
        // What was sent in a statement has no place in the log, and counting its time costs time.
        .disable_statement_logging()
}
