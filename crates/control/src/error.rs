//! Why a command was not carried out.

use model::{AgentId, FieldError, InvalidProvider};
use store::StoreError;

/// Why a command was not carried out. The texts are for the person who gave it.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A field has a value that it cannot take.
    #[error("{field} {message}")]
    Field {
        /// The field.
        field: String,
        /// What it takes.
        message: String,
    },
    /// What the command is about does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The state of things does not allow it.
    #[error("{0}")]
    Conflict(String),
    /// There are as many of these as there can be.
    #[error("{0}")]
    TooMany(String),
    /// It could not be stored; the text says what holds now.
    #[error("{0}")]
    NotStored(String),
    /// The store refused it, and nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The command ended without a result.
    #[error("the command failed: {0}")]
    Failed(String),
}

impl ControlError {
    pub(crate) fn field(field: impl Into<String>, message: impl Into<String>) -> ControlError {
        ControlError::Field { field: field.into(), message: message.into() }
    }

    pub(crate) fn unknown_agent(agent: &AgentId) -> ControlError {
        ControlError::NotFound(format!("There is no agent {agent}."))
    }
}

impl From<FieldError> for ControlError {
    fn from(error: FieldError) -> ControlError {
        ControlError::field(error.field, error.message)
    }
}

impl From<InvalidProvider> for ControlError {
    fn from(error: InvalidProvider) -> ControlError {
        ControlError::field(error.field, error.message)
    }
}

/// Names what is missing where the store only knows that something is.
pub(crate) trait OrNotFound<T> {
    fn or_not_found(self, text: impl FnOnce() -> String) -> Result<T, ControlError>;
}

impl<T> OrNotFound<T> for Result<T, StoreError> {
    fn or_not_found(self, text: impl FnOnce() -> String) -> Result<T, ControlError> {
        self.map_err(|error| match error {
            StoreError::NotFound => ControlError::NotFound(text()),
            error => error.into(),
        })
    }
}
