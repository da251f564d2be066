//! Reasons for refusing a token.

/// Why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// It is not signed, or with a shared secret.
    #[error("the token is signed in a way that is not accepted: sign it with RS256, ES256 or EdDSA")]
    Algorithm,
    /// The issuer does not publish the key that it names.
    #[error("the token is signed with a key that its issuer does not publish")]
    UnknownKey,
    /// It was changed, or signed with another key.
    #[error("the signature of the token is wrong")]
    Signature,
    /// It has expired.
    #[error("the token has expired")]
    Expired,
    /// It is not valid yet.
    #[error("the token is not valid yet")]
    NotYet,
    /// It is for another audience.
    #[error("the token is for another audience")]
    Audience,
    /// A claim is missing or has the wrong form.
    #[error("the token lacks a claim, or has one that cannot be read")]
    Claims,
    /// It names no agent.
    #[error("the claim of the token that must name an agent (auth.jwt.agent_claim) is missing or no agent's name")]
    Agent,
    /// It is longer than any token has to be.
    #[error("the token is too long")]
    TooLong,
    /// No key is known yet, and none can be fetched.
    #[error("the keys of the issuer cannot be fetched at the moment")]
    NoKeys,
}
