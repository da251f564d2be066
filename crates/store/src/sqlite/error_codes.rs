//! SQLite's result codes: what they mean to people, and which of them are temporary.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts reads that found the database damaged, in any part of the process.
static DAMAGE_REPORTS: AtomicU64 = AtomicU64::new(0);

/// Describes a database error for the person who runs the server.
pub(crate) fn in_plain_words(error: &sqlx::Error) -> String {
    let words = match primary_code(error) {
        Some(5 | 6) => "the database is locked by another program",
        Some(8) => "the database file is read-only",
        Some(10) => "reading or writing the disk failed",
        Some(11 | 26) => "the database file is damaged",
        Some(13) => "the disk is full",
        Some(3 | 14 | 23) => "the database file cannot be opened",
        Some(7) => "there is not enough memory",
        _ => return error.to_string(),
    };
    format!("{words} ({error})")
}

/// Whether the same write may succeed later: the disk or a lock is at fault, not the statement or
/// its values.
pub(crate) fn is_temporary(error: &sqlx::Error) -> bool {
    if matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::Encode(_)) {
        return false;
    }
    // 1: a mistake in the SQL or the schema; 18 and 19: too big or against a constraint; 20, 21 and
    // 25: misuse.
    !matches!(primary_code(error), Some(1 | 18 | 19 | 20 | 21 | 25))
}

/// Whether the disk is full.
pub(crate) fn is_full(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(13)
}

/// Whether the content of the database file is at fault: corrupt, not a database, or shorter than
/// its header says.
pub(crate) fn is_damage(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(11 | 26)) || extended_code(error) == Some(522)
}

/// Counts an error that says the database is damaged, so that the writer checks the file.
pub(crate) fn report_damage(error: &sqlx::Error) {
    if is_damage(error) {
        DAMAGE_REPORTS.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of reads that found the database damaged so far.
pub(super) fn damage_reports() -> u64 {
    DAMAGE_REPORTS.load(Ordering::Relaxed)
}

/// SQLite's result code without its extension.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    extended_code(error).map(|code| code & 0xff)
}

fn extended_code(error: &sqlx::Error) -> Option<u32> {
    let code: Cow<'_, str> = error.as_database_error()?.code()?;
    code.parse().ok()
}
