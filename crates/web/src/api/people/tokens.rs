//! API tokens: for programs, each with a role.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use control::{CreatedToken, NewToken};
use model::{Grant, Role, Timestamp};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use store::ApiTokenRow;
use utoipa::ToSchema;

use crate::api::{List, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, IdPath, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// An API token without its text, which is not stored.
#[derive(Serialize, ToSchema)]
#[schema(as = ApiToken)]
pub(crate) struct TokenView {
    #[schema(format = "uuid")]
    pub(crate) id: String,
    pub(crate) name: String,
    #[schema(schema_with = schemas::role)]
    pub(crate) role: Role,
    /// The groups of agents that an operator is limited to; absent if there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) groups: Option<Vec<String>>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// Who made it.
    pub(crate) created_by: String,
    /// From when on it is refused.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) last_used_at: Option<Timestamp>,
}

/// A new API token with its text.
#[derive(Serialize, ToSchema)]
#[schema(as = NewApiToken)]
pub(crate) struct MadeView {
    /// Shown this once: `Authorization: Bearer agz_…`.
    pub(crate) token: String,
    #[serde(flatten)]
    pub(crate) view: TokenView,
}

impl From<ApiTokenRow> for TokenView {
    fn from(row: ApiTokenRow) -> TokenView {
        TokenView {
            id: row.id,
            name: row.name,
            role: row.role,
            groups: row.groups,
            created_at: row.created_at,
            created_by: row.created_by,
            expires_at: row.expires_at,
            last_used_at: row.last_used,
        }
    }
}

/// An API token to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ApiTokenRequest)]
pub(crate) struct TokenBody {
    /// What people call it, at most 100 characters.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"
    )]
    pub(crate) name: String,
    #[schema(schema_with = schemas::role)]
    pub(crate) role: Role,
    /// The groups of agents that an operator is limited to.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_items = 1, max_items = 50)]
    pub(crate) groups: Option<Vec<String>>,
    /// A time in the future; with `null` or without it, the token holds until it is revoked.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
}

/// The API tokens, oldest first.
#[utoipa::path(get, path = "/api/tokens", tag = "people", operation_id = "list_tokens",
    responses((status = 200, body = List<TokenView>), Refusals))]
pub(crate) async fn list(State(app): State<App>) -> Json<List<TokenView>> {
    Json(List::whole(app.control().api_tokens().into_iter().map(TokenView::from).collect()))
}

/// One API token.
#[utoipa::path(get, path = "/api/tokens/{id}", tag = "people", operation_id = "get_token",
    params(("id" = String, Path, description = "The token's id")),
    responses((status = 200, body = TokenView), Refusals))]
pub(crate) async fn get(State(app): State<App>, IdPath(id): IdPath) -> Result<Json<TokenView>, Problem> {
    let token = app.control().api_tokens().into_iter().find(|row| row.id == id);
    Ok(Json(token.ok_or_else(|| Problem::not_found("There is no such token."))?.into()))
}

/// Creates an API token. Its text is shown only in this answer; only a hash is stored.
#[utoipa::path(post, path = "/api/tokens", tag = "people", operation_id = "create_token", request_body = TokenBody,
    responses((status = 201, body = MadeView), Refusals, BodyRefusals))]
pub(crate) async fn create(
    ByCaller(commands): ByCaller,
    Body(body): Body<TokenBody>,
) -> Result<(StatusCode, Json<MadeView>), Problem> {
    let TokenBody { name, role, groups, expires_at } = body;
    let grant = Grant { role, groups };
    let CreatedToken { text, row } = commands.create_token(NewToken { name, grant, expires_at }).await?;
    let made = MadeView { token: text.expose_secret().to_owned(), view: row.into() };
    Ok((StatusCode::CREATED, Json(made)))
}

/// Revokes an API token. It is refused from the next request on, and its open streams end.
#[utoipa::path(delete, path = "/api/tokens/{id}", tag = "people", operation_id = "revoke_token",
    params(("id" = String, Path, description = "The token's id")),
    responses((status = 204, description = "It is revoked"), Refusals))]
pub(crate) async fn revoke(ByCaller(commands): ByCaller, IdPath(id): IdPath) -> Result<StatusCode, Problem> {
    commands.revoke_token(id).await?;
    Ok(StatusCode::NO_CONTENT)
}
