//! Users and API tokens.

mod apply;
mod read;

use model::{Role, Timestamp};

pub(crate) use apply::apply;

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRow {
    /// Its id.
    pub id: String,
    /// The name that the user logs in with, as it was written.
    pub name: String,
    /// What the user may do.
    pub role: Role,
    /// The groups of agents that an operator is limited to; `None` for all agents.
    pub groups: Option<Vec<String>>,
    /// The password's hash in PHC form; `None` if the user cannot log in with one.
    pub password_hash: Option<String>,
    /// Increases to end all earlier sessions.
    pub session_version: u64,
    /// When the user was added.
    pub created_at: Timestamp,
    /// When the user last logged in.
    pub last_login: Option<Timestamp>,
}

/// An API token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiTokenRow {
    /// Its id.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// The role it grants.
    pub role: Role,
    /// The groups of agents that an operator is limited to; `None` for all agents.
    pub groups: Option<Vec<String>>,
    /// The hash of the token in hexadecimal.
    pub hash: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub created_by: String,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used: Option<Timestamp>,
}

/// A change of users or tokens.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum PeopleChange {
    /// Adds a user, or replaces the one with its id. `Conflict` if another has the name.
    PutUser { user: UserRow, is_new: bool, has_new_password: bool },
    /// Removes a user.
    RemoveUser { id: String },
    /// Adds a token.
    AddToken { token: ApiTokenRow },
    /// Removes a token.
    RemoveToken { id: String },
    /// A token was used.
    TokenUsed { id: String, at: Timestamp },
    /// A user logged in.
    LoggedIn { id: String, at: Timestamp },
}
