//! Replaces the token of the first start.

use secrecy::SecretString;
use store::{AuditNote, Change};

use crate::{Commands, ControlError};

const CONFIGURED: &str = "The token is set by the configuration (AGENTGAZER_TOKEN, --token or token in the file): \
                          change it there and start again.";

impl Commands {
    /// Replaces the token. The old one is refused from now on.
    pub async fn replace_token(&self) -> Result<SecretString, ControlError> {
        self.exclusive(move |command| async move {
            if !command.token.is_replaceable() {
                return Err(ControlError::Conflict(CONFIGURED.to_owned()));
            }
            let fresh = command.token.replace().map_err(|error| {
                tracing::error!(%error, "the token could not be replaced");
                ControlError::NotStored("The new token could not be stored, so the one before stays.".to_owned())
            })?;
            // Written right after: the token file is not part of the database.
            let note = AuditNote { action: "first_token.replace", target: None, details: None };
            if let Err(error) = command.change(Change::Note(note)).await {
                tracing::warn!(%error, "the audit log could not be written: the token was replaced");
            }
            Ok(fresh)
        })
        .await
    }
}
