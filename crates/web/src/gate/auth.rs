//! Authentication: a program sends a token, a browser its session. Every other request gets the
//! same refusal.

use std::net::IpAddr;
use std::time::Instant;

use axum::extract::{FromRef, FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use control::{Commands, TokenHolder};
use model::{ActivatedBy, Actor, ActorKind, Grant, Role};
use subtle::ConstantTimeEq;

use super::forward_auth;
use super::login_redirect::to_login;
use super::network::Client;
use super::scope::{LimitedCaller, limit_caller};
use crate::app::App;
use crate::logins::{COOKIE_NAME, FailedLogin, Owner};
use crate::problem::Problem;

/// Refuses requests without a token or a session, and passes the actor to the handlers of the
/// others. A route is protected by where it is mounted, never by its URL; the URL only selects the
/// form of the refusal.
pub(crate) async fn only_known_callers(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let client = Client::of(request.extensions());
    if let Some(actor) = identify(&app, request.headers(), &client).await {
        if forward_auth::lacks_origin(request.method(), request.headers(), &actor) {
            return Problem::cross_site().into_response();
        }
        client.set_authenticated();
        if actor.groups.is_some() {
            request.extensions_mut().insert(LimitedCaller(app));
        }
        request.extensions_mut().insert(Caller(actor));
        return next.run(request).await;
    }
    let wants_json = request.uri().path().starts_with("/api/");
    let guessed = bearer(request.headers()).is_some_and(|token| !token.is_empty());
    if guessed {
        app.failed_logins.add(client.address(), &FailedLogin { how: "token", why: "wrong", account: None });
    }
    match guessed.then(|| app.guesses.count_wrong(client.address(), Instant::now())) {
        Some(Err(seconds)) => Problem::too_many_guesses(seconds).into_response(),
        _ if wants_json => Problem::unauthorized().into_response(),
        _ => to_login(request.uri()),
    }
}

/// The actor of a request, if it is known: by its own credential, or by a trusted proxy.
pub(crate) async fn identify(app: &App, headers: &HeaderMap, client: &Client) -> Option<Actor> {
    if let (None, Some(id)) = (bearer(headers), session_id(headers)) {
        app.sessions.refresh(id, &app.web().token).await;
    }
    let actor = identify_by_memory(app, headers, client)?;
    if !matches!(actor.kind, ActorKind::User | ActorKind::Token) {
        return Some(actor);
    }
    // Another server may just have revoked the token or changed the user. Nobody who is unknown
    // makes the server ask for that.
    app.control().refresh_people().await;
    identify_by_memory(app, headers, client)
}

/// Like [`identify`], with the sessions as this server last saw them.
pub(crate) fn identify_by_memory(app: &App, headers: &HeaderMap, client: &Client) -> Option<Actor> {
    identify_by_credential(app, headers, client).or_else(|| forward_auth::identify(app, headers, client))
}

/// The actor of a token or a session. Credentials are read only here.
fn identify_by_credential(app: &App, headers: &HeaderMap, client: &Client) -> Option<Actor> {
    let address = Some(client.address());
    match bearer(headers) {
        // A token that is sent must be right, even from a browser with a session.
        Some(token) if is_token(app, token) => Some(Actor::first_token(program(headers), address)),
        Some(token) => {
            let TokenHolder { id, name, role, groups } = app.control().token_holder(token)?;
            let (kind, id, via) = (ActorKind::Token, Some(id), program(headers));
            Some(Actor { kind, id, name, role, groups, address, via })
        }
        None => {
            let id = session_id(headers)?;
            let (_, session) = app.sessions.find(id, &app.web().token, app.web().clock.now())?;
            holder_of(app, &session.owner, address)
        }
    }
}

/// The owner of a session, unless a later password or role has ended it.
pub(crate) fn holder_of(app: &App, owner: &Owner, address: Option<IpAddr>) -> Option<Actor> {
    let via = ActivatedBy::Dashboard;
    match owner {
        Owner::FirstToken => Some(Actor::first_token(via, address)),
        Owner::User { id, version } => {
            let user = app.control().user(id).filter(|user| user.session_version == *version)?;
            let (kind, id) = (ActorKind::User, Some(user.id));
            Some(Actor { kind, id, name: user.name, role: user.role, groups: user.groups, address, via })
        }
        Owner::Federated(person) => {
            let login = app.web().access.oidc.as_ref().filter(|login| login.client.issuer() == person.issuer)?;
            let Grant { role, groups } = login.roles.grant(person.groups.iter().map(String::as_str))?;
            let (kind, id) = (ActorKind::User, Some(person.id()));
            Some(Actor { kind, id, name: person.name.clone(), role, groups, address, via })
        }
    }
}

/// The interface of a program with a token. It is identified by its own `User-Agent`, which is not
/// verified.
fn program(headers: &HeaderMap) -> ActivatedBy {
    let is_our_command = headers.get(USER_AGENT).is_some_and(|it| it.as_bytes().starts_with(b"agentgazer/"));
    if is_our_command { ActivatedBy::CommandLine } else { ActivatedBy::Api }
}

/// The actor of the request, as [`only_known_callers`] determined it.
#[derive(Clone)]
pub(crate) struct Caller(pub(crate) Actor);

impl Caller {
    /// The actor of the request with these extensions, if the route requires one.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Actor> {
        extensions.get::<Caller>().map(|Caller(actor)| actor)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        // Only a route without authentication has none; using `Caller` there would be a bug.
        parts.extensions.get::<Caller>().cloned().ok_or_else(Problem::unauthorized)
    }
}

