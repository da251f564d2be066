//! Statements with their values, for either database.

use std::marker::PhantomData;
use std::pin::Pin;

use sqlx::sqlite::SqliteArguments;
use sqlx::{SqlSafeStr, SqlStr};
use tokio_stream::{Stream, StreamExt};

use super::{Arguments, Row, Source, Value};
use crate::postgres;
use crate::sql::ToValue;
use crate::sql::{FromColumn, FromRow};

/// A stream of rows.
pub(crate) type Rows<'e, T> = Pin<Box<dyn Stream<Item = Result<T, sqlx::Error>> + Send + 'e>>;

/// A statement with its values.
pub(crate) struct Query {
    sql: SqlStr,
    values: Values,
}

enum Values {
    /// Bound one by one.
    Bound(Vec<Value>),
    /// Made for the database that the statement runs on.
    Made(Arguments),
}

/// A statement.
pub(crate) fn query(sql: impl SqlSafeStr) -> Query {
    Query { sql: sql.into_sql_str(), values: Values::Bound(Vec::new()) }
}

/// A statement with the values of [`Connection::arguments`](super::Connection::arguments).
pub(crate) fn query_with(sql: impl SqlSafeStr, arguments: Arguments) -> Query {
    Query { sql: sql.into_sql_str(), values: Values::Made(arguments) }
}

/// A statement whose first column is read.
pub(crate) fn query_scalar<T>(sql: impl SqlSafeStr) -> Scalar<T> {
    Scalar { query: query(sql), column: PhantomData }
}

/// A statement whose rows are tuples.
pub(crate) fn query_as<T>(sql: impl SqlSafeStr) -> Tuples<T> {
    Tuples { query: query(sql), row: PhantomData }
}

/// How many rows a statement changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed(u64);

impl Changed {
    pub(crate) fn rows_affected(self) -> u64 {
        self.0
    }
}

impl Query {
    pub(super) fn new(sql: String, values: Vec<Value>) -> Query {
        Query { sql: sqlx::AssertSqlSafe(sql).into_sql_str(), values: Values::Bound(values) }
    }

    /// Binds the next value.
    pub(crate) fn bind(mut self, value: impl ToValue) -> Query {
        if let Values::Bound(values) = &mut self.values {
            values.push(value.to_value());
        }
        self
    }

    /// Reads each row with `map`.
    pub(crate) fn try_map<T, F: Fn(Row) -> Result<T, sqlx::Error>>(self, map: F) -> Map<F> {
        Map { query: self, map }
    }

    pub(crate) async fn execute(self, source: impl Into<Source<'_>>) -> Result<Changed, sqlx::Error> {
        Ok(Changed(match source.into() {
            Source::Sqlite(connection) => self.for_sqlite()?.execute(connection).await?.rows_affected(),
            Source::SqlitePool(pool) => self.for_sqlite()?.execute(pool).await?.rows_affected(),
            Source::Postgres(connection) => {
                postgres::in_time(self.for_postgres()?.execute(connection)).await?.rows_affected()
            }
            Source::PostgresPool(pool) => postgres::in_time(self.for_postgres()?.execute(pool)).await?.rows_affected(),
        }))
    }

    pub(crate) async fn fetch_all(self, source: impl Into<Source<'_>>) -> Result<Vec<Row>, sqlx::Error> {
        Ok(match source.into() {
            Source::Sqlite(connection) => sqlite_rows(self.for_sqlite()?.fetch_all(connection).await?),
            Source::SqlitePool(pool) => sqlite_rows(self.for_sqlite()?.fetch_all(pool).await?),
            Source::Postgres(connection) => {
                postgres_rows(postgres::in_time(self.for_postgres()?.fetch_all(connection)).await?)
            }
            Source::PostgresPool(pool) => postgres_rows(postgres::in_time(self.for_postgres()?.fetch_all(pool)).await?),
        })
    }

    pub(crate) async fn fetch_optional(self, source: impl Into<Source<'_>>) -> Result<Option<Row>, sqlx::Error> {
        Ok(match source.into() {
            Source::Sqlite(connection) => self.for_sqlite()?.fetch_optional(connection).await?.map(Row::Sqlite),
            Source::SqlitePool(pool) => self.for_sqlite()?.fetch_optional(pool).await?.map(Row::Sqlite),
            Source::Postgres(connection) => {
                postgres::in_time(self.for_postgres()?.fetch_optional(connection)).await?.map(Row::Postgres)
            }
            Source::PostgresPool(pool) => {
                postgres::in_time(self.for_postgres()?.fetch_optional(pool)).await?.map(Row::Postgres)
            }
        })
    }

    pub(crate) async fn fetch_one(self, source: impl Into<Source<'_>>) -> Result<Row, sqlx::Error> {
        self.fetch_optional(source).await?.ok_or(sqlx::Error::RowNotFound)
    }

