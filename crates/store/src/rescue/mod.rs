//! A new database in the place of one that was deleted, replaced or damaged while the server ran: all that can still be read of
//! the old one, and every kill that memory holds.

mod copy;
mod kills;
mod place;

use std::collections::HashSet;
use std::path::Path;

use model::{IncidentId, SavedAgent, Timestamp};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

pub(crate) use self::kills::{KillsInMemory, hold as hold_kills};
pub(crate) use self::place::{finish_swap, swap};

use crate::files::beside;
use crate::tuning::Tuning;
use crate::{StoreError, connect, store};

/// The new database while it is written.
const PARTIAL: &str = ".partial";

/// What the new database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything.
    Whole,
    /// Some tables could be read in part or not at all.
    Readable,
}

/// What memory adds to the copy.
pub(crate) struct Held<'a> {
    /// The inactive agents.
    pub(crate) agents: &'a [SavedAgent],
    /// The incidents that are still to be written.
    pub(crate) pending: &'a HashSet<IncidentId>,
    pub(crate) now: Timestamp,
}

/// Writes a complete new database beside `database` from what `source` can still read and from memory. It is on disk, and a
/// restart uses it, once this returns; [`swap`] puts it in its place.
pub(crate) async fn write_copy(
    source: &mut SqliteConnection,
    database: &Path,
    held: Held<'_>,
    tuning: &Tuning,
) -> Result<Extent, StoreError> {
    let partial = beside(database, PARTIAL);
    place::create_empty(&partial)?;
    let extent = match copy::whole(source, &partial).await {
        Ok(()) => Extent::Whole,
        Err(error) => {
            tracing::warn!("the database cannot be copied as a whole, its tables are copied one by one: {error}");
            place::create_empty(&partial)?;
            migrate(&partial, tuning).await?;
            copy::tables(source, &partial).await?
        }
    };
    // A copy of a damaged database may have the damage in its schema.
    migrate(&partial, tuning).await?;
    let mut connection = connect::writer(&partial, tuning).connect().await?;
    kills::hold(&mut connection, held).await?;
    sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut connection).await?;
    connection.close().await?;
    place::keep(&partial, database).map_err(|error| StoreError::Setup(format!("{}: {error}", partial.display())))?;
    Ok(extent)
}

/// Brings the new database up to date, on a thread of its own: the migrator's future must not move between threads.
async fn migrate(database: &Path, tuning: &Tuning) -> Result<(), StoreError> {
    let (database, tuning, runtime) = (database.to_owned(), tuning.clone(), tokio::runtime::Handle::current());
    let migrated = tokio::task::spawn_blocking(move || runtime.block_on(store::migrate(&database, &tuning)));
    migrated.await.map_err(|error| StoreError::Setup(error.to_string()))?
}
