//! Errors of the store.

/// Why something could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be used at the moment (locked, full, read-only, damaged).
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// There is no such thing.
    #[error("not found")]
    NotFound,
    /// It is not in the state that the change needs.
    #[error("{0}")]
    Conflict(String),
    /// The data directory or the key file cannot be used.
    #[error("{0}")]
    Setup(String),
}

/// Why a change was not made.
pub(crate) enum Failure {
    /// The change is not possible; the caller gets this error.
    Refused(StoreError),
    /// The database failed; the change may be tried again.
    Database(sqlx::Error),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Failure {
        Failure::Database(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Refused(error)
    }
}
