//! Commands about users, API tokens and the token of the first start, and who holds them. Changes
//! are written to disk first.

mod first_token;
mod secret;
mod tokens;
mod users;

use std::time::Duration;

use model::{Grant, Role, Timestamp};
use store::{ApiTokenRow, PeopleChange, StoreError, UserRow};
use tokio::time::timeout;

use crate::{Control, ControlError, State};

pub use secret::TOKEN_PREFIX;
pub use tokens::{CreatedToken, NewToken};
pub use users::{NewUser, UserChange};

/// More are a mistake: they are all in memory.
const MAX_USERS: usize = 1000;
const MAX_TOKENS: usize = 1000;
const MAX_NAME_LENGTH: usize = 100;
/// A token's last use is written at most this often.
const USE_STEP_MS: i64 = 60_000;
/// A request does not wait longer for the database.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// The holder of an API token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHolder {
    /// The id of the token.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// The role it grants.
    pub role: Role,
    /// The groups of agents that an operator is limited to.
    pub groups: Option<Vec<String>>,
}

impl State {
    /// Reads users and tokens, also after another server has changed them.
    pub(crate) async fn load_people(&self) -> Result<(), StoreError> {
        let (users, tokens) = (self.store.users().await?, self.store.api_tokens().await?);
        *self.accounts.users.write() = users.into_iter().map(|user| (user.id.clone(), user)).collect();
        *self.accounts.tokens.write() = tokens.into_iter().map(|token| (token.hash.clone(), token)).collect();
        Ok(())
    }

    async fn refresh_people(&self) -> Result<(), StoreError> {
        let Some(version) = self.store.people_version().await? else { return Ok(()) };
        if *self.accounts.version.lock() == Some(version) {
            return Ok(());
        }
        // No command may run in between: what it stores is newer than what is read here.
        let _turn = self.turn.lock().await;
        self.load_people().await?;
        *self.accounts.version.lock() = Some(version);
        Ok(())
    }
}

impl Control {
    /// Reads users and tokens. Before that, only the token of the first start is known.
    pub async fn load_people(&self) -> Result<(), StoreError> {
        self.0.load_people().await
    }

    /// Reads users and tokens again if another server has changed them, so that whoever may not
    /// enter any more is refused with the next request. What is in memory stays in force while the
    /// database is unreachable.
    pub async fn refresh_people(&self) {
        match timeout(READ_TIMEOUT, self.0.refresh_people()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "users and tokens could not be read again"),
            Err(_) => tracing::debug!("users and tokens could not be read again in time"),
        }
    }

    /// The holder of `text`, if it is a valid API token.
    pub fn token_holder(&self, text: &str) -> Option<TokenHolder> {
        // A mistyped token needs no look-up. The map is keyed by hash, so the time of a look-up
        // reveals nothing about the token.
        let hash = secret::hash_of(text)?;
        let now = self.0.clock.now();
        let tokens = self.0.accounts.tokens.read();
        let token = tokens.get(&hash).filter(|token| token.expires_at.is_none_or(|end| now < end))?;
        let holder = TokenHolder {
            id: token.id.clone(),
            name: token.name.clone(),
            role: token.role,
            groups: token.groups.clone(),
        };
        let is_stale = token.last_used.is_none_or(|last| now.as_millis() - last.as_millis() >= USE_STEP_MS);
        drop(tokens);
        if is_stale {
            self.note_token_use(&hash, &holder.id, now);
        }
        Some(holder)
    }

    /// The user with this id.
    pub fn user(&self, id: &str) -> Option<UserRow> {
        self.0.accounts.users.read().get(id).cloned()
    }

    /// All users, by name.
    pub fn users(&self) -> Vec<UserRow> {
        let mut users: Vec<UserRow> = self.0.accounts.users.read().values().cloned().collect();
        users.sort_by_key(|user| user.name.to_lowercase());
        users
    }

    /// All API tokens, oldest first.
    pub fn api_tokens(&self) -> Vec<ApiTokenRow> {
        let mut tokens: Vec<ApiTokenRow> = self.0.accounts.tokens.read().values().cloned().collect();
        tokens.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        tokens
    }

    /// The user with this name and password. Takes the same time for an unknown name.
    pub async fn check_password(&self, name: &str, password: &str) -> Option<UserRow> {
        self.refresh_people().await;
        let login = name.trim().to_lowercase();
        let user = self.0.accounts.users.read().values().find(|user| user.name.to_lowercase() == login).cloned();
        let hash = user.as_ref().and_then(|user| user.password_hash.clone());
        let is_right = self.0.accounts.hashing.verify(password, hash).await;
        // Checked again: the password may have changed meanwhile.
        user.filter(|user| {
            is_right && self.user(&user.id).is_some_and(|now| now.session_version == user.session_version)
        })
    }

    /// Records that a user has logged in.
    pub fn note_login(&self, user: &str) {
        let at = self.0.clock.now();
        if let Some(user) = self.0.accounts.users.write().get_mut(user) {
            user.last_login = Some(at);
        }
        self.0.write_later(PeopleChange::LoggedIn { id: user.to_owned(), at });
    }

    fn note_token_use(&self, hash: &str, id: &str, at: Timestamp) {
        if let Some(token) = self.0.accounts.tokens.write().get_mut(hash) {
            token.last_used = Some(at);
        }
        self.0.write_later(PeopleChange::TokenUsed { id: id.to_owned(), at });
    }
}

impl State {
    /// A user or an API token whose role is limited to this group.
    pub(crate) fn holder_limited_to(&self, group: &str) -> Option<String> {
        let names = |groups: &Option<Vec<String>>| groups.iter().flatten().any(|name| name == group);
        let users = self.accounts.users.read();
        let user = users.values().find(|user| names(&user.groups)).map(|user| format!("the user {}", user.name));
        let tokens = self.accounts.tokens.read();
        user.or_else(|| tokens.values().find(|it| names(&it.groups)).map(|token| format!("the token {}", token.name)))
    }

    /// Checks a role and its groups.
    fn check_grant(&self, grant: Grant) -> Result<Grant, ControlError> {
        grant.check()?;
        for name in grant.groups.iter().flatten() {
            if self.store.groups().get(name).is_none() {
                return Err(ControlError::field("groups", format!("must be names of groups, and there is no {name}")));
            }
        }
        Ok(grant)
    }

    fn users_with(&self, role: Role) -> usize {
        self.accounts.users.read().values().filter(|user| user.role == role && user.password_hash.is_some()).count()
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
