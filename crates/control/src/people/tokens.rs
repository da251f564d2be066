//! Creates and revokes API tokens.

use model::{Grant, Timestamp};
use secrecy::SecretString;
use store::{ApiTokenRow, Change, PeopleChange};
use uuid::Uuid;

use super::{MAX_TOKENS, check_name, secret};
use crate::error::OrNotFound;
use crate::{Command, Commands, ControlError};

/// An API token to create.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its display name.
    pub name: String,
    /// The role it grants.
    pub grant: Grant,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

/// A new token.
#[derive(Clone, Debug)]
pub struct CreatedToken {
    /// Its text, which is not kept.
    pub text: SecretString,
    /// The stored row.
    pub row: ApiTokenRow,
}

impl Commands {
    /// Creates an API token. It is valid at once.
    pub async fn create_token(&self, new: NewToken) -> Result<CreatedToken, ControlError> {
        let name = check_name(&new.name)?;
        self.exclusive(move |command| async move { command.create_token(NewToken { name, ..new }).await }).await
    }

    /// Revokes an API token. It is refused from the next request on.
    pub async fn revoke_token(&self, id: String) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.revoke_token(id).await }).await
    }
}

impl Command {
    async fn create_token(&self, new: NewToken) -> Result<CreatedToken, ControlError> {
        let now = self.clock.now();
        if new.expires_at.is_some_and(|end| end <= now) {
            return Err(ControlError::field("expires_at", "must be in the future"));
        }
        let mut tokens = self.accounts.tokens.read().len();
        if tokens >= MAX_TOKENS {
            // Expired tokens do not count towards the limit.
            tokens = self
                .accounts
                .tokens
                .read()
                .values()
                .filter(|token| token.expires_at.is_none_or(|end| end > now))
                .count();
        }
        if tokens >= MAX_TOKENS {
            return Err(ControlError::TooMany(format!("There are {MAX_TOKENS} tokens already; revoke one first.")));
        }
        let Grant { role, groups } = self.check_grant(new.grant)?;
        let text = secret::generate().map_err(|error| ControlError::Failed(error.to_string()))?;
        let row = ApiTokenRow {
            id: Uuid::now_v7().to_string(),
            name: new.name,
            role,
            groups,
            hash: secret::hash_of_new(&text),
            created_at: now,
            created_by: self.actor().name.clone(),
            expires_at: new.expires_at,
            last_used: None,
        };
        self.change(Change::People(PeopleChange::AddToken { token: row.clone() })).await?;
        self.accounts.tokens.write().insert(row.hash.clone(), row.clone());
        Ok(CreatedToken { text, row })
    }

    async fn revoke_token(&self, id: String) -> Result<(), ControlError> {
        let removed = self.change(Change::People(PeopleChange::RemoveToken { id: id.clone() })).await;
        // The text is not repeated: the caller may have passed a token instead of its id.
        removed.or_not_found(|| "There is no token with this id.".to_owned())?;
        self.accounts.tokens.write().retain(|_, token| token.id != id);
        Ok(())
    }
}
