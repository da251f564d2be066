//! Adding, changing and removing users.

use model::{ActorKind, Grant, Role};
use secrecy::{ExposeSecret, SecretString};
use store::{Change, PeopleChange, StoreError, UserRow};
use uuid::Uuid;

use super::{MAX_USERS, check_name};
use crate::error::OrNotFound;
use crate::{Command, Commands, ControlError};

/// Shorter passwords can be guessed; much longer ones only take time to hash.
const PASSWORD_LENGTHS: std::ops::RangeInclusive<usize> = 12..=200;

/// A user to be added.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The name to log in with.
    pub name: String,
    /// The role and its groups.
    pub grant: Grant,
    /// The password; `None` for a user who logs in at an identity provider.
    pub password: Option<SecretString>,
}

/// A change of a user: an absent field keeps its value.
#[derive(Clone, Debug, Default)]
pub struct UserChange {
    /// A new name.
    pub name: Option<String>,
    /// A new role, which ends the user's sessions.
    pub role: Option<Role>,
    /// New groups that an operator is limited to; `Some(None)` for all agents.
    pub groups: Option<Option<Vec<String>>>,
    /// A new password, which ends the user's sessions.
    pub password: Option<SecretString>,
}

impl Commands {
    /// Adds a user, who may log in at once.
    pub async fn create_user(&self, new: NewUser) -> Result<UserRow, ControlError> {
        let name = check_name(&new.name)?;
        let password_hash = self.hash(new.password.as_ref(), &name).await?;
        let Grant { role, groups } = self.state().check_grant(new.grant)?;
        self.exclusive(move |command| async move {
            if command.accounts.users.read().len() >= MAX_USERS {
                return Err(ControlError::TooMany(format!("There are {MAX_USERS} users already; delete one first.")));
            }
            let user = UserRow {
                id: Uuid::now_v7().to_string(),
                name,
                role,
                groups,
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
        let known = self.state().accounts.users.read().get(&id).map(|user| user.name.clone()).unwrap_or_default();
        let password_hash = self.hash(change.password.as_ref(), name.as_deref().unwrap_or(&known)).await?;
        self.exclusive(move |command| async move {
            let mut user = command.known_user(&id)?;
            let role = change.role.unwrap_or(user.role);
            if role != Role::Admin {
                command.check_not_last_admin(&user)?;
            }
            // Only operators are limited to groups.
            let groups = change.groups.unwrap_or(user.groups.clone().filter(|_| role == Role::Operator));
            let Grant { role, groups } = command.check_grant(Grant { role, groups })?;
            let has_new_password = password_hash.is_some();
            user.session_version += u64::from(role != user.role || groups != user.groups || has_new_password);
            user.name = name.unwrap_or(user.name);
            user.password_hash = password_hash.or(user.password_hash);
            (user.role, user.groups) = (role, groups);
            command.put_user(user, false, has_new_password).await
        })
        .await
    }

    /// Changes the actor's own password, which requires the current one. All their sessions end.
    pub async fn change_own_password(
        &self,
        current: &SecretString,
        new: SecretString,
    ) -> Result<UserRow, ControlError> {
        let actor = &self.cause().actor;
        let user = actor.id.as_deref().filter(|_| actor.kind == ActorKind::User);
        let user = user.and_then(|id| self.state().accounts.users.read().get(id).cloned());
        let Some(user) = user else {
            return Err(ControlError::Conflict("Only a user who logs in with a password has one.".to_owned()));
        };
        let hash = user.password_hash.clone();
        if !self.state().accounts.hashing.verify(current.expose_secret(), hash).await {
            return Err(ControlError::field("current", "must be the password that holds now"));
        }
        self.change_user(user.id, UserChange { password: Some(new), ..UserChange::default() }).await
    }

    /// Removes a user, whose sessions end.
    pub async fn delete_user(&self, id: String) -> Result<(), ControlError> {
        self.exclusive(move |command| async move {
            let user = command.known_user(&id)?;
            command.check_not_last_admin(&user)?;
            let removed = command.change(Change::People(PeopleChange::RemoveUser { id: id.clone() })).await;
            removed.or_not_found(|| unknown(&id))?;
            command.accounts.users.write().remove(&id);
            Ok(())
        })
        .await
    }

    /// Checks and hashes a password before the command waits for its turn, because hashing is slow.
    async fn hash(&self, password: Option<&SecretString>, name: &str) -> Result<Option<String>, ControlError> {
        let Some(password) = password else { return Ok(None) };
        check_password(password.expose_secret(), name)?;
        let hashed = self.state().accounts.hashing.hash(password.expose_secret()).await;
        hashed.map(Some).map_err(ControlError::Failed)
    }
}

impl Command {
    fn known_user(&self, id: &str) -> Result<UserRow, ControlError> {
        self.accounts.users.read().get(id).cloned().ok_or_else(|| ControlError::NotFound(unknown(id)))
    }

    /// Refuses to remove the last admin. The token of the first start is always an admin, so this
    /// only concerns a server without one.
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
            Err(StoreError::Conflict(why)) => Err(ControlError::field("name", format!("is taken: {why}"))),
            stored => {
                stored?;
                self.accounts.users.write().insert(user.id.clone(), user.clone());
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
