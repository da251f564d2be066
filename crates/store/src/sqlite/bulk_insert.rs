//! Inserts many rows with few statements: a statement is a trip to the connection's thread, which
//! costs more than a row.

use std::sync::Arc;

use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, SqliteConnection};

use super::dialect::INSERT_OR_IGNORE;

/// How many rows one statement inserts: few sizes, so that each stays prepared.
const CHUNKS: [usize; 3] = [128, 16, 1];

/// An insert of any number of rows.
pub(crate) struct BulkInsert {
    statements: [String; 3],
    columns: usize,
}

impl BulkInsert {
    /// `insert into {into} values … {then}`, with `columns` values per row.
    ///
    /// Plain `?`: SQLite looks a named parameter up in a list, which is quadratic for thousands of
    /// them.
    pub(crate) fn new(into: &str, columns: usize, then: &str) -> BulkInsert {
        let row = format!("({})", vec!["?"; columns].join(","));
        BulkInsert { statements: statements(into, &row, then), columns }
    }

    /// The same with `constants` at the end of each row.
    pub(crate) fn with_constants(into: &str, columns: usize, constants: &str) -> BulkInsert {
        let row = format!("({},{constants})", vec!["?"; columns].join(","));
        BulkInsert { statements: statements(into, &row, ""), columns }
    }

    /// Inserts `rows`; `push` adds the values of one.
    pub(crate) async fn execute<T>(
        &'static self,
        transaction: &mut SqliteConnection,
        rows: &[T],
        push: impl Fn(&mut SqliteArguments, &T) -> Result<(), BoxDynError>,
    ) -> Result<(), sqlx::Error> {
        let mut rest = rows;
        for (size, statement) in CHUNKS.into_iter().zip(&self.statements) {
            while let Some((chunk, remaining)) = rest.split_at_checked(size) {
                let push_all = |arguments: &mut _| chunk.iter().try_for_each(|row| push(arguments, row));
                execute_with(transaction, statement, size * self.columns, push_all).await?;
                rest = remaining;
            }
        }
        Ok(())
    }
}

fn statements(into: &str, row: &str, then: &str) -> [String; 3] {
    CHUNKS.map(|rows| format!("{INSERT_OR_IGNORE}{into} values {} {then}", vec![row; rows].join(",")))
}

/// Executes a statement with so many values, which `push` adds.
pub(crate) async fn execute_with(
    transaction: &mut SqliteConnection,
    statement: &'static str,
    values: usize,
    push: impl FnOnce(&mut SqliteArguments) -> Result<(), BoxDynError>,
) -> Result<(), sqlx::Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(values, 0);
    push(&mut arguments).map_err(sqlx::Error::Encode)?;
    sqlx::query_with(statement, arguments).execute(transaction).await.map(drop)
}

/// Text as a value with one allocation; a plain `&str` takes two.
pub(crate) fn text(text: &str) -> Arc<str> {
    Arc::from(text)
}
