//! The head of the log: the number and the hash of the newest row, encrypted with the key file. It
//! reveals rows that were cut off at the end, even after others were added.

use secrecy::ExposeSecret;

use super::AuditRow;
use crate::StoreError;
use crate::columns::unsigned;
use crate::database::{self, Connection, Lock};
use crate::error::Failure;
use crate::files::{KeyFile, Sealed};

/// The owner that the head is sealed for.
const HEAD: &str = "audit head";

/// The end of the log: the next row gets the next number and includes this hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    pub(super) number: u64,
    pub(super) hash: String,
}

/// The position of the next row. If the rows do not end where the head says, someone edited the
/// file: the log then continues after the head and skips a number, so that every later check finds
/// the gap.
pub(super) async fn end_of_log(transaction: &mut Connection<'_>, keys: &KeyFile) -> Result<End, Failure> {
    // Other servers on the same database wait here: no number is used twice.
    database::lock(transaction, Lock::Audit).await?;
    let rows = last_row(transaction).await?;
    let query = database::query_as("select ciphertext, key_id from audit_head where id = 1");
    let mut heads: Vec<(String, String)> = query.fetch_all(transaction).await?;
    let sealed = heads.pop().map(|(ciphertext, key_id)| Sealed { ciphertext, key_id });
    let head = sealed.as_ref().and_then(|sealed| open(keys, sealed).ok().flatten());
    if head == rows && head.is_some() == sealed.is_some() {
        return Ok(rows.unwrap_or_default());
    }
    tracing::error!("the audit log does not end where it was left: rows were changed or removed in the database");
    let number = head.iter().chain(&rows).map(|end| end.number).max().unwrap_or_default();
    Ok(End { number: number + 1, hash: head.map(|end| end.hash).unwrap_or_default() })
}

async fn last_row(transaction: &mut Connection<'_>) -> Result<Option<End>, sqlx::Error> {
    let query = database::query_as("select number, hash from audit order by number desc limit 1");
    let mut last: Vec<(i64, String)> = query.fetch_all(transaction).await?;
    Ok(last.pop().map(|(number, hash)| End { number: unsigned(number), hash }))
}

/// Seals the number and the hash of the newest row.
pub(super) async fn seal(transaction: &mut Connection<'_>, row: &AuditRow, keys: &KeyFile) -> Result<(), Failure> {
    let sealed = keys.seal(HEAD, &format!("{} {}", row.number, row.hash).into())?;
    database::query(
        "insert into audit_head (id, ciphertext, key_id) values (1, $1, $2)
         on conflict (id) do update set ciphertext = excluded.ciphertext, key_id = excluded.key_id",
    )
    .bind(sealed.ciphertext)
    .bind(sealed.key_id)
    .execute(transaction)
    .await?;
    Ok(())
}

/// The number and the hash of the newest row, as they were sealed.
pub(super) fn open(keys: &KeyFile, sealed: &Sealed) -> Result<Option<End>, StoreError> {
    let text = keys.open_sealed(HEAD, sealed)?;
    let end = text.expose_secret().split_once(' ');
    Ok(end.and_then(|(number, hash)| Some(End { number: number.parse().ok()?, hash: hash.to_owned() })))
}
