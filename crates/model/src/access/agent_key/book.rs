//! The agent keys in force: read by every call, replaced as a whole when one is added or revoked.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use arc_swap::ArcSwap;

use super::refused_callers::RefusedCallers;
use super::{AgentKey, AgentKeyId, KeyHash, RefusedCaller};
use crate::Timestamp;

/// Why a call is refused because of its agent key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum KeyRefusal {
    /// A key is required, and the call has none.
    Missing,
    /// It does not have the form of a key: it was mistyped or cut.
    Malformed,
    /// There is no such key, or it was revoked.
    Unknown,
    /// It has expired.
    Expired,
    /// It is for another agent than the path names.
    OtherAgent,
    /// The key is for several agents, and the path names none.
    NoAgent,
    /// The call has two different keys.
    Several,
    /// The call has a token instead of a key, and the token is not accepted.
    BadToken,
}

impl KeyRefusal {
    /// All reasons.
    pub const ALL: [KeyRefusal; 8] = [
        KeyRefusal::Missing,
        KeyRefusal::Malformed,
        KeyRefusal::Unknown,
        KeyRefusal::Expired,
        KeyRefusal::OtherAgent,
        KeyRefusal::NoAgent,
        KeyRefusal::Several,
        KeyRefusal::BadToken,
    ];

    /// Whether the caller has a key or token that is not accepted: it was revoked, it is another
    /// agent's, or it is a guess.
    pub fn is_of_wrong_key(self) -> bool {
        use KeyRefusal::{BadToken, Expired, Malformed, OtherAgent, Unknown};
        matches!(self, Malformed | Unknown | Expired | OtherAgent | BadToken)
    }

    /// Its name in API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A key that calls are checked with.
#[derive(Debug)]
pub struct KeyInForce {
    /// The key as it is stored.
    pub key: AgentKey,
    /// Milliseconds; `i64::MIN` if never used.
    last_use: AtomicI64,
    /// The part of `last_use` that is stored.
    stored_use: AtomicI64,
    refused: AtomicU64,
    /// Calls that began with the key hold it.
    is_revoked: AtomicBool,
}

impl KeyInForce {
    fn new(key: AgentKey) -> KeyInForce {
        let last_use = key.last_used_at.map_or(i64::MIN, Timestamp::as_millis);
        let [last_use, stored_use] = [last_use, last_use].map(AtomicI64::new);
        KeyInForce { key, last_use, stored_use, refused: AtomicU64::new(0), is_revoked: AtomicBool::new(false) }
    }

    /// Whether it has expired.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.key.expires_at.is_some_and(|end| now >= end)
    }

    /// Whether it was revoked.
    pub fn is_revoked(&self) -> bool {
        self.is_revoked.load(Ordering::Relaxed)
    }

    /// Records that a call used it.
    pub fn note_use(&self, now: Timestamp) {
        self.last_use.store(now.as_millis(), Ordering::Relaxed);
    }

