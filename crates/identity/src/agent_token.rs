//! Tokens that name an agent: a token of the configured issuer, in place of a provider key.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{AgentId, Target};
use serde_json::Value;

use crate::TokenRefusal;
use crate::signed_token::SignedTokens;

/// The longest token that is accepted.
const MAX_LENGTH: usize = 16 << 10;

/// The tokens that are accepted, and their claims.
#[derive(Clone, Debug)]
pub struct AgentTokenConfig {
    /// The required issuer (`iss`).
    pub issuer: String,
    /// The required audience (`aud`).
    pub audience: String,
    /// The address of the issuer's keys.
    pub jwks_url: Target,
    /// The claim that names the agent.
    pub agent_claim: String,
}

/// The agent that a valid token names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAgent {
    /// The agent that calls.
    pub agent: AgentId,
    /// The subject of the token (`sub`).
    pub subject: Option<String>,
}

/// Verifies tokens of agents. Clones share their state.
#[derive(Clone, Debug)]
pub struct AgentTokens(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    agent_claim: String,
    tokens: SignedTokens,
}

impl AgentTokens {
    /// A verifier that fetches the issuer's keys when it needs them.
    pub fn new(config: AgentTokenConfig, allow_private: bool) -> AgentTokens {
        let AgentTokenConfig { issuer, audience, jwks_url, agent_claim } = config;
        let tokens = SignedTokens::new(issuer, audience, jwks_url, allow_private);
        AgentTokens(Arc::new(Inner { agent_claim, tokens }))
    }

    /// The required issuer.
    pub fn issuer(&self) -> &str {
        self.0.tokens.issuer()
    }

    /// The agent that a token names, once it is verified.
    pub async fn verify(&self, token: &str) -> Result<NamedAgent, TokenRefusal> {
        if token.len() > MAX_LENGTH {
            return Err(TokenRefusal::TooLong);
        }
        let claims = self.0.tokens.verify(token).await?;
        let text = |claim: &str| claims.get(claim).and_then(Value::as_str);
        let agent = text(&self.0.agent_claim).and_then(|name| AgentId::parse(name).ok());
        let agent = agent.ok_or(TokenRefusal::Agent)?;
        Ok(NamedAgent { agent, subject: text("sub").map(str::to_owned) })
    }
}

/// The first token in `text` that claims to be of `issuer`, before verification. Other tokens may
/// be keys of providers, some of which look the same.
pub fn find_token<'a>(text: &'a str, issuer: &str) -> Option<&'a str> {
    let is_in_token = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let words = text.split(move |letter| !is_in_token(letter));
    // A token without a signature ends with a dot; in a sentence, a dot follows the token.
    let mut words = words.flat_map(|word| [word, word.trim_matches('.')]);
    words.find(|word| unverified_issuer(word).is_some_and(|named| named == issuer))
}

/// The issuer that a token names, before verification.
fn unverified_issuer(credential: &str) -> Option<String> {
    if !credential.starts_with("eyJ") {
        return None;
    }
    let mut parts = credential.split('.');
    let (_, payload, _, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else { return None };
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    Some(claims.get("iss")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_found_between_other_words() {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let token =
            format!("{}.{}.sig-na_ture", part(r#"{"alg":"ES256"}"#), part(r#"{"iss":"https://login.example"}"#));
        for text in [
            "TOKEN",
            "Bearer TOKEN",
            "Bearer  TOKEN,",
            "a=b; jwt=TOKEN",
            "\"TOKEN\"",
            "u:TOKEN",
            "see TOKEN.",
            "/v1/TOKEN",
        ] {
            let text = text.replace("TOKEN", &token);
            assert_eq!(find_token(&text, "https://login.example"), Some(token.as_str()), "{text}");
            assert_eq!(find_token(&text, "https://other.example"), None, "{text}");
        }
        let unsigned = token.replace("sig-na_ture", "");
        assert_eq!(find_token(&unsigned, "https://login.example"), Some(unsigned.as_str()));
        for text in ["", "eyJ", "eyJ.eyJ.", "Bearer sk-own"] {
            assert_eq!(find_token(text, "https://login.example"), None, "{text}");
        }
    }
}