/// The commands of the request's actor.
pub(crate) struct ByCaller(pub(crate) Commands);

impl<S: Send + Sync> FromRequestParts<S> for ByCaller
where
    App: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Caller(actor) = Caller::from_request_parts(parts, state).await?;
        Ok(ByCaller(App::from_ref(state).control().by(&actor)))
    }
}

/// Refuses an actor without `role`.
pub(crate) async fn require_role(role: Role, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    limit_caller(&mut parts).await;
    let request = Request::from_parts(parts, body);
    match Caller::of(request.extensions()) {
        Some(actor) if actor.may(role) => next.run(request).await,
        Some(actor) => Problem::role_needed(role, actor.role).into_response(),
        None => Problem::unauthorized().into_response(),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?;
    let (scheme, token) = value.to_str().ok().and_then(|value| value.split_once(' ')).unwrap_or_default();
    Some(if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { "" })
}

/// The session id that the browser sent.
pub(crate) fn session_id(headers: &HeaderMap) -> Option<&str> {
    cookie(headers, COOKIE_NAME)
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|value| value.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find_map(|(cookie, value)| (cookie == name).then_some(value))
}

/// Whether `given` is the token.
pub(crate) fn is_token(app: &App, given: &str) -> bool {
    app.web().token.with(|token| is_equal(given.as_bytes(), token.as_bytes()))
}

/// Compares in a time that depends only on the length of `given`: the secret is repeated to that
/// length, so a caller can measure neither where the two differ nor how long the secret is.
fn is_equal(given: &[u8], secret: &[u8]) -> bool {
    let repeated: Vec<u8> = secret.iter().copied().cycle().take(given.len()).collect();
    let same_length = given.len().ct_eq(&secret.len());
    !secret.is_empty() && bool::from(given.ct_eq(&repeated) & same_length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_token_matches() {
        assert!(is_equal(b"secret", b"secret"));
        for given in ["", "s", "secre", "secretsecret", "secret ", "Secret", "secreT"] {
            assert!(!is_equal(given.as_bytes(), b"secret"), "{given}");
        }
        assert!(!is_equal(b"", b""), "an empty secret lets no one in");
    }

    #[test]
    fn session_cookie_is_found_among_others() {
        let header = format!("theme=dark; {COOKIE_NAME}=abc; other=1");
        let headers = HeaderMap::from_iter(header.parse().map(|value| (COOKIE, value)));
        assert_eq!(session_id(&headers), Some("abc"));
        assert_eq!(session_id(&HeaderMap::new()), None);
    }
}
