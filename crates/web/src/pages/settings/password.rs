//! The page on which people change their own password.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use model::{Actor, ActorKind};
use serde::Deserialize;

use crate::api::people::password::{PasswordBody, change_own};
use crate::app::App;
use crate::gate::{Caller, Client};
use crate::input::Fields;
use crate::logins::{Owner, set_cookie};
use crate::pages::frame::Frame;
use crate::pages::words::problem::explanation;
use crate::pages::{PageResult, assets, draw_as, see_other, with_cookie};
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "password.html")]
struct PasswordPage {
    frame: Frame,
    /// Whether the viewer logs in with a password.
    has_password: bool,
    name: String,
    error: Option<String>,
}

/// The fields of the form.
#[derive(Deserialize)]
pub(crate) struct PasswordForm {
    current: String,
    password: String,
}

/// Draws the form.
pub(crate) async fn show(State(app): State<App>, frame: Frame, Caller(actor): Caller) -> PageResult {
    draw_with(&app, frame, &actor, None)
}

fn draw_with(app: &App, frame: Frame, actor: &Actor, error: Option<String>) -> PageResult {
    let user = actor.id.as_deref().filter(|_| actor.kind == ActorKind::User).and_then(|id| app.control().user(id));
    let has_password = user.is_some_and(|user| user.password_hash.is_some());
    let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    draw_as(status, &PasswordPage { frame, has_password, name: actor.name.clone(), error })
}

/// Changes the password. The browser gets a new session; all others end.
pub(crate) async fn change(
    State(app): State<App>,
    client: Client,
    Caller(actor): Caller,
    frame: Frame,
    Fields(form): Fields<PasswordForm>,
) -> PageResult {
    let body = PasswordBody { current: form.current, password: form.password };
    let user = match change_own(&app, &client, &actor, body).await {
        Ok(user) => user,
        Err(problem) if problem.status() == StatusCode::BAD_REQUEST => {
            return draw_with(&app, frame, &actor, Some(explanation(&problem)));
        }
        Err(problem) => return Err(problem),
    };
    let owner = Owner::User { id: user.id, version: user.session_version };
    let (token, now) = (&app.web().token, app.web().clock.now());
    let opened = app.sessions.open(owner, Some(client.address()), token, now).await;
    let answer = see_other("/settings?done=password-changed");
    Ok(with_cookie(answer, &set_cookie(&opened.map_err(Problem::internal)?)))
}
