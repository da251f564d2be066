//! What can go wrong with the memory.

/// Why something could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be used at the moment (locked, full, read-only, broken).
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
