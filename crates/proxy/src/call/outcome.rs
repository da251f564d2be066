//! The outcome of a call, reported to the detector and to the engine that replicas share.

use guard::Ticket;
use model::{Answered, Fingerprint, Outcome};

use super::Call;
use super::settlement::end_without_log;

impl Call {
    /// Whether the detector waits for the outcome.
    pub(crate) fn awaits_outcome(&self) -> bool {
        self.ticket.is_some()
    }

    /// Reports the answer to the detector. A repetition has no effect.
    pub(crate) fn report_answer(&mut self, answered: &Answered) {
        let Some(ticket) = self.ticket.take() else { return };
        if self.engine_ticket.is_some() || self.is_degraded {
            return self.end_shared(&ticket, Some(answered));
        }
        let core = &self.core;
        let fingerprint = core.catch_panic.run(|| core.guard.on_answer(&ticket, answered, core.clock.now()));
        self.set_fingerprint(fingerprint.flatten(), Outcome::Answered);
    }

    /// Reports to the detector that there is no answer. No effect if there was one.
    pub(crate) fn report_failure(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        if self.engine_ticket.is_some() || self.is_degraded {
            return self.end_shared(&ticket, None);
        }
        let core = &self.core;
        let fingerprint = core.catch_panic.run(|| core.guard.on_failure(&ticket, core.clock.now()));
        self.set_fingerprint(fingerprint.flatten(), Outcome::Failed);
    }

    /// Records the end of the call for the log that replicas share: each replica applies it at its
    /// position there.
    fn end_shared(&mut self, ticket: &Ticket, answered: Option<&Answered>) {
        let ended = self.core.catch_panic.run(|| guard::ended_call(ticket, answered));
        if let (Some(ended), Some(fingerprint)) = (ended, &mut self.event.fingerprint) {
            fingerprint.outcome = ended.outcome;
            fingerprint.response = ended.response;
        }
        if let (Some(ended), None) = (ended, self.engine_ticket) {
            self.settlement = end_without_log(&self.core, ticket, ended);
            return;
        }
        self.ended = ended;
        if answered.is_some() {
            self.settle_shared();
        }
    }

    /// Reports the end of the call to the engine that replicas share. A repetition has no effect.
    pub(super) fn settle_shared(&mut self) {
        if let Some(ticket) = self.engine_ticket.take() {
            let ended = self.ended.take();
            self.settlement = ticket.settle(self, ended);
        }
        if let Some(ticket) = self.unreported.take() {
            ticket.report_use(self);
        }
    }

    pub(super) fn fail(&mut self) {
        if self.event.score.is_none() {
            self.report_unscored();
        }
        self.report_failure();
    }

    fn set_fingerprint(&mut self, fingerprint: Option<Fingerprint>, outcome: Outcome) {
        match fingerprint {
            Some(fingerprint) => self.event.fingerprint = Some(fingerprint),
            None => self.set_outcome(outcome),
        }
    }

    pub(super) fn set_outcome(&mut self, outcome: Outcome) {
        if let Some(fingerprint) = &mut self.event.fingerprint {
            fingerprint.outcome = outcome;
        }
    }
}
