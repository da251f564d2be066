//! Logins at an identity provider: the state that the browser keeps meanwhile.

use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use identity::{LoginAttempt, OidcClient, OidcError};

use super::auth::cookie;
use super::role_map::RoleMap;

/// The identity provider and the roles of its groups.
#[derive(Clone, Debug)]
pub struct OidcLogin {
    /// The client of the provider.
    pub client: OidcClient,
    /// The roles of its groups.
    pub roles: RoleMap,
}

/// The cookie of a login in progress.
const COOKIE_NAME: &str = "agentgazer_login";
/// The path of the cookie.
const PATH: &str = "/login/oidc";
/// How long a login at the provider may take.
const LIFE_SECONDS: u32 = 600;

/// Logs why a login failed; the person only learns that it did.
pub(crate) fn log_failure(error: &OidcError) {
    tracing::warn!(%error, "a login at the identity provider failed");
}

/// A login in progress: its secrets, and the page to open afterwards.
pub(crate) struct PendingLogin {
    pub(crate) attempt: LoginAttempt,
    pub(crate) next: String,
}

impl PendingLogin {
    /// The login that the browser has begun.
    pub(crate) fn of(headers: &HeaderMap) -> Option<PendingLogin> {
        let (attempt, next) = cookie(headers, COOKIE_NAME)?.rsplit_once('.')?;
        let next = String::from_utf8(URL_SAFE_NO_PAD.decode(next).ok()?).ok()?;
        Some(PendingLogin { attempt: LoginAttempt::parse(attempt)?, next })
    }

    /// The `Set-Cookie` that stores it in the browser. `Lax`, because the provider redirects back
    /// to us.
    pub(crate) fn cookie(&self) -> String {
        let (attempt, next) = (self.attempt.to_text(), URL_SAFE_NO_PAD.encode(&self.next));
        format!("{COOKIE_NAME}={attempt}.{next}; Path={PATH}; HttpOnly; SameSite=Lax; Max-Age={LIFE_SECONDS}")
    }

    /// The `Set-Cookie` that removes it, even after a failure: each is valid for one answer.
    pub(crate) fn clear_cookie() -> String {
        format!("{COOKIE_NAME}=; Path={PATH}; HttpOnly; SameSite=Lax; Max-Age=0")
    }
}
