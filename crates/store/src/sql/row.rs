//! Rows of either database.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Row as _};

/// A row that was read.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// The value of a column, by its name or its place.
    pub(crate) fn try_get<'r, T, I>(&'r self, index: I) -> Result<T, sqlx::Error>
    where
        T: FromColumn<'r>,
        I: ColumnIndex<SqliteRow> + ColumnIndex<PgRow>,
    {
        match self {
            Row::Sqlite(row) => T::of_sqlite(row, index.index(row)?),
            Row::Postgres(row) => T::of_postgres(row, index.index(row)?),
        }
    }
}

/// A type that columns are read as.
pub(crate) trait FromColumn<'r>: Sized {
    fn of_sqlite(row: &'r SqliteRow, index: usize) -> Result<Self, sqlx::Error>;

    fn of_postgres(row: &'r PgRow, index: usize) -> Result<Self, sqlx::Error>;
}

/// Types that both databases have.
macro_rules! from_column {
    ($($type:ty),* $(,)?) => {
        $(
            impl<'r> FromColumn<'r> for $type {
                fn of_sqlite(row: &'r SqliteRow, index: usize) -> Result<Self, sqlx::Error> {
                    row.try_get(index)
                }

                fn of_postgres(row: &'r PgRow, index: usize) -> Result<Self, sqlx::Error> {
                    row.try_get(index)
                }
            }
        )*
    };
}

from_column!(f64, Option<f64>, String, Option<String>, &'r str, Option<&'r str>);
from_column!(Vec<u8>, Option<Vec<u8>>, &'r [u8], Option<&'r [u8]>);

/// Whole numbers. In PostgreSQL a column is a bigint, a count or a length; all are read as an
/// `i64`.
macro_rules! from_integer {
    ($($type:ty: $convert:expr),* $(,)?) => {
        $(
            impl FromColumn<'_> for $type {
                fn of_sqlite(row: &SqliteRow, index: usize) -> Result<Self, sqlx::Error> {
                    row.try_get(index)
                }

                fn of_postgres(row: &PgRow, index: usize) -> Result<Self, sqlx::Error> {
                    Option::<$type>::of_postgres(row, index)?.ok_or_else(|| unexpected(index))
                }
            }

            impl FromColumn<'_> for Option<$type> {
                fn of_sqlite(row: &SqliteRow, index: usize) -> Result<Self, sqlx::Error> {
                    row.try_get(index)
                }

                fn of_postgres(row: &PgRow, index: usize) -> Result<Self, sqlx::Error> {
                    let number: Option<i64> = row.try_get_unchecked(index)?;
                    number.map(|number| ($convert)(number).ok_or_else(|| unexpected(index))).transpose()
                }
            }
        )*
    };
}

from_integer!(
    i64: Some,
    u16: |number: i64| u16::try_from(number).ok(),
    u32: |number: i64| u32::try_from(number).ok(),
    bool: |number: i64| Some(number != 0),
);

fn unexpected(index: usize) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: index.to_string(), source: "an unexpected value".into() }
}

/// A whole row as a tuple.
pub(crate) trait FromRow: Sized {
    fn of_row(row: &Row) -> Result<Self, sqlx::Error>;
}

macro_rules! from_row {
    ($($name:ident: $place:literal),*) => {
        impl<$($name: for<'r> FromColumn<'r>),*> FromRow for ($($name),*) {
            fn of_row(row: &Row) -> Result<Self, sqlx::Error> {
                Ok(($(row.try_get::<$name, _>($place)?),*))
            }
        }
    };
}

from_row!(A: 0, B: 1);
from_row!(A: 0, B: 1, C: 2);
