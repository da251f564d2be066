//! Inserts many rows with few statements: thousands of rows in a few trips to the database.

use sqlx::error::BoxDynError;

use super::{Arguments, Connection};
use crate::{postgres, sqlite};

/// What an insert does with a row whose key exists.
pub(crate) enum OnConflict {
    /// Skips it.
    Ignore,
    /// Runs this clause, which both databases understand.
    Clause(&'static str),
    /// Merges the row into the one with this key, column by column.
    Merge { key: &'static str, columns: Vec<(&'static str, Merge)> },
}

/// How a column of a row is merged into the one that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The sum, up to the largest number of a column.
    Add,
    /// The larger of the two.
    Greatest,
    /// The new one.
    Replace,
}

/// An insert of any number of rows.
pub(crate) struct BulkInsert {
    sqlite: sqlite::BulkInsert,
    postgres: postgres::BulkInsert,
}

impl BulkInsert {
    /// Inserts into `table` the `columns`, of which there are `count`.
    pub(crate) fn new((table, columns): (&str, &str), count: usize, on_conflict: &OnConflict) -> BulkInsert {
        BulkInsert {
            sqlite: sqlite::BulkInsert::new(&format!("{table} ({columns})"), count, &sqlite::clause(on_conflict)),
            postgres: postgres::BulkInsert::new((table, columns), count, on_conflict),
        }
    }

    /// Inserts `rows`; `push` adds the values of one.
    pub(crate) async fn execute<T>(
        &'static self,
        transaction: &mut Connection<'_>,
        rows: &[T],
        push: impl Fn(&mut Arguments, &T) -> Result<(), BoxDynError>,
    ) -> Result<(), sqlx::Error> {
        match transaction {
            Connection::Sqlite(_) => self.sqlite.execute(transaction, rows, push).await,
            Connection::Postgres(connection) => self.postgres.execute(connection, rows, push).await,
        }
    }
}
