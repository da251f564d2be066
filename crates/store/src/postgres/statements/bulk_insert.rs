//! Inserts many rows with one statement: each column travels as an array.

use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe, PgConnection, SqlSafeStr, SqlStr};

use super::dialect::clean;
use crate::postgres::in_time;
use crate::sql::{Arguments, Merge, OnConflict, Value};

/// The most rows of one statement.
const ROWS: usize = 4096;

/// An insert of any number of rows.
pub(crate) struct BulkInsert {
    statement: SqlStr,
    columns: usize,
}

impl BulkInsert {
    pub(crate) fn new((table, columns): (&str, &str), count: usize, on_conflict: &OnConflict) -> BulkInsert {
        let arrays: Vec<String> = (1..=count).map(|number| format!("${number}")).collect();
        let statement = format!(
            "insert into {table} ({columns}) select * from unnest({}) as rows {}",
            arrays.join(", "),
            clause(table, on_conflict)
        );
        BulkInsert { statement: AssertSqlSafe(statement).into_sql_str(), columns: count }
    }

    /// Inserts `rows`; `push` adds the values of one.
    pub(crate) async fn execute<T>(
        &self,
        transaction: &mut PgConnection,
        rows: &[T],
        push: impl Fn(&mut Arguments, &T) -> Result<(), BoxDynError>,
    ) -> Result<(), sqlx::Error> {
        for chunk in rows.chunks(ROWS) {
            let mut values = Arguments::Postgres(Vec::with_capacity(chunk.len() * self.columns));
            chunk.iter().try_for_each(|row| push(&mut values, row)).map_err(sqlx::Error::Encode)?;
            let arguments = self.arrays(values).map_err(sqlx::Error::Encode)?;
            let statement = SqlStr::clone(&self.statement);
            in_time(sqlx::query_with(statement, arguments).execute(&mut *transaction)).await?;
        }
        Ok(())
    }

    /// The values of rows as one array for each column.
    fn arrays(&self, values: Arguments) -> Result<PgArguments, BoxDynError> {
        let Arguments::Postgres(values) = values else { return Err("values of another database".into()) };
        let mut columns: Vec<Column> = values.iter().take(self.columns).map(Column::like).collect();
        let width = columns.len().max(1);
        for (place, value) in values.into_iter().enumerate() {
            columns[place % width].push(value)?;
        }
        let mut arguments = PgArguments::default();
        for column in columns {
            match column {
                Column::Integers(values) => arguments.add(values)?,
                Column::Reals(values) => arguments.add(values)?,
                Column::Texts(values) => arguments.add(values)?,
                Column::Bytes(values) => arguments.add(values)?,
            }
        }
        Ok(arguments)
    }
}

/// The values of one column.
enum Column {
    Integers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

impl Column {
    /// An empty column for values of this type.
    fn like(value: &Value) -> Column {
        match value {
            Value::Integer(_) => Column::Integers(Vec::new()),
            Value::Real(_) => Column::Reals(Vec::new()),
            Value::Text(_) | Value::OwnedText(_) => Column::Texts(Vec::new()),
            Value::Bytes(_) => Column::Bytes(Vec::new()),
        }
    }

    fn push(&mut self, value: Value) -> Result<(), BoxDynError> {
        match (self, value) {
            (Column::Integers(values), Value::Integer(value)) => values.push(value),
            (Column::Reals(values), Value::Real(value)) => values.push(value),
            (Column::Texts(values), Value::Text(value)) => values.push(value.map(|text| clean(&text).into_owned())),
            (Column::Texts(values), Value::OwnedText(value)) => {
                values.push(value.map(|text| clean(&text).into_owned()));
            }
            (Column::Bytes(values), Value::Bytes(value)) => values.push(value),
            _ => return Err("a column has values of two types".into()),
        }
        Ok(())
    }
}

fn clause(table: &str, on_conflict: &OnConflict) -> String {
    match on_conflict {
        OnConflict::Ignore => "on conflict do nothing".to_owned(),
        OnConflict::Clause(clause) => (*clause).to_owned(),
        OnConflict::Merge { key, columns } => {
            let merge = |(column, merge): &(&str, Merge)| match merge {
                // Two bigints may add up to more than one.
                Merge::Add => {
                    format!("{column} = least({table}.{column}::numeric + excluded.{column}, {})::bigint", i64::MAX)
                }
                Merge::Greatest => format!("{column} = greatest({table}.{column}, excluded.{column})"),
                Merge::Replace => format!("{column} = excluded.{column}"),
            };
            format!("on conflict ({key}) do update set {}", columns.iter().map(merge).collect::<Vec<_>>().join(", "))
        }
    }
}
