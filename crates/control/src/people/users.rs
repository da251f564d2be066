//! Adding, changing and removing users.

use model::Role;
use secrecy::{ExposeSecret, SecretString};
use store::{Change, PeopleChange, StoreError, UserRow};
use uuid::Uuid;

use super::{MAX_USERS, check_name};
use crate::error::OrNotFound;
use crate::{Command, Commands, ControlError};

/// Shorter passwords can be guessed, much longer ones only cost time.
const PASSWORD_LENGTHS: std::ops::RangeInclusive<usize> = 12..=200;

/// A user to be added.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The name to log in with.
    pub name: String,
    /// What the user may do.
    pub role: Role,
    /// The password to log in with; `None` for one who logs in elsewhere.
    pub password: Option<SecretString>,
}

/// A change of a user: an absent field keeps its value.
#[derive(Clone, Debug, Default)]
pub struct UserChange {
    /// Another name.
    pub name: Option<String>,
    /// Another role, which ends the user's sessions.
    pub role: Option<Role>,
    /// Another password, which ends the user's sessions.
    pub password: Option<SecretString>,
}

impl Commands {
    /// Adds a user, who may log in at once.
    pub async fn create_user(&self, new: NewUser) -> Result<UserRow, ControlError> {
        let name = check_name(&new.name)?;
        let password_hash = self.hash(new.password.as_ref(), &name).await?;
        let role = new.role;
        self.exclusive(move |command| async move {
            if command.people.users.read().len() >= MAX_USERS {
                return Err(ControlError::TooMany(format!("There are {MAX_USERS} users already; delete one first.")));
            }
            let user = UserRow {
                id: Uuid::now_v7().to_string(),
                name,
                role,
                password_hash,
                session_version: 1,
                created_at: command.clock.now(),
                last_login: None,
            };
            let has_new_password = user.password_hash.is_some();
            command.put_user(user, true, has_new_password).await
        })
        .await
    }

    /// Changes a user. Another role or password ends the user's sessions.
    pub async fn change_user(&self, id: String, change: UserChange) -> Result<UserRow, ControlError> {
        let name = change.name.as_deref().map(check_name).transpose()?;
        let known = self.state().people.users.read().get(&id).map(|user| user.name.clone()).unwrap_or_default();
        let password_hash = self.hash(change.password.as_ref(), name.as_deref().unwrap_or(&known)).await?;
        self.exclusive(move |command| async move {
            let mut user = command.known_user(&id)?;
            let role = change.role.unwrap_or(user.role);
            if role != Role::Admin {
                command.check_not_last_admin(&user)?;
            }
            let has_new_password = password_hash.is_some();
            user.session_version += u64::from(role != user.role || has_new_password);
            user.name = name.unwrap_or(user.name);
            user.password_hash = password_hash.or(user.password_hash);
            user.role = role;
            command.put_user(user, false, has_new_password).await
        })
        .await
    }

    /// Removes a user, whose sessions end.
    pub async fn delete_user(&self, id: String) -> Result<(), ControlError> {
        self.exclusive(move |command| async move {
            let user = command.known_user(&id)?;
            command.check_not_last_admin(&user)?;
            let removed = command.change(Change::People(PeopleChange::RemoveUser { id: id.clone() })).await;
            removed.or_not_found(|| unknown(&id))?;
            command.people.users.write().remove(&id);
            Ok(())
        })
        .await
    }

    /// Hashes a password that is good enough, before the command waits for its turn: that takes long.
    async fn hash(&self, password: Option<&SecretString>, name: &str) -> Result<Option<String>, ControlError> {
        let Some(password) = password else { return Ok(None) };
        check_password(password.expose_secret(), name)?;
        let hashed = self.state().people.hashing.hash(password.expose_secret()).await;
        hashed.map(Some).map_err(ControlError::Failed)
    }
}

impl Command {
    fn known_user(&self, id: &str) -> Result<UserRow, ControlError> {
        self.people.users.read().get(id).cloned().ok_or_else(|| ControlError::NotFound(unknown(id)))
    }

    /// Refuses to leave nobody who could let others in again. The token of the first start always
    /// can, so this only concerns a server that has none.
    fn check_not_last_admin(&self, user: &UserRow) -> Result<(), ControlError> {
        let is_last = user.role == Role::Admin && self.users_with(Role::Admin) <= 1;
        if is_last && self.token.with(str::is_empty) {
            let text = format!("{} is the last admin. Make somebody else an admin first.", user.name);
            return Err(ControlError::Conflict(text));
        }
        Ok(())
    }

    async fn put_user(&self, user: UserRow, is_new: bool, has_new_password: bool) -> Result<UserRow, ControlError> {
        let change = PeopleChange::PutUser { user: user.clone(), is_new, has_new_password };
        match self.change(Change::People(change)).await {
            Err(StoreError::Conflict(why)) => Err(ControlError::field("name", format!("must be another: {why}"))),
            stored => {
                stored?;
                self.people.users.write().insert(user.id.clone(), user.clone());
                Ok(user)
            }
        }
    }
}

fn check_password(password: &str, name: &str) -> Result<(), ControlError> {
    let wrong = |message: &str| Err(ControlError::field("password", message));
    if !PASSWORD_LENGTHS.contains(&password.chars().count()) {
        return wrong("must have 12 to 200 characters");
    }
    let lower = password.to_lowercase();
    if lower == name.to_lowercase() || lower.chars().all(|c| lower.starts_with(c)) {
        return wrong("must not be the name or a single character repeated");
    }
    Ok(())
}

fn unknown(id: &str) -> String {
    format!("There is no user {id}.")
}
