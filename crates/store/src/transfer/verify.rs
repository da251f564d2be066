//! Compares a table in both databases.

use sqlx::{AssertSqlSafe, PgConnection, Row, SqliteConnection};

use super::table::{Kind, Table};
use crate::StoreError;
use crate::columns::unsigned;

/// Keeps sums of hashes within a column.
const MODULUS: u64 = 1_000_000_007;

/// Compares the number of rows, the sums of all numbers and the lengths of all bytes. Returns the
/// number of rows.
pub(super) async fn compare(
    table: &Table,
    source: &mut SqliteConnection,
    target: &mut PgConnection,
) -> Result<u64, StoreError> {
    let sums: Vec<String> = table.columns.iter().filter_map(|(name, kind)| sum(name, *kind)).collect();
    let select = |sum: &str| format!("cast(coalesce(sum({sum}), 0) as bigint)");
    let list: Vec<String> = std::iter::once("count(*)".to_owned()).chain(sums.iter().map(|it| select(it))).collect();
    let query = format!("select {} from {}", list.join(", "), table.name);
    let before = sqlx::query(AssertSqlSafe(query.clone())).fetch_one(source).await?;
    let after = sqlx::query(AssertSqlSafe(query)).fetch_one(target).await?;
    let what = std::iter::once("rows").chain(sums.iter().map(String::as_str));
    for (place, what) in what.enumerate() {
        let (there, here): (i64, i64) = (before.try_get(place)?, after.try_get(place)?);
        if there != here {
            let name = &table.name;
            let why =
                format!("the table {name} differs after the move ({what}): {there} in the file, {here} on the server");
            return Err(StoreError::Conflict(why));
        }
    }
    Ok(unsigned(before.try_get(0)?))
}

fn sum(column: &str, kind: Kind) -> Option<String> {
    match kind {
        Kind::Integer => Some(format!("{column} % {MODULUS}")),
        Kind::Bytes => Some(format!("octet_length({column})")),
        // Sums of reals depend on the order of addition.
        Kind::Real => None,
        // PostgreSQL text cannot hold NUL, so that character was replaced.
        Kind::Text => None,
    }
}
