//! JSON Web Tokens of agents: a token of the configured issuer says which agent calls. Only
//! signatures with a public key are accepted, and only keys that the issuer publishes.

mod bearer;
mod key_set;

use std::sync::Arc;

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use model::{AgentId, Target};
use serde_json::{Map, Value};

use key_set::KeySet;

/// How far the clocks of issuer and server may differ, in seconds.
const CLOCK_SKEW: u64 = 60;
/// The longest token that is read.
const MAX_LENGTH: usize = 16 << 10;

/// Signatures with a public key. Not `HS256` and the like: a public key must never be taken for a
/// shared secret.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Whose tokens are accepted, and what they say.
#[derive(Clone, Debug)]
pub(crate) struct JwtConfig {
    /// Who must have made a token (`iss`).
    pub(crate) issuer: String,
    /// Whom it must be for (`aud`).
    pub(crate) audience: String,
    /// Where the issuer publishes its keys.
    pub(crate) jwks_url: Target,
    /// The claim that names the agent.
    pub(crate) agent_claim: String,
}

/// Why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JwtRefusal {
    #[error("the token is signed in a way that is not accepted: sign it with RS256, ES256 or EdDSA")]
    Algorithm,
    #[error("the token is signed with a key that its issuer does not publish")]
    UnknownKey,
    #[error("the signature of the token is wrong")]
    Signature,
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet")]
    NotYet,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token lacks a claim, or has one that cannot be read")]
    Claims,
    #[error("the keys of the issuer cannot be fetched at the moment")]
    NoKeys,
}

/// Verifies tokens. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct JwtVerifier(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: JwtConfig,
    keys: KeySet,
}

impl JwtVerifier {
    /// A verifier that fetches the issuer's keys when it needs them.
    pub(crate) fn new(config: JwtConfig, allow_private: bool) -> JwtVerifier {
        let keys = KeySet::new(config.jwks_url.clone(), allow_private);
        JwtVerifier(Arc::new(Inner { config, keys }))
    }

    /// Whether `credential` claims to be a token of the configured issuer. Other tokens may be keys
    /// of providers, some of which look the same.
    pub(crate) fn is_for(&self, credential: &str) -> bool {
        let issuer = unverified_issuer(credential);
        issuer.is_some_and(|issuer| issuer == self.0.config.issuer)
    }

    /// The agent that a token names.
    pub(crate) async fn verify(&self, token: &str) -> Result<AgentId, JwtRefusal> {
        let header = decode_header(token).map_err(|_| JwtRefusal::Algorithm)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(JwtRefusal::Algorithm);
        }
        let key = self.0.keys.find(|key| fits(key, &header)).await?;
        let key = DecodingKey::from_jwk(&key).map_err(|_| JwtRefusal::UnknownKey)?;
        let claims = decode::<Map<String, Value>>(token, &key, &self.validation(header.alg)).map_err(refusal)?.claims;
        let name = claims.get(&self.0.config.agent_claim).and_then(Value::as_str).ok_or(JwtRefusal::Claims)?;
        AgentId::parse(name).map_err(|_| JwtRefusal::Claims)
    }

    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = CLOCK_SKEW;
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[&self.0.config.issuer]);
        validation.set_audience(&[&self.0.config.audience]);
        validation
    }
}

/// Whether a published key is the one that a token names. A token without a name fits any key of its
/// kind: the signature decides.
fn fits(key: &Jwk, header: &Header) -> bool {
    let is_named = header.kid.is_none() || key.common.key_id == header.kid;
    let is_for_signatures = key.common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature);
    let said = key.common.key_algorithm.map(|algorithm| algorithm.to_string());
    let is_of_algorithm = said.is_none_or(|said| said == format!("{:?}", header.alg));
    is_named && is_for_signatures && is_of_algorithm && is_of_kind(key, header.alg)
}

fn is_of_kind(key: &Jwk, algorithm: Algorithm) -> bool {
    use Algorithm::{ES256, ES384, EdDSA};
    match &key.algorithm {
        AlgorithmParameters::EllipticCurve(_) => matches!(algorithm, ES256 | ES384),
        AlgorithmParameters::OctetKeyPair(_) => algorithm == EdDSA,
        AlgorithmParameters::RSA(_) => !matches!(algorithm, ES256 | ES384 | EdDSA),
        // A shared secret has no place in a published set.
        _ => false,
    }
}

fn refusal(error: jsonwebtoken::errors::Error) -> JwtRefusal {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::ExpiredSignature => JwtRefusal::Expired,
        ErrorKind::ImmatureSignature => JwtRefusal::NotYet,
        ErrorKind::InvalidAudience => JwtRefusal::Audience,
        ErrorKind::InvalidSignature => JwtRefusal::Signature,
        _ => JwtRefusal::Claims,
    }
}

/// The issuer that a token names, which is not proven yet.
fn unverified_issuer(credential: &str) -> Option<String> {
    use base64::Engine;
    if !credential.starts_with("eyJ") || credential.len() > MAX_LENGTH {
        return None;
    }
    let mut parts = credential.split('.');
    let (_, payload, _, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else { return None };
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    Some(claims.get("iss")?.as_str()?.to_owned())
}
