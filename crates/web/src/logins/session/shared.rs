//! Sessions in a database that several servers use. Memory holds a copy: a request first reads its
//! session again, and uses the copy alone while the database is unreachable.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use control::Token;
use identity::FinishedLogin;
use model::Timestamp;
use store::{Store, StoreError};

use super::{Session, Sessions, keys, lines};

/// A request does not wait longer for the database.
const TIMEOUT: Duration = Duration::from_secs(1);

/// How old the copy may be that decides whether a live stream goes on.
const STREAM_AGE: Duration = Duration::from_secs(1);

impl Sessions {
    /// Reads the session with this id again, which another server may have opened or ended.
    pub(crate) async fn refresh(&self, id: &str, token: &Token) {
        let Some(store) = self.0.storage.shared() else { return };
        let keys = keys(id, token);
        if let Some(kept) = self.read(store, store.find_sessions(&keys)).await {
            let mut open = self.0.open.lock();
            open.retain(|key, _| !keys.contains(key));
            open.extend(kept);
        }
    }

    /// Reads all sessions again.
    pub(crate) async fn refresh_all(&self) {
        let Some(store) = self.0.storage.shared() else { return };
        if let Some(kept) = self.read(store, store.all_sessions()).await {
            *self.0.open.lock() = kept;
        }
    }

    /// Like [`Sessions::refresh_all`], unless that was done a moment ago. For callers that ask many
    /// times a second.
    pub(crate) async fn refresh_lately(&self) {
        let is_due = {
            let mut refreshed = self.0.refreshed.lock();
            let is_due = refreshed.is_none_or(|at| at.elapsed() >= STREAM_AGE);
            if is_due {
                *refreshed = Some(Instant::now());
            }
            is_due
        };
        if is_due {
            self.refresh_all().await;
        }
    }

    /// Notes that a login at an identity provider was finished; `false` if another server has
    /// finished it before. A database that is unreachable keeps no one out: the provider itself
    /// accepts a code once, and so does this server.
    pub(crate) async fn finish_login(&self, login: &FinishedLogin, now: Timestamp) -> bool {
        let Some(store) = self.0.storage.shared() else { return true };
        let finishing = store.finish_login(&login.key, login.ends_at, now);
        match tokio::time::timeout(TIMEOUT, finishing).await {
            Ok(Ok(is_new)) => is_new,
            _ => {
                tracing::warn!("a finished login could not be stored: other servers do not know of it");
                true
            }
        }
    }

    /// The stored sessions, without those that were ended here and are not deleted yet. `None` if
    /// the database is unreachable: the copy in memory is used then.
    async fn read(
        &self,
        store: &Store,
        reading: impl Future<Output = Result<Vec<String>, StoreError>>,
    ) -> Option<HashMap<String, Session>> {
        let ended: Vec<String> = self.0.ended.lock().iter().cloned().collect();
        if !ended.is_empty() {
            self.delete(store, ended).await;
        }
        let lines = tokio::time::timeout(TIMEOUT, reading).await.ok()?;
        let lines = lines.inspect_err(|error| tracing::debug!(%error, "sessions could not be read")).ok()?;
        let mut kept = lines::read(&lines.join("\n"));
        let ended = self.0.ended.lock();
        kept.retain(|key, _| !ended.contains(key));
        Some(kept)
    }

    pub(super) async fn keep(&self, store: &Store, key: &str, session: &Session, now: Timestamp) {
        let line = lines::write_line(key, session);
        let keeping = store.put_session((key, line.trim_end()), session.ends_at, now);
        if !matches!(tokio::time::timeout(TIMEOUT, keeping).await, Ok(Ok(()))) {
            tracing::warn!("a session could not be stored: it holds on this server only, until the database is back");
        }
    }

    pub(super) async fn delete(&self, store: &Store, keys: Vec<String>) {
        let deleted = tokio::time::timeout(TIMEOUT, store.remove_sessions(&keys)).await;
        let mut ended = self.0.ended.lock();
        match deleted {
            Ok(Ok(())) => ended.retain(|key| !keys.contains(key)),
            _ => {
                tracing::warn!(
                    "ended sessions could not be deleted: other servers accept them until the database is back"
                );
                ended.extend(keys);
            }
        }
    }
}
