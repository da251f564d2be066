//! Inserts many rows with few statements: a statement is a trip to the connection's thread, which
//! costs more than a row.

use sqlx::error::BoxDynError;

use crate::database::{self, Arguments, Connection, Merge, OnConflict};

/// Inserts rows and skips those whose key exists.
///
/// A statement of many rows that may fail half-way makes SQLite copy every page before it changes
/// it. The values come from our own types, so only the key can conflict.
pub(crate) const INSERT_OR_IGNORE: &str = "insert or ignore into ";

/// How many rows one statement inserts: few sizes, so that each stays prepared.
const CHUNKS: [usize; 3] = [128, 16, 1];

/// An insert of any number of rows.
pub(crate) struct RowInsert {
    statements: [String; 3],
    columns: usize,
}

impl RowInsert {
    /// `insert into {into} values … {then}`, with `columns` values per row.
    ///
    /// Plain `?`: SQLite looks a named parameter up in a list, which is quadratic for thousands of
    /// them.
    pub(crate) fn new(into: &str, columns: usize, then: &str) -> RowInsert {
        let row = format!("({})", vec!["?"; columns].join(","));
        RowInsert { statements: statements(into, &row, then), columns }
    }

    /// The same with `constants` at the end of each row.
    pub(crate) fn with_constants(into: &str, columns: usize, constants: &str) -> RowInsert {
        let row = format!("({},{constants})", vec!["?"; columns].join(","));
        RowInsert { statements: statements(into, &row, ""), columns }
    }

    /// Inserts `rows`; `push` adds the values of one.
    pub(crate) async fn execute<T>(
        &'static self,
        transaction: &mut Connection<'_>,
        rows: &[T],
        push: impl Fn(&mut Arguments, &T) -> Result<(), BoxDynError>,
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

/// Executes a statement with this many values, which `push` adds.
pub(crate) async fn execute_with(
    transaction: &mut Connection<'_>,
    statement: &'static str,
    values: usize,
    push: impl FnOnce(&mut Arguments) -> Result<(), BoxDynError>,
) -> Result<(), sqlx::Error> {
    let mut arguments = transaction.arguments(values);
    push(&mut arguments).map_err(sqlx::Error::Encode)?;
    database::query_with(statement, arguments).execute(transaction).await.map(drop)
}

/// The clause of an insert.
pub(crate) fn clause(on_conflict: &OnConflict) -> String {
    match on_conflict {
        OnConflict::Ignore => String::new(),
        OnConflict::Clause(clause) => (*clause).to_owned(),
        OnConflict::Merge { columns, .. } => {
            let merge = |(column, merge): &(&str, Merge)| match merge {
                // SQLite would go on with fractions, which cannot be read back.
                Merge::Add => format!("{column} = min({column} + excluded.{column}, {})", i64::MAX),
                Merge::Greatest => format!("{column} = max({column}, excluded.{column})"),
                Merge::Replace => format!("{column} = excluded.{column}"),
            };
            format!("on conflict do update set {}", columns.iter().map(merge).collect::<Vec<_>>().join(", "))
        }
    }
}
