//! The description that a provider publishes. It is read at a login, and again after ten minutes.

use std::sync::Arc;
use std::time::Duration;

use egress::Fetcher;
use model::Target;
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use super::OidcError;
use crate::is_safe_from_changes;
use crate::signed_token::SignedTokens;

/// How long a description is used.
const FRESH: Duration = Duration::from_secs(600);
/// The shortest time between two failed attempts: anyone can begin a login.
const PAUSE: Duration = Duration::from_secs(5);

/// A provider's description.
#[derive(Debug)]
pub(super) struct Provider {
    /// The login page.
    pub(super) authorization_url: Url,
    /// The endpoint for codes.
    pub(super) token_url: Target,
    /// The endpoint for further claims.
    pub(super) userinfo_url: Option<Target>,
    /// Verifies its tokens.
    pub(super) tokens: SignedTokens,
    /// Whether the client secret goes into a header; otherwise it goes into the form.
    pub(super) takes_basic: bool,
    /// Whether its answers name the issuer.
    pub(super) names_itself: bool,
    jwks_uri: String,
}

/// The description in the terms of OpenID Connect Discovery.
#[derive(Deserialize)]
struct Description {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// The provider's description as last read.
#[derive(Debug)]
pub(super) struct ProviderCache {
    issuer: String,
    client_id: String,
    allow_private: bool,
    fetcher: Fetcher,
    /// The holder of the lock reads; others wait.
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    provider: Option<(Instant, Arc<Provider>)>,
    failed: Option<(Instant, String)>,
}

impl ProviderCache {
    pub(super) fn new(issuer: &str, client_id: &str, allow_private: bool) -> ProviderCache {
        ProviderCache {
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            allow_private,
            fetcher: Fetcher::new(allow_private),
            known: Mutex::default(),
        }
    }

    pub(super) fn fetcher(&self) -> &Fetcher {
        &self.fetcher
    }

    /// The provider. If it cannot be read again, the earlier description is used.
    pub(super) async fn get(&self) -> Result<Arc<Provider>, OidcError> {
        let mut known = self.known.lock().await;
        if let Some((read_at, provider)) = &known.provider
            && read_at.elapsed() < FRESH
        {
            return Ok(Arc::clone(provider));
        }
        if let Some((_, why)) = known.failed.as_ref().filter(|(at, _)| at.elapsed() < PAUSE) {
            return known.before().ok_or_else(|| OidcError::Unavailable(why.clone()));
        }
        match self.read(known.before().as_deref()).await {
            Ok(provider) => {
                let provider = provider.map(Arc::new).or(known.before()).ok_or(OidcError::Issuer)?;
                *known = Known { provider: Some((Instant::now(), Arc::clone(&provider))), failed: None };
                Ok(provider)
            }
            Err(why) => {
                tracing::warn!(error = why, "the provider of logins (auth.oidc.issuer) cannot be used");
                known.failed = Some((Instant::now(), why.clone()));
                known.before().ok_or(OidcError::Unavailable(why))
            }
        }
    }

    /// Reads the description; `None` if the address of its keys is unchanged, so that the known
    /// keys are kept.
    async fn read(&self, before: Option<&Provider>) -> Result<Option<Provider>, String> {
        let wrong = |what: &str| format!("its description has no {what} that can be used");
        let url = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let url = Target::parse(&url).map_err(|error| error.message)?;
        let body = self.fetcher.get(&url).await?;
        let description: Description =
            serde_json::from_slice(&body).map_err(|error| format!("its description: {error}"))?;
        if description.issuer != self.issuer {
            return Err(format!("it calls itself {:?}: set auth.oidc.issuer to that", description.issuer));
        }
        let methods = description.token_endpoint_auth_methods_supported.unwrap_or_default();
        let has = |method: &str| methods.iter().any(|it| it == method);
        let provider = Provider {
            authorization_url: page(&description.authorization_endpoint)
                .ok_or_else(|| wrong("authorization_endpoint"))?,
            token_url: endpoint(&description.token_endpoint).ok_or_else(|| wrong("token_endpoint"))?,
            userinfo_url: description.userinfo_endpoint.as_deref().and_then(endpoint),
            tokens: SignedTokens::new(
                description.issuer,
                self.client_id.clone(),
                endpoint(&description.jwks_uri).ok_or_else(|| wrong("jwks_uri"))?,
                self.allow_private,
            ),
            takes_basic: !has("client_secret_post") || has("client_secret_basic"),
            names_itself: description.authorization_response_iss_parameter_supported,
            jwks_uri: description.jwks_uri,
        };
        let is_same = before.is_some_and(|before| before.is_like(&provider));
        Ok(if is_same { None } else { Some(provider) })
    }
}

impl Provider {
    fn is_like(&self, other: &Provider) -> bool {
        self.authorization_url == other.authorization_url
            && self.token_url == other.token_url
            && self.userinfo_url == other.userinfo_url
            && self.jwks_uri == other.jwks_uri
            && (self.takes_basic, self.names_itself) == (other.takes_basic, other.names_itself)
    }
}

impl Known {
    fn before(&self) -> Option<Arc<Provider>> {
        self.provider.as_ref().map(|(_, provider)| Arc::clone(provider))
    }
}

/// A URL that the server calls.
fn endpoint(text: &str) -> Option<Target> {
    Target::parse(text).ok().filter(is_safe_from_changes)
}

/// A URL that browsers are redirected to.
fn page(text: &str) -> Option<Url> {
    endpoint(text).and_then(|_| Url::parse(text).ok())
}
