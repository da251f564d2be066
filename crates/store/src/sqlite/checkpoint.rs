//! Moves the write-ahead log into the database on a connection of its own. That takes a tenth of a
//! second, for which no kill, change or page should wait.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::{ConnectOptions, Connection};
use tokio::sync::Mutex;

use super::connect;
use super::files::beside;
use crate::tuning::Tuning;

/// Checks the length of the log now and then, and moves it when it is long. It holds `checkpoints`
/// meanwhile and counts there. Never ends.
pub(super) async fn run(database: PathBuf, tuning: Tuning, checkpoints: Arc<Mutex<u64>>) {
    let log = beside(&database, "-wal");
    // The file keeps its length until the next write.
    let mut moved = 0;
    loop {
        tokio::time::sleep(tuning.log_interval).await;
        let length = std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
        if length <= tuning.longest_log || length == moved {
            continue;
        }
        let mut count = checkpoints.lock().await;
        *count += 1;
        match checkpoint(&database).await {
            Ok(()) => moved = length,
            // The writer moves an even longer log itself, and reports problems with the disk.
            Err(error) => tracing::debug!("the write-ahead log was not moved into the database: {error}"),
        }
    }
}

async fn checkpoint(database: &Path) -> Result<(), sqlx::Error> {
    let mut connection = connect::checkpointer(database).connect().await?;
    // The second run moves what was written during the first. The log starts over once nothing is
    // left in it.
    for _ in 0..2 {
        sqlx::query("pragma wal_checkpoint(passive)").execute(&mut connection).await?;
    }
    connection.close().await
}
