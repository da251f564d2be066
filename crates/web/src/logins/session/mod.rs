//! Sessions of browsers: a random id each, of which only a hash is kept. They survive a restart,
//! hold on every server of a database, and end with the token, the password or the role that they
//! were opened with.

mod lines;
mod owner;
mod shared;
mod storage;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use control::{Token, random_id};
use model::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

pub(crate) use self::owner::{FederatedPerson, Owner};
pub use self::storage::SessionStorage;

use self::owner::LIFE_SECONDS;

/// The cookie of a session. Not `__Host-`: browsers take that only over https, and this listens on
/// http.
pub(crate) const COOKIE_NAME: &str = "agentgazer_session";

/// More than people need; without a limit, anyone who knows the token could fill memory and disk.
const MAX_SESSIONS: usize = 1000;

/// Per user, so that no one can end the sessions of others by opening many.
const MAX_OF_ONE: usize = 50;

/// How much of a session's hash is its public name.
const HANDLE_LENGTH: usize = 16;

/// A login does not wait longer for a disk that hangs.
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// An open session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) owner: Owner,
    pub(crate) opened_at: Timestamp,
    pub(crate) ends_at: Timestamp,
    pub(crate) address: Option<IpAddr>,
}

/// The open sessions. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct Sessions(Arc<Inner>);

struct Inner {
    /// By the hash of their id.
    open: Mutex<HashMap<String, Session>>,
    storage: SessionStorage,
    /// Ended here, and not yet deleted from the database.
    ended: Mutex<HashSet<String>>,
    /// When all of them were last read from the database for live streams.
    refreshed: Mutex<Option<Instant>>,
}

impl Sessions {
    /// The sessions that were open when the last server stopped.
    pub(crate) fn restore(storage: SessionStorage) -> Sessions {
        let open = Mutex::new(lines::read(storage.text()));
        Sessions(Arc::new(Inner { open, storage, ended: Mutex::default(), refreshed: Mutex::default() }))
    }

    /// Opens a session and returns its id, which is always a new one. Fails if the system has no
    /// randomness.
    pub(crate) async fn open(
        &self,
        owner: Owner,
        address: Option<IpAddr>,
        token: &Token,
        now: Timestamp,
    ) -> Result<String, getrandom::Error> {
        let id = random_id()?;
        let ends_at = Timestamp::from_millis(now.as_millis() + owner.life_seconds() * 1000);
        let hash = hash(&id, &owner, token);
        let session = Session { owner, opened_at: now, ends_at, address };
        self.refresh_all().await;
        let dropped = self.insert(hash.clone(), session.clone(), now);
        if let Some(store) = self.0.storage.shared() {
            self.keep(store, &hash, &session, now).await;
        }
        self.store(dropped).await;
        Ok(id)
    }

    /// Returns the sessions that were dropped to stay within the limits.
    fn insert(&self, hash: String, session: Session, now: Timestamp) -> Vec<String> {
        let mut open = self.0.open.lock();
        open.retain(|_, session| session.ends_at > now);
        let mut dropped = None;
        let same = |other: &Session| is_same_person(&other.owner, &session.owner);
        if open.values().filter(|other| same(other)).count() >= MAX_OF_ONE {
            dropped = drop_oldest(&mut open, same);
        }
        if open.len() >= MAX_SESSIONS {
            dropped = drop_oldest(&mut open, |_| true);
        }
        open.insert(hash, session);
        dropped.into_iter().collect()
    }

    /// The session with this id that has not ended, and its handle. The caller checks whether its
    /// user still exists.
    pub(crate) fn find(&self, id: &str, token: &Token, now: Timestamp) -> Option<(String, Session)> {
        let open = self.0.open.lock();
        let key = keys(id, token).into_iter().find(|key| open.contains_key(key))?;
        let session = open.get(&key).filter(|session| session.ends_at > now)?;
        Some((handle(&key), session.clone()))
    }

    /// Ends a session.
    pub(crate) async fn close(&self, id: &str, token: &Token) {
        let keys = keys(id, token);
        self.retain(|key, _| !keys.contains(key)).await;
    }

    /// Ends the session with this handle; `false` if there is none.
    pub(crate) async fn close_by_handle(&self, handle_to_end: &str) -> bool {
        self.refresh_all().await;
        let known = self.0.open.lock().keys().any(|key| handle(key) == handle_to_end);
        if known {
            self.retain(|key, _| handle(key) != handle_to_end).await;
        }
        known
    }

