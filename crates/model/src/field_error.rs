//! An invalid value of a field that people set.

/// An invalid value of a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {message}")]
pub struct FieldError {
    /// The field.
    pub field: &'static str,
    /// What it must be.
    pub message: String,
}

impl FieldError {
    /// An error of `field`.
    pub fn new(field: &'static str, message: impl Into<String>) -> FieldError {
        FieldError { field, message: message.into() }
    }
}
