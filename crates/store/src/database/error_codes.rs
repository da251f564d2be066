//! The meaning of errors of either database.

use sqlx::postgres::PgDatabaseError;

use crate::{StoreError, postgres, sqlite};

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        report_damage(&error);
        StoreError::Unavailable(in_plain_words(&error))
    }
}

/// Describes a database error for the person who runs the server.
pub(crate) fn in_plain_words(error: &sqlx::Error) -> String {
    if is_of_postgres(error) { postgres::in_plain_words(error) } else { sqlite::in_plain_words(error) }
}

/// Whether the same write may succeed later: the database or the way to it is at fault, not the
/// statement or its values.
pub(crate) fn is_temporary(error: &sqlx::Error) -> bool {
    if is_of_postgres(error) { postgres::is_temporary(error) } else { sqlite::is_temporary(error) }
}

/// Whether the write only conflicted with another transaction and can be retried at once.
pub(crate) fn is_contention(error: &sqlx::Error) -> bool {
    is_of_postgres(error) && postgres::is_contention(error)
}

/// Whether the disk is full.
pub(crate) fn is_full(error: &sqlx::Error) -> bool {
    if is_of_postgres(error) { postgres::is_full(error) } else { sqlite::is_full(error) }
}

/// Counts an error that says a file is damaged, so that the writer checks it.
fn report_damage(error: &sqlx::Error) {
    if !is_of_postgres(error) {
        sqlite::report_damage(error);
    }
}

/// Codes of PostgreSQL are text of five characters, codes of SQLite are numbers.
fn is_of_postgres(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.try_downcast_ref::<PgDatabaseError>().is_some())
}
