//! OpenID Connect: people log in at a provider, which redirects them back with a code. This is the
//! code flow with PKCE, a state that ties the answer to the browser, and a nonce that ties the
//! token to the login.

mod attempt;
mod claims;
mod provider;
mod used_logins;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use model::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::form_urlencoded::{Serializer, byte_serialize};

pub use attempt::LoginAttempt;
pub use claims::Person;

use self::provider::{Provider, ProviderCache};
use self::used_logins::UsedLogins;
use crate::TokenRefusal;

/// The provider, and our registration there.
#[derive(Clone, Debug)]
pub struct OidcConfig {
    /// The issuer URL, as in its tokens (`iss`).
    pub issuer: String,
    /// Our client id (`aud`).
    pub client_id: String,
    /// Our client secret; a public client has none.
    pub client_secret: Option<SecretString>,
    /// The scopes to request; `openid` is added.
    pub scopes: Vec<String>,
    /// The claim with a person's groups.
    pub groups_claim: String,
    /// The claim with a person's name.
    pub name_claim: String,
}

/// The provider's answer, from the query of the redirect.
#[derive(Clone, Debug)]
pub struct AuthorizationAnswer {
    /// The code, which is exchanged once for a token.
    pub code: String,
    /// The issuer that the answer names (RFC 9207).
    pub issuer: Option<String>,
}

/// A finished login.
#[derive(Clone, Debug)]
pub struct FinishedLogin {
    /// The person who logged in.
    pub person: Person,
    /// Identifies the login, and reveals nothing of its secrets.
    pub key: String,
    /// When the provider's token has expired, so that the login cannot be finished again.
    pub ends_at: Timestamp,
}

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// The provider cannot be reached, or its description is unusable.
    #[error("{0}")]
    Unavailable(String),
    /// The provider rejects the code: it was used before, or belongs to another login.
    #[error("the provider refuses the code: {0}")]
    Code(String),
    /// The answer is from another provider.
    #[error("the answer comes from another provider")]
    Issuer,
    /// The token is invalid.
    #[error("{0}")]
    Token(#[from] TokenRefusal),
    /// The token belongs to another login.
    #[error("the token belongs to another login")]
    Nonce,
    /// The login was finished before.
    #[error("the login was finished before")]
    Replayed,
}

/// Logs people in at a provider. Clones share their state.
#[derive(Clone, Debug)]
pub struct OidcClient(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: OidcConfig,
    providers: ProviderCache,
    used: UsedLogins,
}

/// The provider's answer to the code.
#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
    access_token: Option<String>,
}

impl OidcClient {
    /// A client that reads the provider's description at the first login.
    pub fn new(config: OidcConfig, allow_private: bool) -> OidcClient {
        let providers = ProviderCache::new(&config.issuer, &config.client_id, allow_private);
        OidcClient(Arc::new(Inner { config, providers, used: UsedLogins::default() }))
    }

    /// The issuer URL.
    pub fn issuer(&self) -> &str {
        &self.0.config.issuer
    }

