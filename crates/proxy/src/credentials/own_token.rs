//! The token of the first start, which no provider may get.

use std::fmt;
use std::sync::Arc;

type HasToken = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Recognises the token of the first start. Clones share the function.
#[derive(Clone)]
pub struct OwnToken(Arc<HasToken>);

impl OwnToken {
    /// `has_token` says whether a text contains the token. The time that it takes must not depend
    /// on how near a wrong token is.
    pub fn new(has_token: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> OwnToken {
        OwnToken(Arc::new(has_token))
    }

    /// Whether `text` contains the token.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        (self.0)(text)
    }
}

impl Default for OwnToken {
    /// No text is the token.
    fn default() -> OwnToken {
        OwnToken::new(|_| false)
    }
}

impl fmt::Debug for OwnToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnToken")
    }
}
