//! Sessions of browsers: a random id each, of which only a hash is kept. They survive a restart and
//! end with a new token.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use control::{Token, random_id};
use model::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::session_storage::SessionStorage;

/// The cookie of a session. Not `__Host-`: browsers take that only over https, and this listens on
/// http.
pub(super) const COOKIE_NAME: &str = "agentgazer_session";

const LIFE_SECONDS: i64 = 7 * 24 * 60 * 60;

/// More than people need; without a bound, anybody who knows the token could fill memory and disk.
const MAX_SESSIONS: usize = 1000;

/// A login does not wait longer for a disk that hangs.
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// The open sessions. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct Sessions(Arc<Inner>);

struct Inner {
    /// When each session ends, by the hash of its id.
    ends: Mutex<HashMap<String, Timestamp>>,
    storage: SessionStorage,
}

impl Sessions {
    /// The sessions that were open when the last server stopped.
    pub(crate) fn restore(storage: SessionStorage) -> Sessions {
        let ends = Mutex::new(read(storage.text()));
        Sessions(Arc::new(Inner { ends, storage }))
    }

    /// Opens a session for someone who knows `token` and returns its id. Fails if the system has no
    /// randomness.
    pub(crate) async fn open(&self, token: &Token, now: Timestamp) -> Result<String, getrandom::Error> {
        let id = random_id()?;
        self.insert(hash(&id, token), now);
        self.store().await;
        Ok(id)
    }

    fn insert(&self, hash: String, now: Timestamp) {
        let mut ends = self.0.ends.lock();
        ends.retain(|_, end| *end > now);
        if ends.len() >= MAX_SESSIONS {
            let oldest = ends.iter().min_by_key(|(_, end)| **end).map(|(hash, _)| hash.clone());
            oldest.and_then(|hash| ends.remove(&hash));
        }
        ends.insert(hash, Timestamp::from_millis(now.as_millis() + LIFE_SECONDS * 1000));
    }

    /// Whether `id` is a session that was opened with `token` and has not ended.
    pub(crate) fn is_open(&self, id: &str, token: &Token, now: Timestamp) -> bool {
        self.0.ends.lock().get(&hash(id, token)).is_some_and(|end| *end > now)
    }

    /// Ends a session.
    pub(crate) async fn close(&self, id: &str, token: &Token) {
        self.0.ends.lock().remove(&hash(id, token));
        self.store().await;
    }

    /// How many are open.
    pub(crate) fn count(&self, now: Timestamp) -> usize {
        self.0.ends.lock().values().filter(|end| **end > now).count()
    }

    /// Ends all of them.
    pub(crate) async fn close_all(&self) {
        self.0.ends.lock().clear();
        self.store().await;
    }

    /// Stores what is open now. What cannot be stored holds until the next restart.
    async fn store(&self) {
        let sessions = self.clone();
        let stored = tokio::task::spawn_blocking(move || {
            let Inner { ends, storage } = &*sessions.0;
            storage.write(|| write(&ends.lock()))
        });
        match tokio::time::timeout(STORE_TIMEOUT, stored).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => tracing::warn!(%error, "sessions could not be stored: a restart forgets the change"),
            Ok(Err(error)) => tracing::warn!(%error, "sessions could not be stored: a restart forgets the change"),
            Err(_) => tracing::warn!("sessions are still being stored: the disk is slow"),
        }
    }
}

/// What is kept of a session's id. The token is part of it, so that a session ends with the token
/// it was opened with, also if that was changed while no server ran.
fn hash(id: &str, token: &Token) -> String {
    let digest = token.with(|token| Sha256::new().chain_update(id).chain_update([0]).chain_update(token).finalize());
    hexadecimal(&digest)
}

/// Lines of a hash and a time in milliseconds.
fn write(ends: &HashMap<String, Timestamp>) -> String {
    ends.iter().fold(String::new(), |mut text, (hash, end)| {
        let _ = writeln!(text, "{hash} {}", end.as_millis());
        text
    })
}

/// Reads these lines; a damaged one is a session less.
fn read(text: &str) -> HashMap<String, Timestamp> {
    let line = |line: &str| {
        let (hash, end) = line.split_once(' ')?;
        (hash.len() == 64).then_some((hash.to_owned(), Timestamp::from_millis(end.parse().ok()?)))
    };
    text.lines().filter_map(line).take(MAX_SESSIONS).collect()
}

/// The `Set-Cookie` that starts a session. `Lax`, so that a link in an alert shows its incident:
/// with `Strict` a browser would follow it without the session. Changes are kept from other sites
/// by `refuse_other_sites`.
pub(crate) fn set_cookie(id: &str) -> String {
    format!("{COOKIE_NAME}={id}; Path=/; HttpOnly; SameSite=Lax; Max-Age={LIFE_SECONDS}")
}

/// The `Set-Cookie` that ends one.
pub(crate) fn clear_cookie() -> String {
    format!("{COOKIE_NAME}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0")
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn sessions() -> (Sessions, Token) {
        (Sessions::restore(SessionStorage::default()), Token::configured("token"))
    }

    #[tokio::test]
    async fn session_ends_after_seven_days_or_when_it_is_closed() {
        let (sessions, token) = sessions();
        let start = Timestamp::from_millis(1_000);
        let day = |days: i64| Timestamp::from_millis(1_000 + days * 24 * 60 * 60 * 1000);
        let id = sessions.open(&token, start).await.unwrap();
        assert!(sessions.is_open(&id, &token, day(6)));
        assert!(!sessions.is_open(&id, &token, day(7)));
        assert!(!sessions.is_open("", &token, start));
        assert!(!sessions.is_open(&id, &Token::configured("another"), start), "it ends with its token");

        sessions.close(&id, &token).await;
        assert!(!sessions.is_open(&id, &token, start));
    }

    #[tokio::test]
    async fn sessions_are_bounded_and_the_oldest_leaves() {
        let (sessions, token) = sessions();
        let first = sessions.open(&token, Timestamp::from_millis(0)).await.unwrap();
        for moment in 1..=MAX_SESSIONS as i64 {
            sessions.insert(moment.to_string(), Timestamp::from_millis(moment));
        }
        assert!(!sessions.is_open(&first, &token, Timestamp::from_millis(1)));
        assert_eq!(sessions.0.ends.lock().len(), MAX_SESSIONS);
    }

    #[tokio::test]
    async fn stored_sessions_are_read_again_and_hold_no_id() {
        let written = Arc::new(Mutex::new(String::new()));
        let file = Arc::clone(&written);
        let storage = SessionStorage::new(String::new(), move |text| {
            *file.lock() = text.to_owned();
            Ok(())
        });
        let (sessions, token) = (Sessions::restore(storage), Token::configured("token"));
        let now = Timestamp::from_millis(1_000);
        let id = sessions.open(&token, now).await.unwrap();
        let text = written.lock().clone();
        assert!(!text.contains(&id) && text.lines().count() == 1, "{text}");

        let damaged = format!("nonsense\n{text}{} x\n", "0".repeat(64));
        let restored = Sessions::restore(SessionStorage::new(damaged, |_| Ok(())));
        assert!(restored.is_open(&id, &token, now) && restored.count(now) == 1);
        sessions.close_all().await;
        assert_eq!(*written.lock(), "");
    }
}