    /// The URL to redirect the browser to; the provider redirects it back to `redirect_url`.
    pub async fn login_url(&self, attempt: &LoginAttempt, redirect_url: &str) -> Result<String, OidcError> {
        let provider = self.0.providers.get().await?;
        let mut url = provider.authorization_url.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.0.config.client_id)
            .append_pair("redirect_uri", redirect_url)
            .append_pair("scope", &self.scope())
            .append_pair("state", attempt.state())
            .append_pair("nonce", attempt.nonce())
            .append_pair("code_challenge", &attempt.challenge())
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    /// Finishes the login. The caller has compared the state of the answer with that of `attempt`,
    /// and makes sure that no other server has finished it before.
    pub async fn finish(
        &self,
        attempt: &LoginAttempt,
        answer: &AuthorizationAnswer,
        redirect_url: &str,
    ) -> Result<FinishedLogin, OidcError> {
        let provider = self.0.providers.get().await?;
        let is_expected = |issuer: &String| *issuer == self.0.config.issuer;
        if !answer.issuer.as_ref().map_or(!provider.names_itself, is_expected) {
            return Err(OidcError::Issuer);
        }
        let tokens = self.redeem_code(&provider, attempt, &answer.code, redirect_url).await?;
        let claims = provider.tokens.verify(&tokens.id_token).await?;
        claims::check(&claims, &self.0.config.client_id, attempt.nonce())?;
        let key = attempt.key();
        if !self.0.used.insert(&key) {
            return Err(OidcError::Replayed);
        }
        let ends_at = claims::end(&claims);
        let said = match (&tokens.access_token, &provider.userinfo_url) {
            // Many providers return groups only there.
            (Some(token), Some(url)) if claims::lacks_person(&claims, &self.0.config) => {
                let body = self.0.providers.fetcher().get_as(url, token).await.map_err(OidcError::Unavailable)?;
                claims::merge(claims, &body)?
            }
            _ => claims,
        };
        let person = Person::read(&said, &self.0.config).ok_or(OidcError::Token(TokenRefusal::Claims))?;
        Ok(FinishedLogin { person, key, ends_at })
    }

    fn scope(&self) -> String {
        let others = self.0.config.scopes.iter().map(String::as_str).filter(|scope| *scope != "openid");
        std::iter::once("openid").chain(others).collect::<Vec<_>>().join(" ")
    }

    async fn redeem_code(
        &self,
        provider: &Provider,
        attempt: &LoginAttempt,
        code: &str,
        redirect_url: &str,
    ) -> Result<TokenAnswer, OidcError> {
        let (headers, form) = self.exchange_form(provider, attempt, (code, redirect_url))?;
        let answered = self.0.providers.fetcher().post_form(&provider.token_url, headers, form).await;
        let (status, body) = answered.map_err(OidcError::Unavailable)?;
        if !status.is_success() {
            return Err(refusal(status, &body));
        }
        serde_json::from_slice(&body).map_err(|error| OidcError::Unavailable(format!("the token answer: {error}")))
    }

    fn exchange_form(
        &self,
        provider: &Provider,
        attempt: &LoginAttempt,
        (code, redirect_url): (&str, &str),
    ) -> Result<(HeaderMap, String), OidcError> {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", redirect_url)
            .append_pair("code_verifier", attempt.verifier());
        let headers = self.authenticate(&mut form, provider.takes_basic)?;
        Ok((headers, form.finish()))
    }

    /// Adds our client credentials in the way that the provider supports.
    fn authenticate(&self, form: &mut Serializer<'_, String>, takes_basic: bool) -> Result<HeaderMap, OidcError> {
        let (id, secret) = (&self.0.config.client_id, self.0.config.client_secret.as_ref());
        let mut headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded")),
            (ACCEPT, HeaderValue::from_static("application/json")),
        ]);
        match secret.map(ExposeSecret::expose_secret) {
            Some(secret) if takes_basic => {
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
                let value = HeaderValue::from_str(&format!("Basic {pair}"));
                let mut value = value.map_err(|error| OidcError::Unavailable(error.to_string()))?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            Some(secret) => {
                form.append_pair("client_id", id).append_pair("client_secret", secret);
            }
            None => {
                form.append_pair("client_id", id);
            }
        }
        Ok(headers)
    }
}

/// Why the provider gave no token. Only the name of the error is logged: the provider chooses the
/// rest.
fn refusal(status: http::StatusCode, body: &[u8]) -> OidcError {
    #[derive(Deserialize)]
    struct Refused {
        error: String,
    }
    let named = serde_json::from_slice::<Refused>(body).map(|refused| refused.error).unwrap_or_default();
    match named.as_str() {
        "invalid_grant" => OidcError::Code(named),
        _ if named.len() <= 40 && named.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') => {
            OidcError::Unavailable(format!("the provider answered {status} {named}"))
        }
        _ => OidcError::Unavailable(format!("the provider answered {status}")),
    }
}
