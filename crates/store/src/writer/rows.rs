//! Inserting many rows with few statements: every statement is a trip to the connection's thread, which costs more than
//! a row.

use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, SqliteConnection};

/// How many rows one statement inserts: few sizes, so that each stays prepared.
const CHUNKS: [usize; 3] = [128, 16, 1];

/// An insert of any number of rows.
pub(crate) struct Insert {
    statements: [String; 3],
    columns: usize,
}

impl Insert {
    /// `insert into {into} values … {then}`, with `columns` values per row.
    ///
    /// `or ignore`: a statement of many rows that may fail half-way makes SQLite copy every page before it touches it.
    /// The values come from our own types, so there is no constraint that they could break but that of the key.
    ///
    /// Plain `?`: SQLite looks a named parameter up in a list, which is quadratic for thousands of them.
    pub(crate) fn new(into: &str, columns: usize, then: &str) -> Insert {
        let row = format!("({})", vec!["?"; columns].join(","));
        let statements = CHUNKS.map(|rows| {
            let rows = vec![row.as_str(); rows].join(",");
            format!("insert or ignore into {into} values {rows} {then}")
        });
        Insert { statements, columns }
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
                let mut arguments = SqliteArguments::default();
                arguments.reserve(size * self.columns, 0);
                for row in chunk {
                    push(&mut arguments, row).map_err(sqlx::Error::Encode)?;
                }
                sqlx::query_with(statement.as_str(), arguments).execute(&mut *transaction).await?;
                rest = remaining;
            }
        }
        Ok(())
    }
}
