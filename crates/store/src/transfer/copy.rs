//! Copies a table, a portion at a time.

use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row, SqliteConnection};

use super::table::{Kind, Table};
use crate::StoreError;
use crate::database::{Arguments, OnConflict, Value};
use crate::postgres::{self, BulkInsert};

/// Rows at a time. Evidence uses fewer, because each row may have megabytes.
const PORTION: i64 = 2_000;
const PORTION_OF_EVIDENCE: i64 = 20;

/// Copies the rows that are still missing. Calls `arrived` after every portion, first with the rows
/// that were there before.
pub(super) async fn copy(
    table: &Table,
    (source, target): (&mut SqliteConnection, &mut PgConnection),
    mut arrived: impl FnMut(u64),
) -> Result<(), StoreError> {
    let columns = table.column_names();
    let insert = BulkInsert::new((&table.name, &columns), table.columns.len(), &OnConflict::Ignore);
    let mut after = last_key(table, target).await?;
    if after.is_some() {
        let count = AssertSqlSafe(format!("select count(*) from {}", table.name));
        let count: i64 = sqlx::query_scalar(count).fetch_one(&mut *target).await?;
        arrived(count.cast_unsigned());
    }
    loop {
        let rows = next_rows(table, source, after.as_deref()).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(key_of(table, last)?);
        let mut transaction = target.begin().await?;
        if table.name == "events" {
            postgres::add_days(&mut transaction, rows.iter().filter_map(time_of)).await?;
        }
        insert.execute(&mut transaction, &rows, |arguments, row| push(table, arguments, row)).await?;
        transaction.commit().await?;
        arrived(rows.len() as u64);
    }
}

/// The greatest key in the target.
async fn last_key(table: &Table, target: &mut PgConnection) -> Result<Option<Vec<Value>>, StoreError> {
    let query =
        format!("select {} from {} order by {} limit 1", table.key_names(""), table.name, table.key_names(" desc"));
    let Some(row) = sqlx::query(AssertSqlSafe(query)).fetch_optional(target).await? else { return Ok(None) };
    let values = table.key.iter().enumerate().map(|(place, column)| match table.columns[*column].1 {
        Kind::Integer => row.try_get(place).map(Value::Integer),
        _ => row.try_get(place).map(Value::OwnedText),
    });
    Ok(Some(values.collect::<Result<_, _>>()?))
}

async fn next_rows(
    table: &Table,
    source: &mut SqliteConnection,
    after: Option<&[Value]>,
) -> Result<Vec<SqliteRow>, StoreError> {
    let mut arguments = SqliteArguments::default();
    let mut condition = String::new();
    if let Some(after) = after {
        condition = format!("where ({}) > ({})", table.key_names(""), vec!["?"; after.len()].join(", "));
        for value in after {
            value.clone().push_onto(&mut arguments).map_err(sqlx::Error::Encode)?;
        }
    }
    let portion = if table.name == "evidence" { PORTION_OF_EVIDENCE } else { PORTION };
    let query = format!(
        "select {} from {} {condition} order by {} limit {portion}",
        table.column_names(),
        table.name,
        table.key_names("")
    );
    Ok(sqlx::query_with(AssertSqlSafe(query), arguments).fetch_all(source).await?)
}

fn key_of(table: &Table, row: &SqliteRow) -> Result<Vec<Value>, StoreError> {
    Ok(table.key.iter().map(|column| value(table, row, *column)).collect::<Result<_, sqlx::Error>>()?)
}

fn push(table: &Table, arguments: &mut Arguments, row: &SqliteRow) -> Result<(), sqlx::error::BoxDynError> {
    (0..table.columns.len()).try_for_each(|column| arguments.add(value(table, row, column)?))
}

/// SQLite columns have dynamic types, so the type of the target decides.
fn value(table: &Table, row: &SqliteRow, column: usize) -> Result<Value, sqlx::Error> {
    Ok(match table.columns[column].1 {
        Kind::Integer => Value::Integer(row.try_get_unchecked(column)?),
        Kind::Real => Value::Real(row.try_get_unchecked(column)?),
        Kind::Text => Value::OwnedText(row.try_get_unchecked(column)?),
        Kind::Bytes => Value::Bytes(row.try_get_unchecked(column)?),
    })
}

/// The time in the id of an event: its first twelve digits.
fn time_of(row: &SqliteRow) -> Option<i64> {
    let id: String = row.try_get("id").ok()?;
    let digits: String = id.chars().filter(|letter| *letter != '-').take(12).collect();
    i64::from_str_radix(&digits, 16).ok()
}
