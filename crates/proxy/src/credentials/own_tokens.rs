//! The tokens that no provider may get and that have no prefix: the token of the first start, and
//! tokens that name an agent.

use std::fmt;
use std::sync::Arc;

type HasToken = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Recognises these tokens. Clones share the function.
#[derive(Clone)]
pub struct OwnTokens(Arc<HasToken>);

impl OwnTokens {
    /// `has_token` says whether a text contains one of them. The time that it takes must not depend
    /// on how near a wrong token is.
    pub fn new(has_token: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> OwnTokens {
        OwnTokens(Arc::new(has_token))
    }

    /// Whether `text` contains one of them.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        (self.0)(text)
    }
}

impl Default for OwnTokens {
    /// No text is such a token.
    fn default() -> OwnTokens {
        OwnTokens::new(|_| false)
    }
}

impl fmt::Debug for OwnTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnTokens")
    }
}
