//! Moves everything from a SQLite file to a PostgreSQL server. Rows are copied in the order of
//! their keys, so that an interrupted move resumes after the greatest key in the target. Nothing is
//! deleted in the file.

mod copy;
mod table;
mod verify;

use sqlx::{ConnectOptions, Connection, PgConnection};

use self::table::Table;
use crate::postgres::{self, PostgresConfig};
use crate::tuning::Tuning;
use crate::{StoreConfig, StoreError, sqlite};

/// The progress of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveProgress {
    /// The table that is copied.
    pub table: String,
    /// The rows of all tables that have arrived.
    pub rows: u64,
    /// The rows of all tables.
    pub total: u64,
}

/// What was moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Each table with the number of its rows.
    pub tables: Vec<(String, u64)>,
}

/// Moves everything from the file of `from` to the server `to`, and compares counts and sums of
/// every table at the end. Calls `progress` after every portion.
pub async fn move_data(
    from: &StoreConfig,
    to: &PostgresConfig,
    mut progress: impl FnMut(&MoveProgress),
) -> Result<Moved, StoreError> {
    let database = from.database();
    if !database.exists() {
        return Err(StoreError::Setup(format!("there is no database {}", database.display())));
    }
    // Both have the same tables after this.
    sqlite::migrate(&database, &Tuning::default()).await?;
    let mut source = sqlite::connect::reader(&database).connect().await?;
    postgres::migrate(to).await?;
    let mut target = to.connect().await?;
    begin(&mut target).await?;

    let tables = Table::all(&mut source, &mut target).await?;
    let mut state = MoveProgress { table: String::new(), rows: 0, total: 0 };
    for table in &tables {
        state.total += table.count(&mut source).await?;
    }
    let mut moved = Moved::default();
    for table in &tables {
        state.table.clone_from(&table.name);
        copy::copy(table, (&mut source, &mut target), |rows| {
            state.rows += rows;
            progress(&state);
        })
        .await?;
        moved.tables.push((table.name.clone(), verify::compare(table, &mut source, &mut target).await?));
    }
    sqlx::query("update moves set finished = 1").execute(&mut target).await?;
    target.close().await?;
    source.close().await?;
    Ok(moved)
}

/// Begins a move, or resumes one. Refuses a database that is in use.
async fn begin(target: &mut PgConnection) -> Result<(), StoreError> {
    let finished: Option<i64> = sqlx::query_scalar("select max(finished) from moves").fetch_one(&mut *target).await?;
    match finished {
        Some(0) => return Ok(()),
        Some(_) => return Err(StoreError::Conflict("a move into this database has finished already".to_owned())),
        None => {}
    }
    let used = "select exists (select 1 from agents) or exists (select 1 from rollups)
        or exists (select 1 from providers) or exists (select 1 from channels)";
    let used: bool = sqlx::query_scalar(used).fetch_one(&mut *target).await?;
    if used {
        let why = "the database holds data already: move into an empty one";
        return Err(StoreError::Conflict(why.to_owned()));
    }
    let mut transaction = target.begin().await?;
    sqlx::query("insert into moves values (1, 0)").execute(&mut *transaction).await?;
    // The file has its own.
    sqlx::query("delete from sums_made").execute(&mut *transaction).await?;
    Ok(transaction.commit().await?)
}
