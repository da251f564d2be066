//! Checks the audit log: that no row was changed, removed or inserted, and that none is missing at
//! its end.

use super::head::{self, End};
use super::{AuditRow, chain};
use crate::database;
use crate::files::Sealed;
use crate::{Store, StoreError};

/// Rows that are read at a time.
const ROWS: u32 = 1000;

/// The result of a check of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// The number of rows that were checked, from the first one on.
    pub rows: u64,
    /// The hash of the newest row, to be stored elsewhere.
    pub head: String,
    /// What is wrong, with the number of the row; `None` if the log is intact.
    pub problem: Option<String>,
}

impl Store {
    /// Checks the whole log. `kept_head` is the hash of the newest row of an earlier check: a log
    /// that was replaced by an older copy, or emptied, does not have it.
    pub async fn verify_audit(&self, kept_head: Option<&str>) -> Result<AuditReport, StoreError> {
        // The head is read first: rows that are added meanwhile are not an error.
        let sealed = self.sealed_head().await?;
        let head = sealed.as_ref().map(|sealed| head::open(&self.keys, sealed)).transpose();
        let head_number = head.as_ref().ok().and_then(|head| head.as_ref()?.as_ref().map(|end| end.number));
        let mut checked = CheckedRows { head_number, ..CheckedRows::default() };
        let mut has_kept_head = kept_head.is_none();
        if self.has_rows_before_the_first().await? {
            return Ok(checked.report(Some("a row was inserted before the first one".to_owned())));
        }
        loop {
            let Some(rows) = self.readable_rows(checked.count).await? else {
                let problem = format!("row {} was changed: it cannot be read", checked.count + 1);
                return Ok(checked.report(Some(problem)));
            };
            if rows.is_empty() {
                break;
            }
            for row in rows {
                if let Err(problem) = checked.add(row) {
                    return Ok(checked.report(Some(problem)));
                }
                has_kept_head = has_kept_head || kept_head == Some(&checked.newest_hash);
            }
        }
        let problem = match head {
            _ if !has_kept_head => Some("no row has the given head: the log was replaced or cut off".to_owned()),
            Err(error) => Some(format!("the head of the log cannot be read: {error}")),
            Ok(head) => checked.compare(head.flatten()),
        };
        Ok(checked.report(problem))
    }

    /// The rows after this number; `None` if the next row has a value that the program never
    /// writes. If a later row has one, the rows before it are read one by one.
    async fn readable_rows(&self, number: u64) -> Result<Option<Vec<AuditRow>>, StoreError> {
        let is_invalid =
            |error: &sqlx::Error| matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_));
        for limit in [ROWS, 1] {
            match self.audit_rows(number, limit).await {
                Err(error) if is_invalid(&error) => {}
                rows => return Ok(Some(rows?)),
            }
        }
        Ok(None)
    }

    /// Whether rows precede number 1: reading by number would never reach them.
    async fn has_rows_before_the_first(&self) -> Result<bool, StoreError> {
        let query = database::query_scalar("select count(*) from audit where number < 1");
        let count: i64 = query.fetch_one(&self.readers).await?;
        Ok(count > 0)
    }

    async fn sealed_head(&self) -> Result<Option<Sealed>, StoreError> {
        let query = database::query_as("select ciphertext, key_id from audit_head where id = 1");
        let mut heads: Vec<(String, String)> = query.fetch_all(&self.readers).await?;
        Ok(heads.pop().map(|(ciphertext, key_id)| Sealed { ciphertext, key_id }))
    }
}

/// The rows that follow each other from the first one on, each with the right hash.
#[derive(Default)]
struct CheckedRows {
    count: u64,
    newest_hash: String,
    /// The number of the row that the sealed head is about.
    head_number: Option<u64>,
    /// The hash of that row.
    hash_at_head: Option<String>,
}

impl CheckedRows {
    /// Checks the next row. The error says what is wrong with it.
    fn add(&mut self, row: AuditRow) -> Result<(), String> {
        let expected = self.count + 1;
        if row.number != expected {
            return Err(format!("row {expected} is missing: {} follows {}", row.number, self.count));
        }
        if chain::hash(&self.newest_hash, &row) != row.hash {
            return Err(format!(
                "row {expected} was changed, or one before it was replaced: its hash does not match its content"
            ));
        }
        if self.head_number == Some(expected) {
            self.hash_at_head = Some(row.hash.clone());
        }
        (self.count, self.newest_hash) = (expected, row.hash);
        Ok(())
    }

    /// Compares the rows with the sealed head, and returns what is wrong.
    fn compare(&self, head: Option<End>) -> Option<String> {
        let rows = self.count;
        match head {
            None if rows == 0 => None,
            None => Some(format!("the head of the log is missing, but it has {rows} rows")),
            Some(End { number, .. }) if number > rows => {
                Some(format!("rows {} to {number} are missing: the log was cut off at its end", rows + 1))
            }
            Some(End { number, hash }) if self.hash_at_head.as_ref() != Some(&hash) => {
                Some(format!("the rows up to {number} are not those that were written: the whole log was replaced"))
            }
            Some(_) => None,
        }
    }

    fn report(self, problem: Option<String>) -> AuditReport {
        AuditReport { rows: self.count, head: self.newest_hash, problem }
    }
}
