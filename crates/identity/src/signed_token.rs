//! JSON Web Tokens of one issuer for one audience. Only signatures with a public key are accepted,
//! and only keys that the issuer publishes.

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use model::Target;
use serde_json::{Map, Value};

use crate::TokenRefusal;
use crate::key_set::KeySet;

/// How far the clocks of issuer and server may differ, in seconds.
pub(crate) const CLOCK_SKEW: u64 = 60;

/// Signatures with a public key. `HS256` and its like are excluded, so that a public key is never
/// used as a shared secret.
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

/// The claims of a token.
pub(crate) type Claims = Map<String, Value>;

/// Verifies the tokens of an issuer.
#[derive(Debug)]
pub(crate) struct SignedTokens {
    issuer: String,
    audience: String,
    keys: KeySet,
}

impl SignedTokens {
    /// Tokens of `issuer` (`iss`) for `audience` (`aud`), with keys from `jwks_url`.
    pub(crate) fn new(issuer: String, audience: String, jwks_url: Target, allow_private: bool) -> SignedTokens {
        SignedTokens { issuer, audience, keys: KeySet::new(jwks_url, allow_private) }
    }

    /// The required issuer.
    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The claims of a token with valid signature, issuer, audience and time.
    pub(crate) async fn verify(&self, token: &str) -> Result<Claims, TokenRefusal> {
        let header = decode_header(token).map_err(|_| TokenRefusal::Algorithm)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(TokenRefusal::Algorithm);
        }
        let key = self.keys.find(|key| fits(key, &header)).await?;
        let key = DecodingKey::from_jwk(&key).map_err(|_| TokenRefusal::UnknownKey)?;
        Ok(decode::<Claims>(token, &key, &self.validation(header.alg)).map_err(refusal)?.claims)
    }

    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = CLOCK_SKEW;
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        validation
    }
}

/// Whether a published key is the one that a token names. A token without a key id may use any key
/// of its kind: the signature decides.
fn fits(key: &Jwk, header: &Header) -> bool {
    let is_named = header.kid.is_none() || key.common.key_id == header.kid;
    let is_for_signatures = key.common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature);
    let algorithm_name = key.common.key_algorithm.map(|algorithm| algorithm.to_string());
    let is_of_algorithm = algorithm_name.is_none_or(|algorithm_name| algorithm_name == format!("{:?}", header.alg));
    is_named && is_for_signatures && is_of_algorithm && is_of_kind(key, header.alg)
}

fn is_of_kind(key: &Jwk, algorithm: Algorithm) -> bool {
    use Algorithm::{ES256, ES384, EdDSA};
    match &key.algorithm {
        AlgorithmParameters::EllipticCurve(_) => matches!(algorithm, ES256 | ES384),
        AlgorithmParameters::OctetKeyPair(_) => algorithm == EdDSA,
        AlgorithmParameters::RSA(_) => !matches!(algorithm, ES256 | ES384 | EdDSA),
        // A shared secret does not belong in a published set.
        _ => false,
    }
}

fn refusal(error: jsonwebtoken::errors::Error) -> TokenRefusal {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::ExpiredSignature => TokenRefusal::Expired,
        ErrorKind::ImmatureSignature => TokenRefusal::NotYet,
        ErrorKind::InvalidAudience => TokenRefusal::Audience,
        ErrorKind::InvalidSignature => TokenRefusal::Signature,
        _ => TokenRefusal::Claims,
    }
}
