//! Reads users and API tokens.

use model::Role;

use super::{ApiTokenRow, UserRow};
use crate::columns::{self, invalid, unsigned};
use crate::database::{self, Row};
use crate::{Store, StoreError};

impl Store {
    /// All users, by name.
    pub async fn users(&self) -> Result<Vec<UserRow>, StoreError> {
        let query = database::query("select * from users order by login").try_map(user_row);
        Ok(query.fetch_all(&self.readers).await?)
    }

    /// All API tokens, oldest first.
    pub async fn api_tokens(&self) -> Result<Vec<ApiTokenRow>, StoreError> {
        let query = database::query("select * from api_tokens order by created_at, id").try_map(token_row);
        Ok(query.fetch_all(&self.readers).await?)
    }
}

fn user_row(row: Row) -> Result<UserRow, sqlx::Error> {
    Ok(UserRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: Role::parse(row.try_get("role")?).ok_or_else(|| invalid("role"))?,
        groups: groups(&row)?,
        password_hash: row.try_get("password_hash")?,
        session_version: row.try_get("session_version").map(unsigned)?,
        created_at: columns::timestamp(&row, "created_at")?,
        last_login: columns::maybe_timestamp(&row, "last_login")?,
    })
}

fn token_row(row: Row) -> Result<ApiTokenRow, sqlx::Error> {
    Ok(ApiTokenRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: Role::parse(row.try_get("role")?).ok_or_else(|| invalid("role"))?,
        groups: groups(&row)?,
        hash: row.try_get("hash")?,
        created_at: columns::timestamp(&row, "created_at")?,
        created_by: row.try_get("created_by")?,
        expires_at: columns::maybe_timestamp(&row, "expires_at")?,
        last_used: columns::maybe_timestamp(&row, "last_used")?,
    })
}

/// The groups of agents that a role is limited to. An unreadable list is an error: treating it as
/// empty would lift the limit.
fn groups(row: &Row) -> Result<Option<Vec<String>>, sqlx::Error> {
    let text: Option<String> = row.try_get("agent_groups")?;
    text.map(|text| serde_json::from_str(&text).map_err(|_| invalid("agent_groups"))).transpose()
}
