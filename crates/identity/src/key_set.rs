//! The keys that an issuer publishes. They are fetched when a token names an unknown key, but at
//! most every half minute: anyone can invent key names.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use egress::Fetcher;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use model::Target;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::TokenRefusal;

/// The least time between two fetches.
const PAUSE: Duration = Duration::from_secs(30);
/// The age at which keys are fetched again, so that a withdrawn key stops working.
const FRESH: Duration = Duration::from_secs(600);
/// More keys than issuers publish.
const MAX_KEYS: usize = 100;

/// The keys of an issuer.
#[derive(Debug)]
pub(crate) struct KeySet {
    url: Target,
    fetcher: Fetcher,
    known: RwLock<Known>,
    /// When a fetch was last started. The holder of the lock fetches; others wait.
    fetching: Mutex<Option<Instant>>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    keys: Arc<Vec<Jwk>>,
    fetched_at: Option<Instant>,
}

impl Known {
    fn is_fresh(&self) -> bool {
        self.fetched_at.is_some_and(|at| at.elapsed() < FRESH)
    }

    fn find(&self, fits: &impl Fn(&Jwk) -> bool) -> Option<Jwk> {
        self.keys.iter().find(|key| fits(key)).cloned()
    }
}

impl KeySet {
    pub(crate) fn new(url: Target, allow_private: bool) -> KeySet {
        let fetcher = Fetcher::new(allow_private);
        KeySet { url, fetcher, known: RwLock::default(), fetching: Mutex::default() }
    }

    /// The first matching key.
    pub(crate) async fn find(&self, fits: impl Fn(&Jwk) -> bool) -> Result<Jwk, TokenRefusal> {
        let known = self.known();
        if let Some(key) = known.find(&fits).filter(|_| known.is_fresh()) {
            return Ok(key);
        }
        self.fetch(known.fetched_at).await;
        let known = self.known();
        match known.find(&fits) {
            Some(key) => Ok(key),
            None if known.fetched_at.is_none() => Err(TokenRefusal::NoKeys),
            None => Err(TokenRefusal::UnknownKey),
        }
    }

    fn known(&self) -> Known {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fetches the keys, unless another task has since `seen` or the last fetch is too recent. If
    /// it fails, the earlier keys stay valid: an issuer that is down must not stop all agents.
    async fn fetch(&self, seen: Option<Instant>) {
        let mut last = self.fetching.lock().await;
        let is_too_soon = last.is_some_and(|last| last.elapsed() < PAUSE);
        if is_too_soon || self.known().fetched_at != seen {
            return;
        }
        *last = Some(Instant::now());
        let read = self.fetcher.get(&self.url).await.and_then(|body| read_keys(&body));
        match read {
            Ok(keys) => {
                let known = Known { keys: Arc::new(keys), fetched_at: Some(Instant::now()) };
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
            }
            Err(error) => tracing::warn!(error, "the keys of the issuer of tokens cannot be fetched"),
        }
    }
}

/// The keys in a JWK set. Keys of an unknown kind are skipped, as RFC 7517 requires.
fn read_keys(body: &[u8]) -> Result<Vec<Jwk>, String> {
    let set: Value = serde_json::from_slice(body).map_err(|error| format!("no JSON: {error}"))?;
    let keys = set.get("keys").and_then(Value::as_array).ok_or("no list of keys")?;
    let read = keys.iter().take(MAX_KEYS).filter_map(|key| serde_json::from_value(key.clone()).ok());
    Ok(JwkSet { keys: read.collect() }.keys)
}
