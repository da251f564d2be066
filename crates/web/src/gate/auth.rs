//! Authentication: a program shows the token, a browser its session. Every other request gets the
//! same refusal.

use std::convert::Infallible;
use std::time::Instant;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE, USER_AGENT};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use model::ActivatedBy;
use subtle::ConstantTimeEq;

use super::client::Client;
use super::session::COOKIE_NAME;
use crate::app::App;
use crate::pages;
use crate::problem::Problem;

/// Refuses requests without the token or a session. Which routes that concerns is decided by where
/// they are mounted, never by the URL; the URL only selects the form of the refusal.
pub(crate) async fn only_known_callers(State(app): State<App>, request: Request, next: Next) -> Response {
    let client = Client::of(request.extensions());
    if is_known(&app, request.headers()) {
        client.set_authenticated();
        return next.run(request).await;
    }
    let wants_json = request.uri().path().starts_with("/api/");
    let guessed = bearer(request.headers()).is_some_and(|token| !token.is_empty());
    match guessed.then(|| app.guesses.count_wrong(client.address(), Instant::now())) {
        Some(Err(seconds)) => Problem::too_many_guesses(seconds).into_response(),
        _ if wants_json => Problem::unauthorized().into_response(),
        _ => pages::to_login(request.uri()),
    }
}

/// Where a command comes from. A program is identified by its own `User-Agent`, which is not
/// verified.
pub(crate) struct Caller(pub(crate) ActivatedBy);

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let is_our_command = parts.headers.get(USER_AGENT).is_some_and(|it| it.as_bytes().starts_with(b"agentgazer/"));
        Ok(Caller(match (bearer(&parts.headers), is_our_command) {
            (None, _) => ActivatedBy::Dashboard,
            (Some(_), true) => ActivatedBy::CommandLine,
            (Some(_), false) => ActivatedBy::Api,
        }))
    }
}

/// Whether the headers hold the token or an open session.
pub(crate) fn is_known(app: &App, headers: &HeaderMap) -> bool {
    match bearer(headers) {
        // A token that is given must be right, also from a browser that has a session.
        Some(token) => is_token(app, token),
        None => session_id(headers).is_some_and(|id| app.sessions.is_open(id, &app.web().token, app.web().clock.now())),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?;
    let (scheme, token) = value.to_str().ok().and_then(|value| value.split_once(' ')).unwrap_or_default();
    Some(if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { "" })
}

/// The id of the session that the browser claims to have.
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
        assert!(!is_equal(b"", b""), "an empty secret lets nobody in");
    }

    #[test]
    fn session_cookie_is_found_among_others() {
        let header = format!("theme=dark; {COOKIE_NAME}=abc; other=1");
        let headers = HeaderMap::from_iter(header.parse().map(|value| (COOKIE, value)));
        assert_eq!(session_id(&headers), Some("abc"));
        assert_eq!(session_id(&HeaderMap::new()), None);
    }
}
