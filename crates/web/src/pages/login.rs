//! Logging in with the token or with a name and a password, and logging out.

use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::extract::{Query, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use model::ActorKind;
use serde::Deserialize;

use super::frame::Theme;
use super::words::labels;
use super::{PageResult, assets, draw, draw_as, see_other, with_cookie};
use crate::app::App;
use crate::gate::{Caller, Client, encoded, holder_of, identify, is_token, local_path, session_id};
use crate::logins::{FailedLogin, Owner, clear_cookie, set_cookie};
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    theme: Theme,
    next: &'a str,
    error: Option<&'a str>,
    /// Whether there are users. Without them people log in with the token only.
    has_users: bool,
    /// Whether people log in at an identity provider.
    has_provider: bool,
    name: &'a str,
}

impl<'a> LoginPage<'a> {
    fn new(app: &App, headers: &HeaderMap, next: &'a str) -> LoginPage<'a> {
        let has_users = !app.control().users().is_empty();
        let has_provider = app.web().access.oidc.is_some();
        LoginPage { theme: Theme::of(headers), next, error: None, has_users, has_provider, name: "" }
    }

    /// The start of the provider's login.
    fn provider_href(&self) -> String {
        if self.next == "/" { "/login/oidc".to_owned() } else { format!("/login/oidc?next={}", encoded(self.next)) }
    }
}

/// The fields of the form: the token, or a name and a password.
#[derive(Deserialize)]
pub(crate) struct LoginForm {
    #[serde(default)]
    token: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    next: String,
}

/// The page to open after the login.
#[derive(Deserialize)]
pub(crate) struct LoginQuery {
    #[serde(default)]
    next: String,
}

impl LoginQuery {
    pub(super) fn next(&self) -> &str {
        &self.next
    }
}

/// Why a login was refused.
enum Refused {
    Wrong(&'static str),
    TooMany(u64),
}

/// Draws the form. A browser that has a session is redirected.
pub(crate) async fn form(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    Query(query): Query<LoginQuery>,
) -> PageResult {
    let next = local_path(&query.next);
    if !query.next.is_empty() && identify(&app, &headers, &client).await.is_some() {
        return Ok(see_other(next));
    }
    draw(&LoginPage::new(&app, &headers, next))
}

/// Opens a session for a person who knows the token, or a name and its password.
pub(crate) async fn submit(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    Form(form): Form<LoginForm>,
) -> PageResult {
    let checked = match form.token.is_empty() && !form.name.is_empty() {
        true => check_password(&app, &client, &form).await,
        false => check_token(&app, &client, &form),
    };
    match checked {
        Ok(owner) => open(&app, &client, &headers, owner, local_path(&form.next)).await,
        Err(refused) => {
            note_failure(&app, &client, &form, &refused);
            refuse(&app, &headers, &form, refused)
        }
    }
}

/// Adds the failure to the audit log, under the account if there is one.
fn note_failure(app: &App, client: &Client, form: &LoginForm, refused: &Refused) {
    let login = form.name.trim().to_lowercase();
    let account = app.control().users().into_iter().find(|user| user.name.to_lowercase() == login);
    let with_name = form.token.is_empty() && !form.name.is_empty();
    let failed = FailedLogin {
        how: if with_name { "password" } else { "token" },
        why: if matches!(refused, Refused::TooMany(_)) { "too_many" } else { "wrong" },
        account: account.filter(|_| with_name).map(|user| format!("user:{}", user.id)),
    };
    app.failed_logins.add(client.address(), &failed);
}

fn check_token(app: &App, client: &Client, form: &LoginForm) -> Result<Owner, Refused> {
    // The right token is always accepted, so that an attacker cannot lock the operator out.
    if is_token(app, form.token.trim()) {
        return Ok(Owner::FirstToken);
    }
    app.guesses.count_wrong(client.address(), Instant::now()).map_err(Refused::TooMany)?;
    Err(Refused::Wrong(labels::WRONG_TOKEN))
}

async fn check_password(app: &App, client: &Client, form: &LoginForm) -> Result<Owner, Refused> {
    let (account, now) = (form.name.trim().to_lowercase(), Instant::now());
    // This comes before the password is hashed, which costs us more than it costs the client.
    app.guesses.check(client.address(), now).map_err(Refused::TooMany)?;
    app.accounts.check(&account, now).map_err(Refused::TooMany)?;
    if let Some(user) = app.control().check_password(&form.name, &form.password).await {
        return Ok(Owner::User { id: user.id, version: user.session_version });
    }
    app.accounts.count_wrong(&account, now);
    app.guesses.count_wrong(client.address(), now).map_err(Refused::TooMany)?;
    Err(Refused::Wrong(labels::WRONG_PASSWORD))
}

/// Opens a session under a new id and closes the one that the browser had. An attacker who planted
/// that one gains nothing.
pub(super) async fn open(app: &App, client: &Client, headers: &HeaderMap, owner: Owner, next: &str) -> PageResult {
    client.set_authenticated();
    if let Some(before) = session_id(headers) {
        app.sessions.close(before, &app.web().token).await;
    }
    if let Owner::User { id, .. } = &owner {
        app.control().note_login(id);
    }
    let (address, token, now) = (Some(client.address()), &app.web().token, app.web().clock.now());
    let actor = holder_of(app, &owner, address);
    let opened = app.sessions.open(owner, address, token, now).await.map_err(Problem::internal)?;
    if let (Some(actor), Some((handle, _))) = (actor, app.sessions.find(&opened, token, now)) {
        app.control().by(&actor).note("session.open", Some(format!("session:{handle}")));
    }
    Ok(with_cookie(see_other(next), &set_cookie(&opened)))
}

fn refuse(app: &App, headers: &HeaderMap, form: &LoginForm, refused: Refused) -> PageResult {
    let (status, error, wait) = match refused {
        Refused::Wrong(error) => (StatusCode::UNAUTHORIZED, error.to_owned(), None),
        Refused::TooMany(seconds) => {
            (StatusCode::TOO_MANY_REQUESTS, labels::too_many_tokens(seconds), Some(HeaderValue::from(seconds)))
        }
    };
    let page = LoginPage::new(app, headers, local_path(&form.next));
    let mut response = draw_as(status, &LoginPage { error: Some(&error), name: &form.name, ..page })?;
    response.headers_mut().extend(wait.map(|wait| (RETRY_AFTER, wait)));
    Ok(response)
}

/// Draws the form again after a failed login at the identity provider.
pub(super) fn refuse_provider(
    app: &App,
    headers: &HeaderMap,
    status: StatusCode,
    error: &str,
    next: &str,
) -> PageResult {
    draw_as(status, &LoginPage { error: Some(error), ..LoginPage::new(app, headers, next) })
}

/// Ends the session.
pub(crate) async fn logout(State(app): State<App>, Caller(actor): Caller, headers: HeaderMap) -> Response {
    if let Some(id) = session_id(&headers) {
        let session = app.sessions.find(id, &app.web().token, app.web().clock.now());
        app.sessions.close(id, &app.web().token).await;
        let target = session.map(|(handle, _)| format!("session:{handle}"));
        app.control().by(&actor).note("session.close", target);
    }
    with_cookie(see_other("/login"), &clear_cookie())
}

/// Ends every session of a user; with the first token, every session.
pub(crate) async fn logout_everywhere(State(app): State<App>, Caller(actor): Caller) -> Response {
    match (actor.kind, &actor.id) {
        (ActorKind::User, Some(id)) => app.sessions.close_of_user(id).await,
        _ if actor.may(model::Role::Admin) => app.sessions.close_all().await,
        _ => {}
    }
    app.control().by(&actor).note("session.close_all", None);
    with_cookie(see_other("/login"), &clear_cookie())
}
