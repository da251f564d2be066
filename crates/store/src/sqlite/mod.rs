//! What only SQLite needs: how connections are opened, the write-ahead log, its files and their
//! loss, its error codes.

mod cache_size;
mod checkpoint;
pub(crate) mod connect;
pub(crate) mod error_codes;
mod file_watch;
pub(crate) mod files;
mod generation;
pub(crate) mod migrate;
pub(crate) mod rescue;
mod session;
mod size;
pub(crate) mod write_connection;

use std::path::Path;
use std::time::Duration;

use model::Timestamp;
use sqlx::sqlite::SqlitePool;

pub(crate) use self::error_codes::{in_plain_words, is_damage, is_full, is_temporary, report_damage};
pub(crate) use self::generation::Generation;
pub(crate) use self::migrate::migrate;
pub(crate) use self::rescue::KillsInMemory;
pub(crate) use self::session::{Session, WriteTransaction};
pub(crate) use self::size::used_bytes;

use crate::StoreError;
use crate::files::{create_private_dir, create_private_file};
use crate::tuning::Tuning;

/// People look at few pages at a time.
const READERS: u32 = 4;

/// The connections that read.
pub(crate) struct Readers {
    pub(crate) pool: SqlitePool,
    pub(crate) generation: Generation,
}

/// Creates the directory and the file of the database, and finishes a rescue that a crash
/// interrupted.
pub(crate) fn prepare(data_dir: &Path, database: &Path, now: Timestamp) -> Result<(), StoreError> {
    create_private_dir(data_dir)?;
    rescue::finish_swap(database, now).map_err(|error| {
        StoreError::Setup(format!("the database {} cannot be put in its place: {error}", database.display()))
    })?;
    create_private_file(database)
}

/// Migrates the database and opens the readers.
pub(crate) async fn open(database: &Path, tuning: &Tuning) -> Result<Readers, StoreError> {
    migrate(database, tuning).await?;
    let generation = Generation::default();
    let pool = generation
        .limit(crate::sql::pool_options())
        .max_connections(READERS)
        .acquire_timeout(Duration::from_secs(5))
        // A connection to a file cannot be lost on the way; asking costs a trip to its thread per
        // query.
        .test_before_acquire(false)
        .connect_lazy_with(connect::reader(database));
    Ok(Readers { pool, generation })
}
