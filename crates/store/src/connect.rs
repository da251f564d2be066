//! How connections to the database are set up.

use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use crate::tuning::Tuning;

/// What the write-ahead log is cut back to after a checkpoint.
const JOURNAL_SIZE_LIMIT: &str = "67108864";

/// Pages of the write-ahead log between two checkpoints, as many as the limit above has room for. Many more than SQLite's
/// 1,000, because a page that many calls write to (the newest one of every agent in every index) is then copied into the
/// database once instead of once per batch.
const PAGES_PER_CHECKPOINT: &str = "16000";

/// 32 MiB: the newest page of every index for two thousand agents. A batch that touches more pages than fit has them written
/// out and read again before it is through.
const CACHE_SIZE: &str = "-32768";

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
