//! The caller's own password.

use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use model::Actor;
use secrecy::SecretString;
use serde::Deserialize;
use store::UserRow;
use utoipa::ToSchema;

use crate::app::App;
use crate::gate::{Caller, Client};
use crate::input::Body;
use crate::problem::{BodyRefusals, Problem, Refusals};

/// The current password and the new one.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasswordChange)]
pub(crate) struct PasswordBody {
    /// The current password.
    #[schema(max_length = 200)]
    pub(crate) current: String,
    /// 12 to 200 characters.
    #[schema(min_length = 12, max_length = 200)]
    pub(crate) password: String,
}

/// Changes the caller's own password. All sessions of that user end.
#[utoipa::path(post, path = "/api/password", tag = "people", operation_id = "change_password",
    request_body = PasswordBody, responses((status = 204, description = "It is changed"), Refusals, BodyRefusals))]
pub(crate) async fn change(
    State(app): State<App>,
    client: Client,
    Caller(actor): Caller,
    Body(body): Body<PasswordBody>,
) -> Result<StatusCode, Problem> {
    change_own(&app, &client, &actor, body).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes the caller's password. Wrong passwords are limited as at a login: an attacker with an
/// open session must not be able to guess it.
pub(crate) async fn change_own(
    app: &App,
    client: &Client,
    actor: &Actor,
    body: PasswordBody,
) -> Result<UserRow, Problem> {
    let now = Instant::now();
    app.guesses.check(client.address(), now).map_err(Problem::too_many_guesses)?;
    let (current, new): (SecretString, SecretString) = (body.current.into(), body.password.into());
    let changed = app.control().by(actor).change_own_password(&current, new).await.map_err(Problem::from);
    match changed {
        Ok(user) => {
            app.sessions.close_of_user(&user.id).await;
            Ok(user)
        }
        Err(problem) => {
            let _ = app.guesses.count_wrong(client.address(), now);
            Err(problem)
        }
    }
}
