//! Sessions of browsers: a random id each, kept in memory only, so that a restart ends them all. So
//! does a new token.

use std::collections::HashMap;

use control::random_id;
use model::Timestamp;
use parking_lot::Mutex;

/// The cookie of a session. Not `__Host-`: browsers take that only over https, and this listens on
/// http.
pub(super) const COOKIE_NAME: &str = "agentgazer_session";

const LIFE_SECONDS: i64 = 7 * 24 * 60 * 60;

/// More than people need; without a bound, whoever knows the token could fill the memory.
const MAX_SESSIONS: usize = 1000;

/// The open sessions: when each ends.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Timestamp>>);

impl Sessions {
    /// Opens a session and returns its id. Fails if the system has no randomness.
    pub(crate) fn open(&self, now: Timestamp) -> Result<String, getrandom::Error> {
        let id = random_id()?;
        let mut sessions = self.0.lock();
        sessions.retain(|_, end| *end > now);
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, end)| **end).map(|(id, _)| id.clone());
            oldest.and_then(|id| sessions.remove(&id));
        }
        sessions.insert(id.clone(), Timestamp::from_millis(now.as_millis() + LIFE_SECONDS * 1000));
        Ok(id)
    }

    /// Whether `id` is an open session.
    pub(crate) fn is_open(&self, id: &str, now: Timestamp) -> bool {
        self.0.lock().get(id).is_some_and(|end| *end > now)
    }

    /// Ends a session.
    pub(crate) fn close(&self, id: &str) {
        self.0.lock().remove(id);
    }

    /// How many are open.
    pub(crate) fn count(&self, now: Timestamp) -> usize {
        self.0.lock().values().filter(|end| **end > now).count()
    }

    /// Ends all of them.
    pub(crate) fn close_all(&self) {
        self.0.lock().clear();
    }
}

/// The `Set-Cookie` that starts a session.
pub(crate) fn set_cookie(id: &str) -> String {
    format!("{COOKIE_NAME}={id}; Path=/; HttpOnly; SameSite=Strict; Max-Age={LIFE_SECONDS}")
}

/// The `Set-Cookie` that ends one.
pub(crate) fn clear_cookie() -> String {
    format!("{COOKIE_NAME}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_session_ends_after_seven_days_or_when_it_is_closed() {
        let sessions = Sessions::default();
        let start = Timestamp::from_millis(1_000);
        let day = |days: i64| Timestamp::from_millis(1_000 + days * 24 * 60 * 60 * 1000);
        let id = sessions.open(start).unwrap();
        assert!(sessions.is_open(&id, day(6)));
        assert!(!sessions.is_open(&id, day(7)));
        assert!(!sessions.is_open("", start));

        sessions.close(&id);
        assert!(!sessions.is_open(&id, start));
    }

    #[test]
    fn sessions_are_bounded_and_the_oldest_leaves() {
        let sessions = Sessions::default();
        let first = sessions.open(Timestamp::from_millis(0)).unwrap();
        for moment in 1..=MAX_SESSIONS as i64 {
            sessions.open(Timestamp::from_millis(moment)).unwrap();
        }
        assert!(!sessions.is_open(&first, Timestamp::from_millis(1)));
        assert_eq!(sessions.0.lock().len(), MAX_SESSIONS);
    }
}
