//! Users: people who log in with a name and a password.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use control::{NewUser, UserChange};
use model::{Grant, Role, Timestamp};
use serde::{Deserialize, Serialize};
use store::UserRow;
use utoipa::ToSchema;

use crate::api::{List, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, IdPath, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// A user.
#[derive(Serialize, ToSchema)]
#[schema(as = User)]
pub(crate) struct UserView {
    #[schema(format = "uuid")]
    pub(crate) id: String,
    /// The name to log in with.
    pub(crate) name: String,
    #[schema(schema_with = schemas::role)]
    pub(crate) role: Role,
    /// The groups of agents that an operator is limited to; absent if there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) groups: Option<Vec<String>>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) last_login_at: Option<Timestamp>,
}

impl From<UserRow> for UserView {
    fn from(row: UserRow) -> UserView {
        UserView {
            id: row.id,
            name: row.name,
            role: row.role,
            groups: row.groups,
            created_at: row.created_at,
            last_login_at: row.last_login,
        }
    }
}

/// A user to be added.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewUser)]
pub(crate) struct NewBody {
    /// The name to log in with, in any case.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"
    )]
    name: String,
    #[schema(schema_with = schemas::role)]
    role: Role,
    /// The groups of agents that an operator is limited to.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_items = 1, max_items = 50)]
    groups: Option<Vec<String>>,
    /// 12 to 200 characters.
    #[schema(min_length = 12, max_length = 200)]
    password: String,
}

/// A change of a user: an absent field keeps its value. Another role or password ends the user's
/// sessions.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = UserChange)]
pub(crate) struct ChangeBody {
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 100)]
    name: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = schemas::role)]
    role: Option<Role>,
    /// The groups of agents that an operator is limited to; `null` for all agents.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Vec<String>>)]
    groups: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 12, max_length = 200)]
    password: Option<String>,
}

/// The users, by name.
#[utoipa::path(get, path = "/api/users", tag = "people", operation_id = "list_users",
    responses((status = 200, body = List<UserView>), Refusals))]
pub(crate) async fn list(State(app): State<App>) -> Json<List<UserView>> {
    Json(List::whole(app.control().users().into_iter().map(UserView::from).collect()))
}

/// Adds a user, who may log in at once.
#[utoipa::path(post, path = "/api/users", tag = "people", operation_id = "create_user", request_body = NewBody,
    responses((status = 201, body = UserView), Refusals, BodyRefusals))]
pub(crate) async fn create(
    ByCaller(commands): ByCaller,
    Body(body): Body<NewBody>,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let new = NewUser {
        name: body.name,
        grant: Grant { role: body.role, groups: body.groups },
        password: Some(body.password.into()),
    };
    Ok((StatusCode::CREATED, Json(commands.create_user(new).await?.into())))
}

/// Changes a user. Another role or password ends the user's sessions.
#[utoipa::path(patch, path = "/api/users/{id}", tag = "people", operation_id = "change_user",
    params(("id" = String, Path, description = "The user's id")), request_body = ChangeBody,
    responses((status = 200, body = UserView), Refusals, BodyRefusals))]
pub(crate) async fn patch(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    IdPath(id): IdPath,
    Body(body): Body<ChangeBody>,
) -> Result<Json<UserView>, Problem> {
    let change =
        UserChange { name: body.name, role: body.role, groups: body.groups, password: body.password.map(Into::into) };
    let before = app.control().user(&id).map(|user| user.session_version);
    let user = commands.change_user(id, change).await?;
    if before != Some(user.session_version) {
        app.sessions.close_of_user(&user.id).await;
    }
    Ok(Json(user.into()))
}

/// Removes a user, whose sessions end.
#[utoipa::path(delete, path = "/api/users/{id}", tag = "people", operation_id = "delete_user",
    params(("id" = String, Path, description = "The user's id")),
    responses((status = 204, description = "The user is gone"), Refusals))]
pub(crate) async fn delete(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    IdPath(id): IdPath,
) -> Result<StatusCode, Problem> {
    commands.delete_user(id.clone()).await?;
    app.sessions.close_of_user(&id).await;
    Ok(StatusCode::NO_CONTENT)
}
