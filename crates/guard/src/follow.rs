//! Follows the log that replicas share. Every replica applies the same records in the same order
//! and judges each call as it comes, so all of them find what one process would have found.

use model::shared_log::{EndedCall, LogPart, LogPosition, LogRecord, ReplicaId};
use model::{AgentId, Answered, CallId, Deactivation, Epoch, Fingerprint, IncidentId, Kill, Outcome, Timestamp};

use crate::decision::{Decision, Followed, PreparedCall, Ticket, Verdict};
use crate::fingerprint;
use crate::guard::Guard;
use crate::registry::{Arrival, Ended, OwnCall};

impl PreparedCall<'_> {
    /// The record that tells other replicas of this call.
    pub fn log_record(&self, replica: ReplicaId) -> LogRecord {
        LogRecord::Arrived(replica, self.print.arrived(self.call, 0, Timestamp::from_millis(0)))
    }
}

/// The record that tells other replicas how a call ended. `answered` is `None` if it failed.
pub fn ended_call(ticket: &Ticket, answered: Option<&Answered>) -> EndedCall {
    let outcome = if answered.is_some() { Outcome::Answered } else { Outcome::Failed };
    let response = answered.and_then(fingerprint::of_answer);
    EndedCall { call: ticket.call, conversation: ticket.conversation, outcome, response }
}

impl Guard {
    /// How far the agent's shared log was applied.
    pub fn log_position(&self, agent: &AgentId) -> LogPosition {
        self.registry.with(agent, |agent| LogPosition { epoch: agent.state.epoch(), seen: agent.windows.followed.seen })
    }

    /// Applies a part of the agent's log and returns the decision on `own`, a call of this replica.
    /// `saved` are the stored calls of the epoch, if the part is [`Followed::Trimmed`].
    pub fn follow(
        &self,
        agent: &AgentId,
        part: &LogPart,
        own: (ReplicaId, CallId),
        saved: Option<&[Fingerprint]>,
    ) -> Followed {
        let (replica, call) = own;
        let own = OwnCall { agent, replica, call };
        let mut followed = self.registry.with(agent, |agent| agent.follow(part, &own, saved));
        if let Followed::Decided(decision) = &mut followed {
            self.add_released_calls(decision);
        }
        followed
    }

    /// The kill of `incident`, found by judging the whole log of the agent once more, with the
    /// settings that the agent has now; `None` if no call in it makes that incident. `saved` are
    /// the stored calls of the epoch.
    pub fn find_kill(
        &self,
        agent: &AgentId,
        log: &LogPart,
        incident: IncidentId,
        saved: &[Fingerprint],
    ) -> Option<Kill> {
        let (replica, call) = log.entries.iter().find_map(|entry| match entry.record {
            LogRecord::Arrived(replica, print) if IncidentId::of_call(print.call, entry.at) == incident => {
                Some((replica, print.call))
            }
            _ => None,
        })?;
        let settings = self.registry.with(agent, |agent| agent.settings_in(log.epoch));
        // In a guard of its own, because the live agent is inactive by now.
        let apart = Guard::new(self.registry.config());
        let own = OwnCall { agent, replica, call };
        let judged = apart.registry.with(agent, |fresh| fresh.judge_log(settings, log, &own, saved));
        match judged {
            Followed::Decided(Decision::Scored(scored)) => match scored.verdict {
                Verdict::Kill(kill) => Some(kill),
                _ => None,
            },
            _ => None,
        }
    }

    /// The calls in the windows of an agent, to begin its log with, and the number of the newest.
    pub fn held_calls(&self, agent: &AgentId) -> (Vec<Fingerprint>, u64) {
        self.registry.with(agent, |agent| (agent.windows.held_calls(), agent.windows.newest_number()))
    }

    /// Judges a call while the log of its agent is out of reach. Parts of the log are
    /// [`Followed::Behind`] until the call was added to it.
    pub fn on_call_without_log(&self, call: PreparedCall<'_>, now: Timestamp) -> Decision {
        let PreparedCall { agent, call, print } = call;
        let mut decision = self.registry.with(agent, |state| {
            let decision = state.on_call(Arrival { agent, call, print, now, number: None });
            if let Decision::Scored(_) = decision {
                state.add_unshared(call);
            }
            decision
        });
        self.add_released_calls(&mut decision);
        decision
    }

    /// Calls of an agent that came while its log was out of reach, to be added to it. `None` if
    /// there was none.
    pub fn unshared_calls(&self, agent: &AgentId) -> Option<Vec<Fingerprint>> {
        self.registry.with_known(agent, |agent| agent.unshared_calls())?
    }

    /// Lets the next part of the log, which holds the `shared` calls by now, replace the windows of
    /// an agent.
    pub fn leave_log(&self, agent: &AgentId, shared: &[Fingerprint]) {
        self.registry.with_known(agent, |agent| agent.leave_log(shared));
    }

    /// Records the end of a call that was judged while the log was out of reach. `false` if the
    /// call was added to the log since: its end belongs there, too.
    pub fn end_without_log(&self, ticket: &Ticket, ended: &EndedCall, now: Timestamp) -> bool {
        let EndedCall { outcome, response, .. } = *ended;
        let ended = Ended { outcome, response, at: now };
        self.registry.with_known(&ticket.agent, |agent| agent.end_unshared(ticket, ended)).unwrap_or(false)
    }

    /// Takes over a deactivation that another replica decided in `epoch`.
    pub fn adopt_deactivation(&self, agent: &AgentId, epoch: Epoch, deactivation: Deactivation) {
        self.registry.with(agent, |agent| agent.adopt_deactivation(epoch, deactivation));
    }
}
