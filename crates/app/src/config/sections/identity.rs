//! Settings about identity providers: tokens of agents, and logins of people.

use std::path::PathBuf;

use ::identity::{AgentTokenConfig, OidcClient, OidcConfig, is_safe_from_changes};
use anyhow::Context;
use model::Target;
use secrecy::SecretString;
use web::{OidcLogin, RoleMap};

use crate::config::contradictions::Contradiction;
use crate::config::value::Read;

/// The settings, as far as they are set.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "AgentTokenConfig says it")]
pub struct JwtSettings {
    pub issuer: Option<String>,
    pub audience: Option<String>,
    pub jwks_url: Option<Target>,
    pub agent_claim: Option<String>,
}

impl JwtSettings {
    /// The configuration, if tokens are accepted.
    pub(crate) fn config(&self) -> Option<AgentTokenConfig> {
        Some(AgentTokenConfig {
            issuer: self.issuer.clone()?,
            audience: self.audience.clone()?,
            jwks_url: self.jwks_url.clone()?,
            agent_claim: self.agent_claim.clone().unwrap_or_else(|| "sub".to_owned()),
        })
    }

    /// Contradictions between settings.
    pub(in crate::config) fn contradictions(&self) -> Vec<Contradiction> {
        let made = [
            ("auth.jwt.issuer", self.issuer.is_some()),
            ("auth.jwt.audience", self.audience.is_some()),
            ("auth.jwt.jwks_url", self.jwks_url.is_some()),
        ];
        let claim = self.agent_claim.as_ref().map(|_| "auth.jwt.agent_claim");
        let Some(other) = made.iter().find(|(_, is_set)| *is_set).map(|(key, _)| *key).or(claim) else {
            return Vec::new();
        };
        let message = "must be set: tokens need auth.jwt.issuer, auth.jwt.audience and auth.jwt.jwks_url";
        let missing = made.into_iter().filter(|(_, is_set)| !is_set);
        missing.map(|(key, _)| Contradiction { key, other, message: message.to_owned() }).collect()
    }
}

/// The settings of logins at an identity provider, as far as they are set.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "OidcConfig says it")]
pub struct OidcSettings {
    pub issuer: Option<String>,
    pub client_id: Option<String>,
    pub client_secret: Option<SecretString>,
    pub client_secret_file: Option<PathBuf>,
    pub scopes: Option<Vec<String>>,
    pub groups_claim: Option<String>,
    pub name_claim: Option<String>,
    pub roles: RoleMap,
}

impl OidcSettings {
    /// The configured login. Reads the file with the secret.
    pub(crate) fn login(&self, allow_private: bool) -> anyhow::Result<Option<OidcLogin>> {
        let (Some(issuer), Some(client_id)) = (&self.issuer, &self.client_id) else { return Ok(None) };
        let or = |text: &Option<String>, usual: &str| text.clone().unwrap_or_else(|| usual.to_owned());
        let config = OidcConfig {
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret: self.secret()?,
            scopes: self.scopes.clone().unwrap_or_else(|| ["profile", "email"].map(str::to_owned).into()),
            groups_claim: or(&self.groups_claim, "groups"),
            name_claim: or(&self.name_claim, "preferred_username"),
        };
        Ok(Some(OidcLogin { client: OidcClient::new(config, allow_private), roles: self.roles.clone() }))
    }

    fn secret(&self) -> anyhow::Result<Option<SecretString>> {
        let Some(path) = &self.client_secret_file else { return Ok(self.client_secret.clone()) };
        let text = std::fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {} (auth.oidc.client_secret_file)", path.display()))?;
        anyhow::ensure!(!text.trim().is_empty(), "{} (auth.oidc.client_secret_file) is empty", path.display());
        Ok(Some(text.trim().into()))
    }

    /// Contradictions between settings.
    pub(in crate::config) fn contradictions(&self) -> Vec<Contradiction> {
        let made = [
            ("auth.oidc.issuer", self.issuer.is_some()),
            ("auth.oidc.client_id", self.client_id.is_some()),
            ("auth.oidc.roles", !self.roles.is_empty()),
        ];
        let others = [
            ("auth.oidc.client_secret", self.client_secret.is_some()),
            ("auth.oidc.client_secret_file", self.client_secret_file.is_some()),
            ("auth.oidc.scopes", self.scopes.is_some()),
            ("auth.oidc.groups_claim", self.groups_claim.is_some()),
            ("auth.oidc.name_claim", self.name_claim.is_some()),
        ];
        let is_set = |(_, is_set): &&(&'static str, bool)| *is_set;
        let Some((other, _)) = made.iter().chain(&others).find(is_set).copied() else { return Vec::new() };
        let needed = "must be set: logins need auth.oidc.issuer, auth.oidc.client_id and auth.oidc.roles (or \
                      auth.oidc.default_role)";
        let missing = made.into_iter().filter(|(_, is_set)| !is_set);
        let mut found: Vec<Contradiction> =
            missing.map(|(key, _)| Contradiction { key, other, message: needed.to_owned() }).collect();
        if self.client_secret.is_some() && self.client_secret_file.is_some() {
            let (key, other) = ("auth.oidc.client_secret", "auth.oidc.client_secret_file");
            found.push(Contradiction { key, other, message: "must not be set beside the file".to_owned() });
        }
        found
    }
}

/// A text that is not empty.
pub(in crate::config) fn word(text: &str) -> Read<String> {
    if text.trim().is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.trim().to_owned()) }
}

/// The issuer URL of an identity provider, exactly as in its tokens.
pub(in crate::config) fn issuer(text: &str) -> Read<String> {
    let expected = || format!("must be an https address like https://login.example, not {text:?}");
    let target = Target::parse(text.trim()).ok().filter(is_safe_from_changes).ok_or_else(expected)?;
    if target.path_and_query().contains('?') { Err(expected()) } else { Ok(text.trim().to_owned()) }
}

/// A word without spaces.
pub(in crate::config) fn scope(text: &str) -> Read<String> {
    let is_scope = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    if is_scope { Ok(text.to_owned()) } else { Err(format!("must be words like groups, not {text:?}")) }
}

/// The address of keys: over TLS, or on this machine. Anyone who could change them on the way could
/// impersonate any agent.
pub(in crate::config) fn jwks_url(text: &str) -> Read<Target> {
    let expected = || format!("must be an https address like https://login.example/jwks.json, not {text:?}");
    Target::parse(text.trim()).ok().filter(is_safe_from_changes).ok_or_else(expected)
}
