//! Logging in with the token, which opens a session, and out again.

use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::extract::{Query, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Deserialize;

use super::frame::Theme;
use super::words::labels;
use super::{Drawn, assets, draw, draw_as, see_other, with_cookie};
use crate::app::App;
use crate::gate::{Client, clear_cookie, identify, is_token, session_id, set_cookie};
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    theme: Theme,
    next: &'a str,
    error: Option<&'a str>,
}

/// What the form sends.
#[derive(Deserialize)]
pub(crate) struct LoginForm {
    token: String,
    #[serde(default)]
    next: String,
}

/// Where to go after the login.
#[derive(Deserialize)]
pub(crate) struct LoginQuery {
    #[serde(default)]
    next: String,
}

/// The form; a browser that has a session is led on.
pub(crate) async fn form(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    Query(query): Query<LoginQuery>,
) -> Drawn {
    let next = local_path(&query.next);
    if !query.next.is_empty() && identify(&app, &headers, &client).is_some() {
        return Ok(see_other(next));
    }
    draw(&LoginPage { theme: Theme::of(&headers), next, error: None })
}

/// Opens a session for whoever knows the token.
pub(crate) async fn submit(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    Form(form): Form<LoginForm>,
) -> Drawn {
    let (theme, next) = (Theme::of(&headers), local_path(&form.next));
    if is_token(&app, form.token.trim()) {
        client.set_authenticated();
        let id = app.sessions.open(&app.web().token, app.web().clock.now()).await.map_err(Problem::internal)?;
        return Ok(with_cookie(see_other(next), &set_cookie(&id)));
    }
    if let Err(seconds) = app.guesses.count_wrong(client.address(), Instant::now()) {
        return too_many(theme, next, seconds);
    }
    let error = Some(labels::WRONG_TOKEN);
    draw_as(StatusCode::UNAUTHORIZED, &LoginPage { theme, next, error })
}

/// Ends the session.
pub(crate) async fn logout(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Some(id) = session_id(&headers) {
        app.sessions.close(id, &app.web().token).await;
    }
    with_cookie(see_other("/login"), &clear_cookie())
}

/// Ends every session, this one with it.
pub(crate) async fn logout_everywhere(State(app): State<App>) -> Response {
    app.sessions.close_all().await;
    with_cookie(see_other("/login"), &clear_cookie())
}

/// The longest address that is remembered.
const MAX_PATH: usize = 2048;

/// `path`, which may have a query, if it is one of this server, else `/`: a login must not lead
/// anywhere else.
pub(super) fn local_path(path: &str) -> &str {
    // Browsers read a backslash like a slash: two of them begin the name of a host.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-:@?=&%+,~*!$'();".contains(&byte);
    let local = path.starts_with('/') && !path.starts_with("//") && path.len() <= MAX_PATH;
    if local && path.bytes().all(plain) { path } else { "/" }
}

fn too_many(theme: Theme, next: &str, seconds: u64) -> Drawn {
    let error = labels::too_many_tokens(seconds);
    let mut response = draw_as(StatusCode::TOO_MANY_REQUESTS, &LoginPage { theme, next, error: Some(&error) })?;
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_to_this_server_only() {
        for local in ["/", "/incidents/0192-ab", "/agents/a.b:c@d", "/requests?agent=a&text=b%20c", "/a?b=//evil"] {
            assert_eq!(local_path(local), local);
        }
        for foreign in
            ["", "//evil.test", "https://evil.test", "/\\evil.test", "evil", "/a b", "/a\r\nx: y", "/a#b", "/\t/evil"]
        {
            assert_eq!(local_path(foreign), "/", "{foreign}");
        }
    }
}
