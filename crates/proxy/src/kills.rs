//! Kills that are not on disk yet. No client learns of a kill before its commit, so every call that
//! is refused because of one waits for the same commit as the call that triggered it.

use std::collections::HashMap;
use std::time::Duration;

use guard::{Decision, Verdict};
use model::IncidentId;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

/// How many incidents are remembered as committed, so that no call waits for them again.
const REMEMBERED: usize = 10_000;

/// Kills that are not on disk yet.
#[derive(Default)]
pub(crate) struct Kills {
    /// Held (shared) from before the guard decides until the kill is in `commits`.
    deciding: RwLock<()>,
    /// By incident, the sender that is dropped when it is committed; `None` once there is nothing
    /// to wait for.
    commits: Mutex<HashMap<IncidentId, Option<watch::Sender<()>>>>,
}

impl Kills {
    /// Lets the guard decide. If it kills, calls that are refused from now on wait until that kill
    /// is [`Kills::done`].
    pub(crate) fn decide(&self, decide: impl FnOnce() -> Decision) -> Decision {
        let _deciding = self.deciding.read();
        let decision = decide();
        if let Decision::Scored(scored) = &decision
            && let Verdict::Kill(kill) = &scored.verdict
        {
            self.commits.lock().insert(kill.incident, Some(watch::Sender::new(())));
        }
        decision
    }

    /// The kill of `incident` is on disk, or never will be.
    pub(crate) fn done(&self, incident: IncidentId) {
        remember(&mut self.commits.lock(), incident);
    }

    /// Waits until the kill of `incident` is done, at most for `limit`.
    pub(crate) async fn wait(&self, incident: IncidentId, limit: Duration) {
        let Some(mut commit) = self.pending(incident) else { return };
        if tokio::time::timeout(limit, commit.changed()).await.is_err() {
            tracing::warn!(%incident, "a kill is not on disk yet; it holds in memory and is answered all the same");
            self.done(incident);
        }
    }

    fn pending(&self, incident: IncidentId) -> Option<watch::Receiver<()>> {
        if let Some(known) = self.commits.lock().get(&incident) {
            return known.as_ref().map(watch::Sender::subscribe);
        }
        // Unknown: from before the start, or being decided at this moment. After this lock, every
        // such kill is in `commits`.
        drop(self.deciding.write());
        let mut commits = self.commits.lock();
        match commits.get(&incident) {
            Some(known) => known.as_ref().map(watch::Sender::subscribe),
            None => {
                remember(&mut commits, incident);
                None
            }
        }
    }
}

/// Notes that there is nothing to wait for. When too many such notes exist, the others are
/// forgotten.
fn remember(commits: &mut HashMap<IncidentId, Option<watch::Sender<()>>>, done: IncidentId) {
    if commits.len() >= REMEMBERED {
        commits.retain(|_, commit| commit.is_some());
    }
    commits.insert(done, None);
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    #[test]
    fn committed_kills_do_not_accumulate() {
        let kills = Kills::default();
        for millis in 0..3 * REMEMBERED as i64 {
            kills.done(IncidentId::at(Timestamp::from_millis(millis)));
        }
        assert!(kills.commits.lock().len() <= REMEMBERED);
    }
}
