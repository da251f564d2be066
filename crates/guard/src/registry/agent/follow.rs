//! Applies the records of a shared log to one agent.

use std::collections::HashSet;

use model::shared_log::{EndedCall, LogEntry, LogPart, LogRecord, ReplicaId};
use model::{AgentId, CallId, Deactivation, Epoch, Fingerprint, Outcome, Timestamp};

use super::{Agent, Arrival, Ended, Settings};
use crate::decision::{AgentView, Decision, Followed, Ticket};
use crate::fingerprint::RequestPrint;

/// How many decisions are kept for their callers. A caller that disconnected never comes.
const MOST_DECIDED: usize = 4_096;

/// A call of this replica.
pub(crate) struct OwnCall<'a> {
    pub(crate) agent: &'a AgentId,
    pub(crate) replica: ReplicaId,
    pub(crate) call: CallId,
}

impl Agent<'_> {
    /// Applies what is new in `part` and returns the decision on `own`.
    pub(crate) fn follow(&mut self, part: &LogPart, own: &OwnCall<'_>, saved: Option<&[Fingerprint]>) -> Followed {
        // Calls that were judged without the log are not in it yet, or at another place than in the
        // windows.
        if part.epoch != self.state.epoch() || !self.windows.followed.unshared.is_empty() {
            return Followed::Behind;
        }
        let begins_anew = self.windows.followed.seen < part.floor;
        if begins_anew {
            if part.entries.first().is_none_or(|entry| entry.position != part.floor + 1) {
                return Followed::Behind;
            }
            if part.is_trimmed && saved.is_none() {
                return Followed::Trimmed;
            }
            self.begin_log(part, saved.unwrap_or_default());
        }
        let is_whole = self.apply(part, own);
        if begins_anew {
            self.windows.forget_returned();
        }
        if !is_whole {
            return Followed::Behind;
        }
        let decided = &mut self.windows.followed.decided;
        match decided.iter().position(|(call, _)| *call == own.call) {
            Some(place) => Followed::Decided(decided.swap_remove(place).1),
            None => Followed::NotFound,
        }
    }

    /// Starts again with the stored calls that came before the oldest one in `part`.
    fn begin_log(&mut self, part: &LogPart, saved: &[Fingerprint]) {
        self.windows.begin_log();
        self.windows.followed.seen = part.floor;
        let first = part.entries.iter().map(|entry| entry.number).find(|number| *number > 0).unwrap_or(u64::MAX);
        let mut saved: Vec<&Fingerprint> = saved.iter().filter(|print| print.number < first).collect();
        saved.sort_unstable_by_key(|print| print.number);
        let bounds = self.bounds();
        saved.into_iter().for_each(|print| self.windows.push(print, bounds));
        self.score_restored();
    }

    /// Applies the new records; `false` if records are missing before one of them.
    fn apply(&mut self, part: &LogPart, own: &OwnCall<'_>) -> bool {
        let mut was_restored = false;
        for entry in part.entries.iter().filter(|entry| entry.position > part.floor) {
            let seen = self.windows.followed.seen;
            if entry.position <= seen {
                continue;
            }
            if entry.position != seen + 1 {
                return false;
            }
            let is_restored = matches!(entry.record, LogRecord::Restored(_));
            if was_restored && !is_restored {
                self.score_restored();
            }
            was_restored = is_restored;
            self.apply_entry(entry, own);
            self.windows.followed.seen = entry.position;
        }
        true
    }

    fn apply_entry(&mut self, entry: &LogEntry, own: &OwnCall<'_>) {
        match entry.record {
            LogRecord::Arrived(replica, print) => self.apply_arrived(entry, replica, &print, own),
            LogRecord::Ended(ended) => self.apply_ended(ended, entry.at, own.agent),
            LogRecord::Restored(print) => self.apply_restored(entry, &print),
            LogRecord::Unknown => {}
        }
    }

    fn apply_restored(&mut self, entry: &LogEntry, print: &Fingerprint) {
        if !self.windows.in_windows().any(|call| call == print.call) {
            let bounds = self.bounds();
            return self.windows.push(&Fingerprint { number: entry.number, ..*print }, bounds);
        }
        // The engine had admitted the call, although its replica got no answer and decided alone.
        if print.outcome != Outcome::Pending {
            self.windows.end(print.call, |known| {
                known.outcome = print.outcome;
                known.response = print.response;
            });
        }
    }

    fn apply_arrived(&mut self, entry: &LogEntry, replica: ReplicaId, print: &Fingerprint, own: &OwnCall<'_>) {
        let decision = self.on_call(Arrival {
            agent: own.agent,
            call: print.call,
            print: RequestPrint::of_arrived(print),
            now: entry.at,
            number: Some(entry.number),
        });
        if replica == own.replica {
            let decided = &mut self.windows.followed.decided;
            if decided.len() >= MOST_DECIDED {
                decided.remove(0);
            }
            return decided.push((print.call, decision));
        }
        if let Decision::Scored(scored) = decision {
            // This replica may hold their bodies.
            self.windows.add_released(scored.released);
        }
    }

    fn apply_ended(&mut self, ended: EndedCall, at: Timestamp, agent: &AgentId) {
        let EndedCall { call, conversation, outcome, response } = ended;
        let ticket = Ticket { agent: agent.clone(), epoch: self.state.epoch(), call, conversation };
        self.on_end(&ticket, Ended { outcome, response, at });
    }

    /// Adds a call that was judged without the log.
    pub(crate) fn add_unshared(&mut self, call: CallId) {
        let unshared = &mut self.windows.followed.unshared;
        if unshared.len() >= MOST_DECIDED {
            unshared.remove(0);
        }
        unshared.push(call);
    }

    /// The calls in the windows that were judged without the log; `None` if there was none.
    pub(crate) fn unshared_calls(&self) -> Option<Vec<Fingerprint>> {
        let unshared = &self.windows.followed.unshared;
        if unshared.is_empty() {
            return None;
        }
        let mut calls = self.windows.held_calls();
        calls.retain(|call| unshared.contains(&call.call));
        Some(calls)
    }

    /// Lets the next part of the log replace the windows, now that it holds `shared`.
    pub(crate) fn leave_log(&mut self, shared: &[Fingerprint]) {
        // A call that has ended since stays unshared, so that it is added once more with its end.
        let shared: HashSet<(CallId, Outcome)> = shared.iter().map(|print| (print.call, print.outcome)).collect();
        let held = self.windows.held_calls().into_iter().map(|print| (print.call, print.outcome));
        let unshared: HashSet<CallId> = held.filter(|call| !shared.contains(call)).map(|(call, _)| call).collect();
        let followed = &mut self.windows.followed;
        followed.unshared.retain(|call| unshared.contains(call));
        followed.seen = 0;
    }

    /// Ends a call that was judged without the log; `false` if the log holds it by now.
    pub(crate) fn end_unshared(&mut self, ticket: &Ticket, ended: Ended) -> bool {
        let is_unshared = self.windows.followed.unshared.contains(&ticket.call);
        if is_unshared {
            self.on_end(ticket, ended);
        }
        is_unshared
    }

    /// Its settings, without any deactivation, in `epoch`.
    pub(crate) fn settings_in(&self, epoch: Epoch) -> Settings {
        let AgentView { kill_switch, .. } = self.state.view();
        Settings { epoch, exemptions: self.state.exemptions().clone(), ..Settings::new(kill_switch) }
    }

    /// Judges a log with these settings, and returns the decision on `own`.
    pub(crate) fn judge_log(
        &mut self,
        settings: Settings,
        part: &LogPart,
        own: &OwnCall<'_>,
        saved: &[Fingerprint],
    ) -> Followed {
        self.state.reset(settings);
        self.follow(part, own, Some(saved))
    }

    /// Adopts a deactivation of `epoch`. An existing one stays unless the new one has an incident.
    pub(crate) fn adopt_deactivation(&mut self, epoch: Epoch, deactivation: Deactivation) {
        let has_none = self.state.deactivation().is_none();
        if epoch == self.state.epoch() && (has_none || deactivation.incident.is_some()) {
            self.state.settings_mut().deactivation = Some(deactivation);
        }
    }
}
