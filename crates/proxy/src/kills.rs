//! Kills that are not on disk yet. No client learns of a kill before its commit, so every call
//! refused because of it waits for the same commit as the call that triggered it.

use std::collections::HashMap;
use std::time::Duration;

use guard::{Decision, Followed, Verdict};
use model::IncidentId;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

/// How many committed incidents are remembered, so that no call waits for them again.
const REMEMBERED: usize = 10_000;

/// Kills that are not on disk yet.
#[derive(Default)]
pub(crate) struct Kills {
    /// Held (shared) from before the guard decides until the kill is in `commits`.
    deciding: RwLock<()>,
    commits: Mutex<HashMap<IncidentId, Commit>>,
}

/// The commit of a kill.
enum Commit {
    /// The sender is dropped at the commit.
    Pending(watch::Sender<()>),
    /// There is nothing to wait for. Holds the incident that ended the epoch: that of another
    /// replica, if both decided alone and the other one was first.
    Done(IncidentId),
}

impl Commit {
    fn pending() -> Commit {
        Commit::Pending(watch::Sender::new(()))
    }

    fn outcome(&self) -> Result<IncidentId, watch::Receiver<()>> {
        match self {
            Commit::Pending(commit) => Err(commit.subscribe()),
            Commit::Done(stored) => Ok(*stored),
        }
    }
}

impl Kills {
    /// Asks the guard. If it kills, calls that are refused from now on wait until that kill is
    /// finished ([`Kills::finish`]).
    pub(crate) fn decide(&self, decide: impl FnOnce() -> Decision) -> Decision {
        let _deciding = self.deciding.read();
        let decision = decide();
        self.note_kill(&decision);
        decision
    }

    /// Like [`Kills::decide`], while the log of several replicas is applied.
    pub(crate) fn follow(&self, follow: impl FnOnce() -> Followed) -> Followed {
        let _deciding = self.deciding.read();
        let followed = follow();
        if let Followed::Decided(decision) = &followed {
            self.note_kill(decision);
        }
        followed
    }

    fn note_kill(&self, decision: &Decision) {
        if let Decision::Scored(scored) = decision
            && let Verdict::Kill(kill) = &scored.verdict
        {
            self.commits.lock().insert(kill.incident, Commit::pending());
        }
    }

    /// Registers a kill that another replica decided, so that refused calls wait for its commit.
    /// Returns `false` if it is known already.
    pub(crate) fn expect(&self, incident: IncidentId) -> bool {
        if self.commits.lock().contains_key(&incident) {
            return false;
        }
        // A kill of this replica may be on its way to `commits`.
        drop(self.deciding.write());
        let mut commits = self.commits.lock();
        let is_new = !commits.contains_key(&incident);
        if is_new {
            commits.insert(incident, Commit::pending());
        }
        is_new
    }

    /// Records that the kill of `incident` is on disk, or never will be.
    pub(crate) fn finish(&self, incident: IncidentId) {
        self.finish_as(incident, incident);
    }

    /// Records that the epoch of `incident` ended on disk with `stored`, which responses name from
    /// now on.
    pub(crate) fn finish_as(&self, incident: IncidentId, stored: IncidentId) {
        remember(&mut self.commits.lock(), incident, stored);
    }

    /// Waits until the kill of `incident` is done, at most for `limit`. Returns the incident that
    /// ended the epoch.
    pub(crate) async fn wait(&self, incident: IncidentId, limit: Duration) -> IncidentId {
        let mut commit = match self.commit(incident) {
            Ok(stored) => return stored,
            Err(pending) => pending,
        };
        if tokio::time::timeout(limit, commit.changed()).await.is_err() {
            tracing::warn!(%incident, "a kill is not on disk yet; it holds in memory and is answered all the same");
            self.finish(incident);
        }
        self.commit(incident).unwrap_or(incident)
    }

    /// The incident that ended the epoch, or what to wait for.
    fn commit(&self, incident: IncidentId) -> Result<IncidentId, watch::Receiver<()>> {
        if let Some(known) = self.commits.lock().get(&incident) {
            return known.outcome();
        }
        // The kill was decided before the start, or at this moment. Once this lock is taken, every
        // kill that was being decided is in `commits`.
        drop(self.deciding.write());
        let mut commits = self.commits.lock();
        match commits.get(&incident) {
            Some(known) => known.outcome(),
            None => {
                remember(&mut commits, incident, incident);
                Ok(incident)
            }
        }
    }
}

/// Remembers that there is nothing to wait for. If there are too many such entries, the others are
/// dropped.
fn remember(commits: &mut HashMap<IncidentId, Commit>, done: IncidentId, stored: IncidentId) {
    if commits.len() >= REMEMBERED {
        commits.retain(|_, commit| matches!(commit, Commit::Pending(_)));
    }
    commits.insert(done, Commit::Done(stored));
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    #[test]
    fn committed_kills_do_not_accumulate() {
        let kills = Kills::default();
        for millis in 0..3 * REMEMBERED as i64 {
            kills.finish(IncidentId::at(Timestamp::from_millis(millis)));
        }
        assert!(kills.commits.lock().len() <= REMEMBERED);
    }

    #[tokio::test(start_paused = true)]
    async fn refusal_waits_for_the_commit_of_another_replica() {
        let (kills, incident) = (Kills::default(), IncidentId::at(Timestamp::from_millis(7)));
        assert!(kills.expect(incident));
        assert!(!kills.expect(incident), "it is announced several times");
        let soon = Duration::from_secs(1);
        let wait = || tokio::time::timeout(soon, kills.wait(incident, 60 * soon));
        assert!(wait().await.is_err(), "the kill is not on disk");
        kills.finish(incident);
        assert_eq!(wait().await, Ok(incident));
        assert!(!kills.expect(incident), "a committed kill is not waited for again");
    }

    #[tokio::test]
    async fn refusal_names_the_incident_that_ended_the_epoch() {
        let [own, first] = [7, 8].map(|millis| IncidentId::at(Timestamp::from_millis(millis)));
        let kills = Kills::default();
        assert!(kills.expect(own));
        let commit = async { kills.finish_as(own, first) };
        let (named, ()) = tokio::join!(kills.wait(own, Duration::from_secs(60)), commit);
        assert_eq!(named, first);
        assert_eq!(kills.wait(own, Duration::ZERO).await, first);
    }
}
