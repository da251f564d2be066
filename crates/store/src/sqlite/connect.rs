//! Options of the connections to the database.

use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use super::cache_size::CacheSize;
use crate::tuning::Tuning;

/// Pages of the write-ahead log at which the writer itself moves them into the database.
/// `checkpoint.rs` does that earlier, unless the disk is slow or a read takes very long.
const PAGES_PER_CHECKPOINT: &str = "65536";

/// Truncates the write-ahead log to its content.
const JOURNAL_SIZE_LIMIT: &str = "0";

/// The connection that writes.
pub(crate) fn writer(database: &Path, tuning: &Tuning) -> SqliteConnectOptions {
    let mut options = base(database)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(tuning.busy_timeout)
        .pragma("journal_size_limit", JOURNAL_SIZE_LIMIT)
        .pragma("wal_autocheckpoint", PAGES_PER_CHECKPOINT)
        .pragma("cache_size", CacheSize::default().value());
    for (name, value) in tuning.faults() {
        options = options.pragma(name, value);
    }
    options
}

/// The connections that read.
pub(crate) fn reader(database: &Path) -> SqliteConnectOptions {
    base(database).read_only(true).busy_timeout(Duration::from_secs(5))
}

/// The connection that checks whether everything can be read. It waits for no lock.
pub(crate) fn checker(database: &Path) -> SqliteConnectOptions {
    base(database).read_only(true).pragma("mmap_size", "0")
}

/// The connection that moves the write-ahead log into the database.
pub(crate) fn checkpointer(database: &Path) -> SqliteConnectOptions {
    base(database)
}

fn base(database: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(database)
        .foreign_keys(true)
        .optimize_on_close(false, None)
        // Values must not be logged, and measuring each statement costs time.
        .disable_statement_logging()
}
