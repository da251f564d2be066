//! The open sessions of browsers.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use model::{ActorKind, Role, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::{List, schemas};
use crate::app::App;
use crate::gate::{ByCaller, holder_of, session_id};
use crate::input::IdPath;
use crate::logins::Session;
use crate::problem::{Problem, Refusals};

/// An open session.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionView {
    /// Its handle, which is not a credential.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub(crate) id: String,
    /// How it was opened.
    #[schema(schema_with = schemas::actor_kind)]
    pub(crate) kind: ActorKind,
    /// The user.
    pub(crate) name: String,
    #[schema(schema_with = schemas::role)]
    pub(crate) role: Role,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) opened_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) ends_at: Timestamp,
    /// The client's address when it was opened.
    #[schema(value_type = Option<String>)]
    pub(crate) address: Option<String>,
    /// Whether it is the session of this request.
    pub(crate) is_current: bool,
}

/// The open sessions, newest first.
#[utoipa::path(get, path = "/api/sessions", tag = "people", operation_id = "list_sessions",
    responses((status = 200, body = List<SessionView>), Refusals))]
pub(crate) async fn list(State(app): State<App>, headers: HeaderMap) -> Json<List<SessionView>> {
    Json(List::whole(read(&app, &headers).await))
}

/// The open sessions, newest first, without those that a new password or role has ended.
pub(crate) async fn read(app: &App, headers: &HeaderMap) -> Vec<SessionView> {
    app.sessions.refresh_all().await;
    let (token, now) = (&app.web().token, app.web().clock.now());
    let current = session_id(headers).and_then(|id| app.sessions.find(id, token, now)).map(|(handle, _)| handle);
    let view = |(id, session): (String, Session)| {
        let actor = holder_of(app, &session.owner, session.address)?;
        Some(SessionView {
            is_current: current.as_ref() == Some(&id),
            id,
            kind: actor.kind,
            name: actor.name,
            role: actor.role,
            opened_at: session.opened_at,
            ends_at: session.ends_at,
            address: session.address.map(|address| address.to_canonical().to_string()),
        })
    };
    app.sessions.list(now).into_iter().filter_map(view).collect()
}

/// Ends a session: its browser has to log in again.
#[utoipa::path(delete, path = "/api/sessions/{id}", tag = "people", operation_id = "end_session",
    params(("id" = String, Path, description = "The session's id")),
    responses((status = 204, description = "The session is ended"), Refusals))]
pub(crate) async fn end(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    IdPath(id): IdPath,
) -> Result<StatusCode, Problem> {
    if !app.sessions.close_by_handle(&id).await {
        return Err(Problem::not_found(format!("There is no session {id}.")));
    }
    commands.note("session.end", Some(format!("session:{id}")));
    Ok(StatusCode::NO_CONTENT)
}
