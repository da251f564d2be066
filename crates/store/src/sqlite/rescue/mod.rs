//! Replaces a database that was deleted, replaced or damaged while the server ran. The new one
//! holds all that can still be read of the old one, and every kill that memory holds.

mod copy;
mod kills;
mod place;

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use model::{IncidentId, SavedAgent, Timestamp};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

pub(crate) use self::kills::{KillsInMemory, write_kills};
pub(crate) use self::place::{finish_swap, swap};

use super::files::beside;
use super::{connect, migrate as run_migrations};
use crate::StoreError;
use crate::tuning::Tuning;

/// The new database while it is written.
const PARTIAL: &str = ".partial";

/// The content of the new database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyExtent {
    /// Everything.
    Whole,
    /// Some tables could be read in part or not at all.
    Readable,
}

/// What memory knows better than a database that was lost or changed.
pub(crate) struct MemoryState<'a> {
    /// The inactive agents.
    pub(crate) agents: &'a [SavedAgent],
    /// The incidents that are still to be written.
    pub(crate) pending: &'a HashSet<IncidentId>,
    pub(crate) now: Timestamp,
}

/// Writes a complete new database beside `database` from what `source` can still read and from
/// memory. It is on disk, and a restart uses it, once this returns; [`swap`] puts it in its place.
pub(crate) async fn write_copy(
    source: &mut SqliteConnection,
    database: &Path,
    memory: MemoryState<'_>,
    tuning: &Tuning,
) -> Result<CopyExtent, StoreError> {
    let partial = beside(database, PARTIAL);
    let mut failed = None;
    for content in [Content::All, Content::Tables(copy::TABLES), Content::Tables(copy::without_history())] {
        match write_partial(source, &partial, content, (&memory, tuning)).await {
            Ok(extent) => {
                let kept = place::keep(&partial, database);
                return kept.map(|()| extent).map_err(|error| StoreError::Setup(error.to_string()));
            }
            Err(error) => {
                tracing::warn!("the database cannot be copied ({content}): {error}");
                failed = Some(error);
            }
        }
    }
    // The copy may have filled the disk.
    place::discard(&partial);
    Err(failed.unwrap_or_else(|| StoreError::Unavailable("nothing was copied".to_owned())))
}

/// What is copied.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// The whole file, page by page.
    All,
    /// Of these tables, the rows that can be read.
    Tables(&'static [(&'static str, &'static str)]),
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::All => f.write_str("as a whole"),
            Content::Tables(tables) => write!(f, "{} tables", tables.len()),
        }
    }
}

async fn write_partial(
    source: &mut SqliteConnection,
    partial: &Path,
    content: Content,
    (memory, tuning): (&MemoryState<'_>, &Tuning),
) -> Result<CopyExtent, StoreError> {
    place::create_empty(partial)?;
    let extent = match content {
        Content::All => {
            copy::whole(source, partial).await?;
            CopyExtent::Whole
        }
        Content::Tables(tables) => {
            migrate(partial, tuning).await?;
            copy::tables(source, partial, tables).await?
        }
    };
    // A copy of a damaged database may have the damage in its schema.
    migrate(partial, tuning).await?;
    let mut connection = connect::writer(partial, tuning).connect().await?;
    write_kills(&mut connection, memory).await?;
    sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut connection).await?;
    connection.close().await?;
    Ok(extent)
}

/// Brings the new database up to date, on a thread of its own: the migrator's future must not move
/// between threads.
async fn migrate(database: &Path, tuning: &Tuning) -> Result<(), StoreError> {
    let (database, tuning, runtime) = (database.to_owned(), tuning.clone(), tokio::runtime::Handle::current());
    let migrated = tokio::task::spawn_blocking(move || runtime.block_on(run_migrations(&database, &tuning)));
    migrated.await.map_err(|error| StoreError::Setup(error.to_string()))?
}