    /// Ends all sessions of the person with this [`Owner::id`].
    pub(crate) async fn close_of_user(&self, user: &str) {
        self.retain(|_, session| session.owner.id().as_deref() != Some(user)).await;
    }

    /// Ends all sessions.
    pub(crate) async fn close_all(&self) {
        self.retain(|_, _| false).await;
    }

    /// Ends the sessions that were opened with the token of the first start.
    pub(crate) async fn close_of_first_token(&self) {
        self.retain(|_, session| session.owner != Owner::FirstToken).await;
    }

    async fn retain(&self, keep: impl Fn(&String, &Session) -> bool) {
        self.refresh_all().await;
        let mut ended = Vec::new();
        self.0.open.lock().retain(|key, session| {
            let stays = keep(key, session);
            ended.extend((!stays).then(|| key.clone()));
            stays
        });
        self.store(ended).await;
    }

    /// The open sessions, newest first, by their handles.
    pub(crate) fn list(&self, now: Timestamp) -> Vec<(String, Session)> {
        let open = self.0.open.lock();
        let open = open.iter().filter(|(_, session)| session.ends_at > now);
        let mut list: Vec<_> = open.map(|(key, session)| (handle(key), session.clone())).collect();
        list.sort_by(|(a, left), (b, right)| (right.opened_at, a).cmp(&(left.opened_at, b)));
        list
    }

    /// Stores that the sessions in `ended` are over. A session whose end cannot be stored is open
    /// again after the next restart.
    async fn store(&self, ended: Vec<String>) {
        match self.0.storage.shared() {
            Some(store) if !ended.is_empty() => self.delete(store, ended).await,
            Some(_) => {}
            None => self.write_file().await,
        }
    }

    async fn write_file(&self) {
        let sessions = self.clone();
        let stored = tokio::task::spawn_blocking(move || {
            let Inner { open, storage, .. } = &*sessions.0;
            storage.write(|| lines::write(&open.lock()))
        });
        match tokio::time::timeout(STORE_TIMEOUT, stored).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => tracing::warn!(%error, "sessions could not be stored: a restart forgets the change"),
            Ok(Err(error)) => tracing::warn!(%error, "sessions could not be stored: a restart forgets the change"),
            Err(_) => tracing::warn!("sessions are still being stored: the disk is slow"),
        }
    }
}

fn is_same_person(one: &Owner, other: &Owner) -> bool {
    one.id() == other.id()
}

fn drop_oldest(open: &mut HashMap<String, Session>, of: impl Fn(&Session) -> bool) -> Option<String> {
    let oldest = open.iter().filter(|(_, session)| of(session)).min_by_key(|(_, session)| session.ends_at);
    let key = oldest.map(|(key, _)| key.clone())?;
    open.remove(&key).map(|_| key)
}

/// The keys that a session may be stored under. The id in the cookie does not show which owner the
/// session has.
fn keys(id: &str, token: &Token) -> [String; 2] {
    let user = Owner::User { id: String::new(), version: 0 };
    [hash(id, &Owner::FirstToken, token), hash(id, &user, token)]
}

/// The hash of a session's id; the id itself is not stored. The hash of a session of the first
/// token includes the token: the session ends with it, even if the token was changed while no
/// server ran.
fn hash(id: &str, owner: &Owner, token: &Token) -> String {
    let digest = match owner {
        Owner::FirstToken => {
            token.with(|token| Sha256::new().chain_update(id).chain_update([0]).chain_update(token).finalize())
        }
        Owner::User { .. } | Owner::Federated(_) => Sha256::new().chain_update("user\0\0").chain_update(id).finalize(),
    };
    lines::hexadecimal(&digest)
}

/// The public name of a session: a part of its hash, which reveals nothing.
fn handle(hash: &str) -> String {
    hash.chars().take(HANDLE_LENGTH).collect()
}

/// The `Set-Cookie` that starts a session. `Lax`, so that a link in an alert shows its incident:
/// with `Strict` a browser would follow it without the session. Changes are kept from other sites
/// by `refuse_other_sites`.
pub(crate) fn set_cookie(id: &str) -> String {
    format!("{COOKIE_NAME}={id}; Path=/; HttpOnly; SameSite=Lax; Max-Age={LIFE_SECONDS}")
}

/// The `Set-Cookie` that ends a session.
pub(crate) fn clear_cookie() -> String {
    format!("{COOKIE_NAME}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0")
}
