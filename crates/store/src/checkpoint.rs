//! The write-ahead log is moved into the database beside the writer, on a connection of its own: that takes a tenth of a
//! second, which no kill, no change and no page should have to wait for.

use std::path::Path;
use std::sync::Arc;

use sqlx::{ConnectOptions, Connection};
use tokio::sync::Mutex;

use crate::Store;
use crate::connect;

/// Looks at the length of the log now and then, and moves it when it has grown long, holding `moving`, where it
/// is counted. Never ends.
pub(crate) async fn run(store: Store, moving: Arc<Mutex<u64>>) {
    let database = store.config.database();
    let mut log = database.clone().into_os_string();
    log.push("-wal");
    // It stays as long as it was until somebody writes again.
    let mut moved = 0;
    loop {
        tokio::time::sleep(store.tuning.log_look).await;
        let length = std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
        if length <= store.tuning.longest_log || length == moved {
            continue;
        }
        let mut moving = moving.lock().await;
        *moving += 1;
        match checkpoint(&database).await {
            Ok(()) => moved = length,
            // The writer does it when the log has grown longer still, and says what is wrong with the disk.
            Err(error) => tracing::debug!("the write-ahead log was not moved into the database: {error}"),
        }
    }
}

async fn checkpoint(database: &Path) -> Result<(), sqlx::Error> {
    let mut connection = connect::checkpointer(database).connect().await?;
    // What was written while the first was under way goes with the second; when nothing is left the log begins anew.
    for _ in 0..2 {
        sqlx::query("pragma wal_checkpoint(passive)").execute(&mut connection).await?;
    }
    connection.close().await
}
