//! Errors of commands.

use model::{AgentId, FieldError, InvalidProvider};
use store::StoreError;

/// Why a command was not carried out. The texts are shown to the actor.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A field has an invalid value.
    #[error("{field} {message}")]
    Field {
        /// The field.
        field: String,
        /// The values it takes.
        message: String,
    },
    /// The target does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The actor may not do this to that agent.
    #[error("{0}")]
    Forbidden(String),
    /// The current state does not allow it.
    #[error("{0}")]
    Conflict(String),
    /// There are as many of these already as the limit allows.
    #[error("{0}")]
    TooMany(String),
    /// It could not be stored; the text says what is in effect now.
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

/// Names the missing thing, which the store does not.
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
