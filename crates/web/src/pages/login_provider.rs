//! Logging in at an identity provider: the redirect to it, and the return.

use std::time::Instant;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use identity::{AuthorizationAnswer, LoginAttempt, OidcError, Person};
use serde::Deserialize;

use super::login::{LoginQuery, open, refuse_provider};
use super::words::labels;
use super::{PageResult, see_other, with_cookie};
use crate::app::App;
use crate::gate::{Client, OidcLogin, PendingLogin, local_path, log_failure};
use crate::logins::{FailedLogin, FederatedPerson, Owner};
use crate::problem::Problem;

/// The path that the provider redirects back to.
const CALLBACK: &str = "/login/oidc/callback";

/// The query of the provider's redirect. Further fields are the provider's own and ignored.
#[derive(Deserialize)]
pub(crate) struct CallbackQuery {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// The failure of a login.
struct Failure {
    status: StatusCode,
    /// The message for the person.
    message: String,
    /// The reason in the audit log.
    why: &'static str,
    /// The account that the provider named, if any.
    account: Option<String>,
}

/// Redirects the browser to the provider.
pub(crate) async fn begin(State(app): State<App>, headers: HeaderMap, Query(query): Query<LoginQuery>) -> PageResult {
    let Some(login) = &app.web().access.oidc else { return Ok(see_other("/login")) };
    let attempt = LoginAttempt::new().map_err(Problem::internal)?;
    let pending = PendingLogin { attempt, next: local_path(query.next()).to_owned() };
    match login.client.login_url(&pending.attempt, &callback_url(&app)).await {
        Ok(url) => Ok(with_cookie(see_other(&url), &pending.cookie())),
        Err(error) => {
            let Failure { status, message, .. } = failure(error);
            refuse_provider(&app, &headers, status, &message, &pending.next)
        }
    }
}

/// Opens a session for the person that the provider has logged in.
pub(crate) async fn finish(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    Query(query): Query<CallbackQuery>,
) -> PageResult {
    let Some(login) = &app.web().access.oidc else { return Ok(see_other("/login")) };
    let pending = PendingLogin::of(&headers);
    let next = local_path(pending.as_ref().map_or("/", |pending| &pending.next)).to_owned();
    let response = match identify(&app, login, &client, (pending, query)).await {
        Ok(person) => open(&app, &client, &headers, Owner::Federated(person), &next).await?,
        Err(failure) => {
            let Failure { status, message, why, account } = failure;
            app.failed_logins.add(client.address(), &FailedLogin { how: "oidc", why, account });
            refuse_provider(&app, &headers, status, &message, &next)?
        }
    };
    Ok(with_cookie(response, &PendingLogin::clear_cookie()))
}

async fn identify(
    app: &App,
    login: &OidcLogin,
    client: &Client,
    (pending, query): (Option<PendingLogin>, CallbackQuery),
) -> Result<FederatedPerson, Failure> {
    let now = Instant::now();
    // This comes before the call to the provider: otherwise anyone could make the server call it.
    app.guesses.check(client.address(), now).map_err(too_many)?;
    let checked = match answer(pending, query) {
        Ok((attempt, answer)) => {
            let finished = login.client.finish(&attempt, &answer, &callback_url(app)).await;
            match finished {
                Ok(finished) if !app.sessions.finish_login(&finished, app.web().clock.now()).await => {
                    Err(failure(OidcError::Replayed))
                }
                Ok(finished) => with_role(login, finished.person),
                Err(error) => Err(failure(error)),
            }
        }
        Err(failure) => Err(failure),
    };
    if checked.as_ref().is_err_and(|failure| failure.status == StatusCode::UNAUTHORIZED) {
        app.guesses.count_wrong(client.address(), now).map_err(too_many)?;
    }
    checked
}

/// The login that the provider's answer belongs to.
fn answer(pending: Option<PendingLogin>, query: CallbackQuery) -> Result<(LoginAttempt, AuthorizationAnswer), Failure> {
    let refused = |message: &str, why| Failure {
        status: StatusCode::UNAUTHORIZED,
        message: message.to_owned(),
        why,
        account: None,
    };
    // The state is the browser's: another site cannot make it finish a login that it did not begin.
    let pending = pending.filter(|pending| query.state.as_deref() == Some(pending.attempt.state()));
    let pending = pending.ok_or_else(|| refused(labels::LOGIN_NOT_BEGUN, "state"))?;
    match (query.error, query.code) {
        (None, Some(code)) => Ok((pending.attempt, AuthorizationAnswer { code, issuer: query.iss })),
        _ => Err(refused(labels::PROVIDER_REFUSED, "refused")),
    }
}

/// The person, who must have a role.
fn with_role(login: &OidcLogin, person: Person) -> Result<FederatedPerson, Failure> {
    let Person { subject, name, groups } = person;
    let groups = login.roles.known(groups);
    let issuer = login.client.issuer().to_owned();
    let person = FederatedPerson { issuer, subject, name, groups };
    match login.roles.grant(person.groups.iter().map(String::as_str)) {
        Some(_) => Ok(person),
        None => Err(Failure {
            status: StatusCode::FORBIDDEN,
            message: labels::no_role(&person.name),
            why: "no_role",
            account: Some(person.id()),
        }),
    }
}

fn failure(error: OidcError) -> Failure {
    log_failure(&error);
    let (status, message, why) = match error {
        OidcError::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, labels::PROVIDER_DOWN, "unavailable"),
        OidcError::Code(_) => (StatusCode::UNAUTHORIZED, labels::PROVIDER_REFUSED, "code"),
        OidcError::Issuer => (StatusCode::UNAUTHORIZED, labels::PROVIDER_REFUSED, "issuer"),
        OidcError::Token(_) => (StatusCode::UNAUTHORIZED, labels::PROVIDER_REFUSED, "token"),
        OidcError::Nonce => (StatusCode::UNAUTHORIZED, labels::PROVIDER_REFUSED, "nonce"),
        OidcError::Replayed => (StatusCode::UNAUTHORIZED, labels::LOGIN_NOT_BEGUN, "replayed"),
    };
    Failure { status, message: message.to_owned(), why, account: None }
}

fn too_many(seconds: u64) -> Failure {
    let (status, message) = (StatusCode::TOO_MANY_REQUESTS, labels::too_many_tokens(seconds));
    Failure { status, message, why: "too_many", account: None }
}

fn callback_url(app: &App) -> String {
    format!("{}{CALLBACK}", app.web().public_url.trim_end_matches('/'))
}
