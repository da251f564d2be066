//! One login in progress: the secrets that tie the provider's answer to it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// 256 bits in base64 without padding.
const LENGTH: usize = 43;

/// The secrets of one login. The browser keeps them in a cookie that scripts cannot read, so that
/// any replica can finish the login and unfinished logins take no memory.
#[derive(Clone, Debug)]
pub struct LoginAttempt {
    state: SecretString,
    nonce: SecretString,
    verifier: SecretString,
}

impl LoginAttempt {
    /// A new login. Fails if the system has no randomness.
    pub fn new() -> Result<LoginAttempt, getrandom::Error> {
        let random = || -> Result<SecretString, getrandom::Error> {
            let mut bytes = [0_u8; 32];
            getrandom::fill(&mut bytes)?;
            Ok(URL_SAFE_NO_PAD.encode(bytes).into())
        };
        Ok(LoginAttempt { state: random()?, nonce: random()?, verifier: random()? })
    }

    /// Parses the output of [`LoginAttempt::to_text`].
    pub fn parse(text: &str) -> Option<LoginAttempt> {
        let is_secret = |part: &&str| {
            part.len() == LENGTH && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let mut parts = text.split('.');
        let mut next = || parts.next().filter(is_secret).map(SecretString::from);
        let attempt = LoginAttempt { state: next()?, nonce: next()?, verifier: next()? };
        parts.next().is_none().then_some(attempt)
    }

    /// Its secrets as one text for the browser.
    pub fn to_text(&self) -> String {
        format!("{}.{}.{}", self.state(), self.nonce(), self.verifier())
    }

    /// The state, which the provider returns with its answer.
    pub fn state(&self) -> &str {
        self.state.expose_secret()
    }

    /// Identifies the login: a hash of its nonce.
    pub(super) fn key(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.nonce()))
    }

    /// The nonce that the token must contain.
    pub(super) fn nonce(&self) -> &str {
        self.nonce.expose_secret()
    }

    /// The PKCE verifier, which proves that the code is redeemed by the browser that began the
    /// login.
    pub(super) fn verifier(&self) -> &str {
        self.verifier.expose_secret()
    }

    /// The hash of the verifier, which the provider compares (RFC 7636, S256).
    pub(super) fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;

    #[test]
    fn attempt_is_read_again_and_each_is_new() {
        let attempt = LoginAttempt::new().unwrap();
        let text = attempt.to_text();
        let read = LoginAttempt::parse(&text).unwrap();
        assert_eq!(read.to_text(), text);
        assert_ne!(LoginAttempt::new().unwrap().to_text(), text);
        for wrong in ["", "a.b.c", &text[1..], &format!("{text}."), &format!("{text}.{}", attempt.state())] {
            assert!(LoginAttempt::parse(wrong).is_none(), "{wrong}");
        }
    }

    /// The example of RFC 7636, appendix B.
    #[test]
    fn challenge_is_the_hash_of_the_verifier() {
        let secret = || SecretString::from("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        let attempt = LoginAttempt { state: secret(), nonce: secret(), verifier: secret() };
        assert_eq!(attempt.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