    /// Counts a refused call.
    pub fn note_refusal(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// When it was last used.
    pub fn last_used_at(&self) -> Option<Timestamp> {
        Some(self.last_use.load(Ordering::Relaxed)).filter(|at| *at != i64::MIN).map(Timestamp::from_millis)
    }

    /// How many calls with it were refused since the start: after its expiry, or for another agent.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

/// The agent keys in force. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct AgentKeys(Arc<Book>);

#[derive(Debug, Default)]
struct Book {
    keys: ArcSwap<HashMap<KeyHash, Arc<KeyInForce>>>,
    refused: [AtomicU64; KeyRefusal::ALL.len()],
    refused_callers: RefusedCallers,
}

impl AgentKeys {
    /// Creates a set of `keys`.
    pub fn new(keys: impl IntoIterator<Item = AgentKey>) -> AgentKeys {
        let keys: HashMap<_, _> = keys.into_iter().map(|key| (key.hash, Arc::new(KeyInForce::new(key)))).collect();
        AgentKeys(Arc::new(Book { keys: ArcSwap::from_pointee(keys), ..Book::default() }))
    }

    /// The key with this hash.
    pub fn find(&self, hash: &KeyHash) -> Option<Arc<KeyInForce>> {
        self.0.keys.load().get(hash).cloned()
    }

    /// All keys, oldest first.
    pub fn all(&self) -> Vec<Arc<KeyInForce>> {
        let mut keys: Vec<_> = self.0.keys.load().values().cloned().collect();
        keys.sort_unstable_by_key(|it| it.key.id);
        keys
    }

    /// Adds a key.
    pub fn add(&self, key: AgentKey) {
        let key = Arc::new(KeyInForce::new(key));
        self.0.keys.rcu(|keys| {
            let mut keys = HashMap::clone(keys);
            keys.insert(key.key.hash, Arc::clone(&key));
            keys
        });
    }

    /// Removes a key. It is refused from the next call on.
    pub fn remove(&self, id: AgentKeyId) {
        if let Some(key) = self.0.keys.load().values().find(|it| it.key.id == id) {
            key.is_revoked.store(true, Ordering::Relaxed);
        }
        self.0.keys.rcu(|keys| {
            let mut keys = HashMap::clone(keys);
            keys.retain(|_, it| it.key.id != id);
            keys
        });
    }

    /// Counts a refused call of the client at `address`. Returns how many wrong keys came from
    /// there if that should be reported.
    pub fn note_refusal(&self, why: KeyRefusal, address: IpAddr, now: Timestamp) -> Option<u64> {
        self.0.refused[why as usize].fetch_add(1, Ordering::Relaxed);
        why.is_of_wrong_key().then(|| self.0.refused_callers.note(address, now)).flatten()
    }

    /// The clients whose keys were refused since the start, the newest first.
    pub fn refused_callers(&self) -> Vec<RefusedCaller> {
        self.0.refused_callers.list()
    }

    /// How many calls were refused since the start, by reason.
    pub fn refusals(&self) -> [(KeyRefusal, u64); KeyRefusal::ALL.len()] {
        KeyRefusal::ALL.map(|why| (why, self.0.refused[why as usize].load(Ordering::Relaxed)))
    }

    /// The last uses that are not stored yet. Call [`AgentKeys::note_stored_uses`] once they are.
    pub fn unstored_uses(&self) -> Vec<(AgentKeyId, Timestamp)> {
        let keys = self.0.keys.load();
        let is_new =
            |it: &&Arc<KeyInForce>| it.last_use.load(Ordering::Relaxed) != it.stored_use.load(Ordering::Relaxed);
        let used = keys.values().filter(is_new);
        used.filter_map(|it| Some((it.key.id, it.last_used_at()?))).collect()
    }

    /// Records that these last uses are stored.
    pub fn note_stored_uses(&self, uses: &[(AgentKeyId, Timestamp)]) {
        let uses: HashMap<_, _> = uses.iter().copied().collect();
        for it in self.0.keys.load().values() {
            if let Some(at) = uses.get(&it.key.id) {
                it.stored_use.store(at.as_millis(), Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;
    use crate::AgentPattern;

    fn key(text: &str) -> AgentKey {
        AgentKey {
            id: AgentKeyId::new(),
            name: None,
            agents: AgentPattern::parse("bot").unwrap(),
            hash: KeyHash::of(text),
            created_at: Timestamp::from_millis(0),
            expires_at: Some(Timestamp::from_millis(1_000)),
            last_used_at: None,
        }
    }

    #[test]
    fn removed_key_is_not_found() {
        let keys = AgentKeys::new([key("one"), key("two")]);
        keys.add(key("three"));
        let three = keys.find(&KeyHash::of("three")).unwrap();
        keys.remove(three.key.id);
        assert!(keys.find(&KeyHash::of("three")).is_none() && keys.find(&KeyHash::of("one")).is_some());
        assert_eq!(keys.all().len(), 2);
    }

    #[test]
    fn key_expires_at_its_end() {
        let keys = AgentKeys::new([key("one")]);
        let one = keys.find(&KeyHash::of("one")).unwrap();
        let expired = [999, 1_000, 1_001].map(|at| one.is_expired(Timestamp::from_millis(at)));
        assert_eq!(expired, [false, true, true]);
    }

    #[test]
    fn each_use_is_stored_once() {
        let keys = AgentKeys::new([key("one"), key("two")]);
        let one = keys.find(&KeyHash::of("one")).unwrap();
        one.note_use(Timestamp::from_millis(5));
        let uses = keys.unstored_uses();
        assert_eq!(uses, [(one.key.id, Timestamp::from_millis(5))]);
        one.note_use(Timestamp::from_millis(6));
        keys.note_stored_uses(&uses);
        assert_eq!(keys.unstored_uses(), [(one.key.id, Timestamp::from_millis(6))]);
        keys.note_stored_uses(&keys.unstored_uses());
        assert!(keys.unstored_uses().is_empty());
    }

    #[test]
    fn refusals_are_counted_by_reason() {
        let keys = AgentKeys::default();
        keys.note_refusal(KeyRefusal::Expired, IpAddr::from([192, 0, 2, 1]), Timestamp::from_millis(0));
        keys.note_refusal(KeyRefusal::Expired, IpAddr::from([192, 0, 2, 1]), Timestamp::from_millis(0));
        let counted = keys.refusals().into_iter().filter(|(_, count)| *count > 0).collect::<Vec<_>>();
        assert_eq!(counted, [(KeyRefusal::Expired, 2)]);
    }
}
