//! The settings about tokens of agents.

use model::{Target, TargetHost};

use super::contradictions::Contradiction;
use super::value::Read;
use crate::jwt::JwtConfig;

/// The settings, as far as they are made.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "JwtConfig says it")]
pub struct JwtSettings {
    pub issuer: Option<String>,
    pub audience: Option<String>,
    pub jwks_url: Option<Target>,
    pub agent_claim: Option<String>,
}

impl JwtSettings {
    /// The configuration, if tokens are accepted.
    pub(crate) fn config(&self) -> Option<JwtConfig> {
        Some(JwtConfig {
            issuer: self.issuer.clone()?,
            audience: self.audience.clone()?,
            jwks_url: self.jwks_url.clone()?,
            agent_claim: self.agent_claim.clone().unwrap_or_else(|| "sub".to_owned()),
        })
    }

    /// What is wrong with the settings taken together.
    pub(super) fn contradictions(&self) -> Vec<Contradiction> {
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

/// A text that is not empty.
pub(super) fn word(text: &str) -> Read<String> {
    if text.trim().is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.trim().to_owned()) }
}

/// Where keys are fetched: over TLS, or from this machine. Whoever could change them on the way could
/// be any agent.
pub(super) fn jwks_url(text: &str) -> Read<Target> {
    let expected = || format!("must be an https address like https://login.example/jwks.json, not {text:?}");
    let target = Target::parse(text.trim()).map_err(|_| expected())?;
    let is_local = matches!(target.host(), TargetHost::Address(address) if address.is_loopback());
    if target.is_https() || is_local { Ok(target) } else { Err(expected()) }
}