    fn fetch<'e>(self, source: impl Into<Source<'e>>) -> Result<Rows<'e, Row>, sqlx::Error> {
        let (sqlite, postgres) = (|row: Result<_, _>| row.map(Row::Sqlite), |row: Result<_, _>| row.map(Row::Postgres));
        Ok(match source.into() {
            Source::Sqlite(connection) => Box::pin(self.for_sqlite()?.fetch(connection).map(sqlite)),
            Source::SqlitePool(pool) => Box::pin(self.for_sqlite()?.fetch(pool).map(sqlite)),
            Source::Postgres(connection) => Box::pin(self.for_postgres()?.fetch(connection).map(postgres)),
            Source::PostgresPool(pool) => Box::pin(self.for_postgres()?.fetch(pool).map(postgres)),
        })
    }

    fn for_sqlite(self) -> Result<sqlx::query::Query<'static, sqlx::Sqlite, SqliteArguments>, sqlx::Error> {
        let arguments = match self.values {
            Values::Made(Arguments::Sqlite(arguments)) => arguments,
            Values::Bound(values) | Values::Made(Arguments::Postgres(values)) => {
                let mut arguments = SqliteArguments::default();
                values
                    .into_iter()
                    .try_for_each(|value| value.push_onto(&mut arguments))
                    .map_err(sqlx::Error::Encode)?;
                arguments
            }
        };
        Ok(sqlx::query_with(self.sql, arguments))
    }

    fn for_postgres(self) -> Result<postgres::Query, sqlx::Error> {
        match self.values {
            Values::Bound(values) | Values::Made(Arguments::Postgres(values)) => postgres::query(self.sql, values),
            Values::Made(Arguments::Sqlite(_)) => Err(sqlx::Error::Encode("values of another database".into())),
        }
    }
}

fn sqlite_rows(rows: Vec<sqlx::sqlite::SqliteRow>) -> Vec<Row> {
    rows.into_iter().map(Row::Sqlite).collect()
}

fn postgres_rows(rows: Vec<sqlx::postgres::PgRow>) -> Vec<Row> {
    rows.into_iter().map(Row::Postgres).collect()
}

/// A statement and how its rows are read.
pub(crate) struct Map<F> {
    query: Query,
    map: F,
}

impl<T, F: Fn(Row) -> Result<T, sqlx::Error>> Map<F> {
    pub(crate) async fn fetch_all(self, source: impl Into<Source<'_>>) -> Result<Vec<T>, sqlx::Error> {
        self.query.fetch_all(source).await?.into_iter().map(self.map).collect()
    }

    pub(crate) async fn fetch_optional(self, source: impl Into<Source<'_>>) -> Result<Option<T>, sqlx::Error> {
        self.query.fetch_optional(source).await?.map(self.map).transpose()
    }

    /// The rows as they come.
    pub(crate) fn fetch<'e>(self, source: impl Into<Source<'e>>) -> Result<Rows<'e, T>, sqlx::Error>
    where
        F: Send + 'e,
        T: 'e,
    {
        let map = self.map;
        Ok(Box::pin(self.query.fetch(source)?.map(move |row| row.and_then(&map))))
    }
}

/// A statement whose first column is read.
pub(crate) struct Scalar<T> {
    query: Query,
    column: PhantomData<fn() -> T>,
}

impl<T: for<'r> FromColumn<'r>> Scalar<T> {
    pub(super) fn of(query: Query) -> Scalar<T> {
        Scalar { query, column: PhantomData }
    }

    /// Binds the next value.
    pub(crate) fn bind(self, value: impl ToValue) -> Scalar<T> {
        Scalar { query: self.query.bind(value), ..self }
    }

    pub(crate) async fn fetch_all(self, source: impl Into<Source<'_>>) -> Result<Vec<T>, sqlx::Error> {
        self.query.fetch_all(source).await?.iter().map(|row| row.try_get(0)).collect()
    }

    pub(crate) async fn fetch_optional(self, source: impl Into<Source<'_>>) -> Result<Option<T>, sqlx::Error> {
        self.query.fetch_optional(source).await?.map(|row| row.try_get(0)).transpose()
    }

    pub(crate) async fn fetch_one(self, source: impl Into<Source<'_>>) -> Result<T, sqlx::Error> {
        self.query.fetch_one(source).await?.try_get(0)
    }
}

/// A statement whose rows are tuples.
pub(crate) struct Tuples<T> {
    query: Query,
    row: PhantomData<fn() -> T>,
}

impl<T: FromRow> Tuples<T> {
    pub(super) fn of(query: Query) -> Tuples<T> {
        Tuples { query, row: PhantomData }
    }

    /// Binds the next value.
    pub(crate) fn bind(self, value: impl ToValue) -> Tuples<T> {
        Tuples { query: self.query.bind(value), ..self }
    }

    pub(crate) async fn fetch_all(self, source: impl Into<Source<'_>>) -> Result<Vec<T>, sqlx::Error> {
        self.query.fetch_all(source).await?.iter().map(T::of_row).collect()
    }
}
