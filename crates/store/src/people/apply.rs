//! Makes the changes of users and API tokens, each inside the writer's transaction.

use model::Timestamp;

use super::{ApiTokenRow, PeopleChange, UserRow};
use crate::StoreError;
use crate::columns::signed;
use crate::database::{self, Connection};
use crate::error::Failure;

/// Makes `change`.
pub(crate) async fn apply(transaction: &mut Connection<'_>, change: &PeopleChange) -> Result<(), Failure> {
    match change {
        PeopleChange::PutUser { user, .. } => put_user(transaction, user).await,
        PeopleChange::RemoveUser { id } => changed_or_not_found(
            database::query("delete from users where id = $1").bind(id).execute(transaction).await?.rows_affected(),
        ),
        PeopleChange::AddToken { token } => Ok(add_token(transaction, token).await?),
        PeopleChange::RemoveToken { id } => changed_or_not_found(
            database::query("delete from api_tokens where id = $1")
                .bind(id)
                .execute(transaction)
                .await?
                .rows_affected(),
        ),
        PeopleChange::TokenUsed { id, at } => {
            Ok(touch(transaction, "update api_tokens set last_used = $1 where id = $2", id, *at).await?)
        }
        PeopleChange::LoggedIn { id, at } => {
            Ok(touch(transaction, "update users set last_login = $1 where id = $2", id, *at).await?)
        }
    }
}

async fn put_user(transaction: &mut Connection<'_>, user: &UserRow) -> Result<(), Failure> {
    let login = user.name.to_lowercase();
    let taken: Option<String> = database::query_scalar("select id from users where login = $1 and id <> $2")
        .bind(&login)
        .bind(&user.id)
        .fetch_optional(&mut *transaction)
        .await?;
    if taken.is_some() {
        return Err(StoreError::Conflict("another user has this name".to_owned()).into());
    }
    database::query(
        "insert into users (id, name, login, role, password_hash, session_version, created_at, last_login, agent_groups)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (id) do update set name = excluded.name, login = excluded.login, role = excluded.role,
            agent_groups = excluded.agent_groups, password_hash = excluded.password_hash, session_version = excluded.session_version",
    )
    .bind(&user.id)
    .bind(&user.name)
    .bind(login)
    .bind(user.role.as_str())
    .bind(&user.password_hash)
    .bind(signed(user.session_version))
    .bind(user.created_at.as_millis())
    .bind(user.last_login.map(Timestamp::as_millis))
    .bind(groups_text(&user.groups))
    .execute(transaction)
    .await?;
    Ok(())
}

async fn add_token(transaction: &mut Connection<'_>, token: &ApiTokenRow) -> Result<(), sqlx::Error> {
    database::query(
        "insert into api_tokens (id, name, role, hash, created_at, created_by, expires_at, last_used, agent_groups)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(&token.id)
    .bind(&token.name)
    .bind(token.role.as_str())
    .bind(&token.hash)
    .bind(token.created_at.as_millis())
    .bind(&token.created_by)
    .bind(token.expires_at.map(Timestamp::as_millis))
    .bind(token.last_used.map(Timestamp::as_millis))
    .bind(groups_text(&token.groups))
    .execute(transaction)
    .await?;
    Ok(())
}

fn groups_text(groups: &Option<Vec<String>>) -> Option<String> {
    groups.as_ref().map(|groups| serde_json::json!(groups).to_string())
}

async fn touch(
    transaction: &mut Connection<'_>,
    statement: &'static str,
    id: &str,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    database::query(statement).bind(at.as_millis()).bind(id).execute(transaction).await.map(drop)
}

fn changed_or_not_found(rows: u64) -> Result<(), Failure> {
    if rows == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}
