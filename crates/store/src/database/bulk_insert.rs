//! Inserts many rows with few statements: thousands of rows in a few trips to the database.

use sqlx::error::BoxDynError;

use super::row_insert::{self, RowInsert};
use crate::postgres;
use crate::sql::{Arguments, Connection, OnConflict};

/// An insert of any number of rows.
pub(crate) struct BulkInsert {
    sqlite: RowInsert,
    postgres: postgres::BulkInsert,
}

impl BulkInsert {
    /// Inserts into `table` the `columns`, of which there are `count`.
    pub(crate) fn new((table, columns): (&str, &str), count: usize, on_conflict: &OnConflict) -> BulkInsert {
        BulkInsert {
            sqlite: RowInsert::new(&format!("{table} ({columns})"), count, &row_insert::clause(on_conflict)),
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
