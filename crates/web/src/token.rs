//! The token that every caller must know, and how it is replaced.

use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::RwLock;
use secrecy::{ExposeSecret, SecretString};

use crate::gate::random_id;

type Keep = dyn Fn(&SecretString) -> io::Result<()> + Send + Sync;

/// The token. Clones are the same one.
#[derive(Clone)]
pub struct Token {
    current: Arc<RwLock<SecretString>>,
    keep: Option<Arc<Keep>>,
}

impl Token {
    /// The fewest characters of a token that an operator may set: 16 random ones are out of reach of guessing.
    pub const MIN_LENGTH: usize = 16;

    /// A fresh token that nobody can guess. Fails if the system has no randomness.
    pub fn random() -> io::Result<SecretString> {
        random_id().map(SecretString::from).map_err(io::Error::other)
    }

    /// One that the operator's configuration sets: only there it can be changed.
    pub fn configured(token: impl Into<SecretString>) -> Token {
        Token { current: Arc::new(RwLock::new(token.into())), keep: None }
    }

    /// One of our own making: `keep` stores another in its place.
    pub fn kept(
        token: impl Into<SecretString>,
        keep: impl Fn(&SecretString) -> io::Result<()> + Send + Sync + 'static,
    ) -> Token {
        Token { current: Arc::new(RwLock::new(token.into())), keep: Some(Arc::new(keep)) }
    }

    /// Whether it can be replaced while the server runs.
    pub(crate) fn is_replaceable(&self) -> bool {
        self.keep.is_some()
    }

    /// Makes another one: stored first, so that what lets people in is never lost. The one before lets nobody in any more.
    pub(crate) fn replace(&self) -> io::Result<SecretString> {
        let keep = self.keep.as_ref().ok_or_else(|| io::Error::other("the configuration sets the token"))?;
        let fresh = Token::random()?;
        let mut current = self.current.write();
        keep(&fresh)?;
        *current = fresh.clone();
        Ok(fresh)
    }

    /// Does something with its text.
    pub(crate) fn with<R>(&self, look: impl FnOnce(&str) -> R) -> R {
        look(self.current.read().expose_secret())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_token_that_cannot_be_stored_stays() {
        let token = Token::kept("old", |_| Err(io::Error::other("the disk is full")));
        assert!(token.replace().is_err());
        assert!(token.with(|text| text == "old"));
    }

    #[test]
    fn a_token_of_the_configuration_stays() {
        let token = Token::configured("old");
        assert!(!token.is_replaceable() && token.replace().is_err());
        assert!(token.with(|text| text == "old"));
    }
}
