//! The keys that an issuer publishes. They are fetched when a token names one that is not known, but
//! not more often than every half minute: anybody can invent names.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use alerts::Fetcher;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use model::Target;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::JwtRefusal;

/// The least time between two fetches.
const PAUSE: Duration = Duration::from_secs(30);
/// After this time keys are fetched again, so that one that was withdrawn stops working.
const FRESH: Duration = Duration::from_secs(600);
/// More keys than issuers publish.
const MAX_KEYS: usize = 100;

/// The keys of an issuer.
#[derive(Debug)]
pub(super) struct KeySet {
    url: Target,
    fetcher: Fetcher,
    known: RwLock<Known>,
    /// When a fetch was last begun. Its holder fetches; others wait for it.
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
    pub(super) fn new(url: Target, allow_private: bool) -> KeySet {
        let fetcher = Fetcher::new(allow_private);
        KeySet { url, fetcher, known: RwLock::default(), fetching: Mutex::default() }
    }

    /// The first key that fits.
    pub(super) async fn find(&self, fits: impl Fn(&Jwk) -> bool) -> Result<Jwk, JwtRefusal> {
        let known = self.known();
        if let Some(key) = known.find(&fits).filter(|_| known.is_fresh()) {
            return Ok(key);
        }
        self.fetch(known.fetched_at).await;
        let known = self.known();
        match known.find(&fits) {
            Some(key) => Ok(key),
            None if known.fetched_at.is_none() => Err(JwtRefusal::NoKeys),
            None => Err(JwtRefusal::UnknownKey),
        }
    }

    fn known(&self) -> Known {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fetches the keys, unless somebody else has since `seen` or the last fetch is too recent. If
    /// it fails, the earlier keys hold: an issuer that is down must not stop all agents.
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

/// The keys in a JWK set. Keys of a kind that is not known are skipped, as RFC 7517 asks.
fn read_keys(body: &[u8]) -> Result<Vec<Jwk>, String> {
    let set: Value = serde_json::from_slice(body).map_err(|error| format!("no JSON: {error}"))?;
    let keys = set.get("keys").and_then(Value::as_array).ok_or("no list of keys")?;
    let read = keys.iter().take(MAX_KEYS).filter_map(|key| serde_json::from_value(key.clone()).ok());
    Ok(JwkSet { keys: read.collect() }.keys)
}
