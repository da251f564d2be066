//! The token of the dashboard and the API.

use std::fmt::{self, Write};
use std::io;
use std::sync::Arc;

use parking_lot::RwLock;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

type StoreToken = dyn Fn(&SecretString) -> io::Result<()> + Send + Sync;

/// The token. Clones share it.
#[derive(Clone)]
pub struct Token {
    current: Arc<RwLock<SecretString>>,
    keep: Option<Arc<StoreToken>>,
}

impl Token {
    /// The shortest token that an operator may set: 16 random characters cannot be guessed.
    pub const MIN_LENGTH: usize = 16;

    /// A new random token. Fails if the system has no randomness.
    pub fn random() -> io::Result<SecretString> {
        random_id().map(SecretString::from).map_err(io::Error::other)
    }

    /// A token that the configuration sets and that can only be changed there.
    pub fn configured(token: impl Into<SecretString>) -> Token {
        Token { current: Arc::new(RwLock::new(token.into())), keep: None }
    }

    /// A generated token, which can be replaced: `keep` stores the new one.
    pub fn generated(
        token: impl Into<SecretString>,
        keep: impl Fn(&SecretString) -> io::Result<()> + Send + Sync + 'static,
    ) -> Token {
        Token { current: Arc::new(RwLock::new(token.into())), keep: Some(Arc::new(keep)) }
    }

    /// Whether it can be replaced while the server runs.
    pub fn is_replaceable(&self) -> bool {
        self.keep.is_some()
    }

    /// Replaces it. The new one is stored first, so that the token in use is never lost.
    pub(crate) fn replace(&self) -> io::Result<SecretString> {
        let keep = self.keep.as_ref().ok_or_else(|| io::Error::other("the configuration sets the token"))?;
        let fresh = Token::random()?;
        let mut current = self.current.write();
        keep(&fresh)?;
        *current = fresh.clone();
        Ok(fresh)
    }

    /// Whether `text` contains the token as a word. How long it takes depends on the length of the
    /// token, which is no secret, and not on how much of it a wrong one has.
    pub fn is_in(&self, text: &[u8]) -> bool {
        self.with(|token| {
            let length = token.len();
            let ends_word = |place: usize| text.get(place).is_none_or(|byte| !is_in_word(*byte));
            let begins_word = |place: usize| place == 0 || ends_word(place - 1);
            let mut words = (0..(text.len() + 1).saturating_sub(length))
                .filter(|start| begins_word(*start) && ends_word(start + length))
                .map(|start| &text[start..start + length]);
            length > 0 && words.any(|word| word.ct_eq(token.as_bytes()).into())
        })
    }

    /// Calls `look` with its text.
    pub fn with<R>(&self, look: impl FnOnce(&str) -> R) -> R {
        look(self.current.read().expose_secret())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

/// 256 random bits in hexadecimal.
pub fn random_id() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn token_that_cannot_be_stored_is_not_replaced() {
        let token = Token::generated("old", |_| Err(io::Error::other("the disk is full")));
        assert!(token.replace().is_err());
        assert!(token.with(|text| text == "old"));
    }

    #[test]
    fn token_is_found_as_a_word_of_a_text() {
        let token = Token::configured("a.sec/ret=");
        for text in
            [&b"a.sec/ret="[..], b"Bearer a.sec/ret=", b"t=a.sec/ret=; b", b"\xffa.sec/ret=\xff", b"\"a.sec/ret=\""]
        {
            assert!(token.is_in(text), "{text:?}");
        }
        for text in [&b""[..], b"a.sec/ret", b"A.sec/ret=", b"xa.sec/ret=", b"a.sec/ret=x", b"a.sec/re\xff="] {
            assert!(!token.is_in(text), "{text:?}");
        }
        assert!(!Token::configured("").is_in(b""));
    }

    #[test]
    fn configured_token_is_not_replaced() {
        let token = Token::configured("old");
        assert!(!token.is_replaceable() && token.replace().is_err());
        assert!(token.with(|text| text == "old"));
    }
}
