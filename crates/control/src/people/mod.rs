//! Users and API tokens: who may come in, and what they may do. They are few and asked for with
//! every request, so they are in memory; what changes is on disk first.

mod password;
mod secret;
mod tokens;
mod users;

use std::collections::HashMap;

use model::{Role, Timestamp};
use parking_lot::RwLock;
use store::{ApiTokenRow, PeopleChange, StoreError, UserRow};

use crate::{Control, ControlError, State};

pub use secret::TOKEN_PREFIX;
pub use tokens::{MadeToken, NewToken};
pub use users::{NewUser, UserChange};

/// More would be a mistake: they are all in memory.
const MAX_USERS: usize = 1000;
const MAX_TOKENS: usize = 1000;
const MAX_NAME_LENGTH: usize = 100;
/// A token's last use is written at most this often.
const USE_STEP_MS: i64 = 60_000;

/// Users and tokens as they are in force.
#[derive(Debug, Default)]
pub(crate) struct People {
    users: RwLock<HashMap<String, UserRow>>,
    /// By their hash.
    tokens: RwLock<HashMap<String, ApiTokenRow>>,
    hashing: password::Hashing,
}

/// Who an API token stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHolder {
    /// The id of the token.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What whoever holds it may do.
    pub role: Role,
}

impl Control {
    /// Reads users and tokens. Until then only the token of the first start is known.
    pub async fn load_people(&self) -> Result<(), StoreError> {
        let (users, tokens) = (self.0.store.users().await?, self.0.store.api_tokens().await?);
        *self.0.people.users.write() = users.into_iter().map(|user| (user.id.clone(), user)).collect();
        *self.0.people.tokens.write() = tokens.into_iter().map(|token| (token.hash.clone(), token)).collect();
        Ok(())
    }

    /// Whom `text` stands for, if it is an API token that holds now.
    pub fn token_holder(&self, text: &str) -> Option<TokenHolder> {
        // A mistyped token costs no look-up. The map is asked for a hash, so the time that takes says
        // nothing of the token.
        let hash = secret::hash_of(text)?;
        let now = self.0.clock.now();
        let tokens = self.0.people.tokens.read();
        let token = tokens.get(&hash).filter(|token| token.expires_at.is_none_or(|end| now < end))?;
        let holder = TokenHolder { id: token.id.clone(), name: token.name.clone(), role: token.role };
        let is_stale = token.last_used.is_none_or(|last| now.as_millis() - last.as_millis() >= USE_STEP_MS);
        drop(tokens);
        if is_stale {
            self.note_token_use(&hash, &holder.id, now);
        }
        Some(holder)
    }

    /// The user with this id.
    pub fn user(&self, id: &str) -> Option<UserRow> {
        self.0.people.users.read().get(id).cloned()
    }

    /// All users, by name.
    pub fn users(&self) -> Vec<UserRow> {
        let mut users: Vec<UserRow> = self.0.people.users.read().values().cloned().collect();
        users.sort_by_key(|user| user.name.to_lowercase());
        users
    }

    /// All API tokens, oldest first.
    pub fn api_tokens(&self) -> Vec<ApiTokenRow> {
        let mut tokens: Vec<ApiTokenRow> = self.0.people.tokens.read().values().cloned().collect();
        tokens.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        tokens
    }

    /// The user with this name and password. Takes the same time for a name that nobody has.
    pub async fn check_password(&self, name: &str, password: &str) -> Option<UserRow> {
        let login = name.trim().to_lowercase();
        let user = self.0.people.users.read().values().find(|user| user.name.to_lowercase() == login).cloned();
        let hash = user.as_ref().and_then(|user| user.password_hash.clone());
        let is_right = self.0.people.hashing.verify(password, hash).await;
        // Again: the password may have been changed meanwhile.
        user.filter(|user| {
            is_right && self.user(&user.id).is_some_and(|now| now.session_version == user.session_version)
        })
    }

    /// Remembers that a user has logged in.
    pub fn note_login(&self, user: &str) {
        let at = self.0.clock.now();
        if let Some(user) = self.0.people.users.write().get_mut(user) {
            user.last_login = Some(at);
        }
        self.0.write_later(PeopleChange::LoggedIn { id: user.to_owned(), at });
    }

    fn note_token_use(&self, hash: &str, id: &str, at: Timestamp) {
        if let Some(token) = self.0.people.tokens.write().get_mut(hash) {
            token.last_used = Some(at);
        }
        self.0.write_later(PeopleChange::TokenUsed { id: id.to_owned(), at });
    }
}

impl State {
    fn users_with(&self, role: Role) -> usize {
        self.people.users.read().values().filter(|user| user.role == role && user.password_hash.is_some()).count()
    }
}

fn check_name(name: &str) -> Result<String, ControlError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME_LENGTH || name.chars().any(char::is_control) {
        let message = format!("must have 1 to {MAX_NAME_LENGTH} characters, none of them a control character");
        return Err(ControlError::field("name", message));
    }
    Ok(name.to_owned())
}
