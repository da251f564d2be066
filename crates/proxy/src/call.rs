//! One call: what is recorded of it, and what it owes to the detector and to budgets however it
//! ends. Every stage of a call holds it.

use std::sync::Arc;
use std::time::Instant;

use guard::{Scored, Ticket};
use http::{HeaderMap, Response, StatusCode};
use model::{
    AgentId, Answered, BlockReason, CLIENT_WENT_AWAY, CallId, Deactivation, Epoch, Event, EventType, Fingerprint,
    Format, IncidentId, Outcome, Unscored,
};

use crate::answer::body::Body;
use crate::core::Core;
use crate::error::Stop;
use crate::headers;
use crate::policy::spending::Spending;

/// One call. If it is dropped before it is recorded, its client went away, and it is recorded as
/// that.
pub(crate) struct Call {
    pub(crate) core: Arc<Core>,
    /// The format that the caller speaks: refusals are written in it.
    pub(crate) caller_format: Format,
    /// What will be recorded, as far as it is known.
    pub(crate) event: Event,
    /// What the call takes of its agent's budgets.
    pub(crate) spending: Spending,
    /// How the detector knows the call, while it waits for the outcome.
    ticket: Option<Ticket>,
    /// What the score is compared with.
    threshold: f64,
    started: Instant,
    is_recorded: bool,
}

impl Call {
    /// Boxed, because it is handed from stage to stage.
    pub(crate) fn new(core: &Arc<Core>, id: CallId, agent: AgentId, caller_format: Format) -> Box<Call> {
        Box::new(Call {
            core: Arc::clone(core),
            caller_format,
            event: Event::new(id, agent, Epoch::default(), EventType::LlmCall, core.clock.now()),
            spending: Spending::default(),
            ticket: None,
            threshold: 0.0,
            started: Instant::now(),
            is_recorded: false,
        })
    }

    /// Stops a call of an inactive agent, once the kill that deactivated it is on disk.
    pub(crate) async fn check_active(&self) -> Result<(), Stop> {
        match self.core.guard.refuses(&self.event.agent) {
            None => Ok(()),
            Some(deactivation) => Err(self.inactive(deactivation).await),
        }
    }

    /// The refusal for a deactivation, once that is on disk or the limit of the wait is over.
    pub(crate) async fn inactive(&self, deactivation: Deactivation) -> Stop {
        let limit = self.core.config.kill_commit_timeout;
        if let Some(incident) = deactivation.incident {
            // Boxed, because calls seldom wait for it: else the future of every call would have
            // room for it.
            Box::pin(self.core.kills.wait(incident, limit)).await;
        }
        Stop::Inactive(deactivation, self.refusal_status())
    }

    /// The status at which clients of the caller's format stop.
    pub(crate) fn refusal_status(&self) -> StatusCode {
        self.core.config.refusal_status.of(self.caller_format)
    }

    /// Notes that the call was scored. The detector waits for its outcome from now on.
    pub(crate) fn note_scored(&mut self, scored: &Scored) {
        self.ticket = Some(scored.ticket.clone());
        self.threshold = scored.kill_switch.threshold;
        self.event.epoch = scored.ticket.epoch;
        self.event.score = Some(scored.score);
        self.event.fingerprint = Some(scored.fingerprint);
    }

    /// Notes that the call is forwarded without a score, and why.
    pub(crate) fn note_unscored(&mut self, reason: Unscored) {
        self.event.unscored = Some(reason);
        self.event.error = match reason {
            Unscored::NoConversation | Unscored::Housekeeping => None,
            Unscored::Threads => Some(format!("{}threads are not read", Event::UNSUPPORTED)),
            Unscored::Batch => Some(format!("{}batches are not read", Event::UNSUPPORTED)),
            Unscored::Unread(unread) => Some(format!("{}{unread}", Event::UNREAD)),
            Unscored::DetectionFailed => Some(Event::NOT_SCORED.to_owned()),
        };
        self.report_unscored();
    }

    /// A call without a score still shows that its agent is alive.
    fn report_unscored(&mut self) {
        let core = &self.core;
        let epoch = core.catch_panic.run(|| core.guard.on_unscored_call(&self.event.agent, self.event.time));
        self.event.epoch = epoch.unwrap_or_default();
    }

    /// Whether the detector waits for the outcome.
    pub(crate) fn awaits_outcome(&self) -> bool {
        self.ticket.is_some()
    }

    /// Tells the detector the answer. Does nothing the second time.
    pub(crate) fn report_answer(&mut self, answered: &Answered) {
        let Some(ticket) = self.ticket.take() else { return };
        let core = &self.core;
        let fingerprint = core.catch_panic.run(|| core.guard.on_answer(&ticket, answered, core.clock.now()));
        self.set_fingerprint(fingerprint.flatten(), Outcome::Answered);
    }

    /// Tells the detector that there is no answer. Does nothing if there was one.
    pub(crate) fn report_failure(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        let core = &self.core;
        let fingerprint = core.catch_panic.run(|| core.guard.on_failure(&ticket, core.clock.now()));
        self.set_fingerprint(fingerprint.flatten(), Outcome::Failed);
    }

    fn fail(&mut self) {
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

    fn set_outcome(&mut self, outcome: Outcome) {
        if let Some(fingerprint) = &mut self.event.fingerprint {
            fingerprint.outcome = outcome;
        }
    }

    /// The event of the kill that this call triggered. The call has no other.
    pub(crate) fn kill_event(&mut self, incident: IncidentId) -> Event {
        self.is_recorded = true;
        self.settle();
        self.ticket = None;
        self.set_outcome(Outcome::Refused);
        self.event.event_type = EventType::KillSwitch;
        self.event.status = Some(self.refusal_status().as_u16());
        self.event.block_reason = Some(BlockReason::Inactive);
        self.event.incident = Some(incident);
        self.event.latency_ms = Some(self.elapsed());
        self.event.clone()
    }

    /// Ends the call without its provider's answer.
    pub(crate) fn stop(mut self: Box<Self>, stop: Stop) -> Response<Body> {
        self.event.status = Some(stop.status().as_u16());
        match &stop {
            Stop::Inactive(deactivation, _) => self.block(BlockReason::Inactive, deactivation.incident),
            Stop::Policy(reason, _) => self.block(*reason, None),
            Stop::LoopDetected => self.block(BlockReason::LoopDetected, None),
            Stop::Client(..) | Stop::Upstream(..) | Stop::Us(..) => {
                self.event.error = stop.error().map(str::to_owned);
                self.fail();
            }
        }
        let mut response = stop.answer(self.caller_format, self.event.id, Some(&self.event.agent)).map(Body::from);
        self.show_score(response.headers_mut());
        self.record();
        response
    }

    fn block(&mut self, reason: BlockReason, incident: Option<IncidentId>) {
        if self.event.score.is_none() {
            // Refused before the guard knew of it.
            self.event.epoch = self.core.guard.agent(&self.event.agent).map(|agent| agent.epoch).unwrap_or_default();
        }
        // The guard refused it itself, or has ended this epoch: it waits for no outcome.
        self.ticket = None;
        self.set_outcome(Outcome::Refused);
        self.event.event_type = EventType::Blocked;
        self.event.block_reason = Some(reason);
        self.event.incident = incident;
    }

    /// Adds the score, if there is one, to the headers of the response.
    pub(crate) fn show_score(&self, headers: &mut HeaderMap) {
        if let Some(score) = self.event.score {
            headers.insert(headers::LOOP_SCORE, headers::loop_score(score, self.threshold));
        }
    }

    /// Replaces the reservation with what the call really used. Does nothing the second time.
    pub(crate) fn settle(&mut self) {
        self.spending.settle(&self.core, &self.event);
    }

    /// Sends the event to the recorder. Does nothing the second time.
    pub(crate) fn record(&mut self) {
        if std::mem::replace(&mut self.is_recorded, true) {
            return;
        }
        self.settle();
        self.event.latency_ms = Some(self.elapsed());
        let Event { id, epoch, event_type, time, .. } = self.event;
        let blank = Event::new(id, self.event.agent.clone(), epoch, event_type, time);
        self.core.recorder.event(std::mem::replace(&mut self.event, blank));
    }

    /// Milliseconds since the call came.
    pub(crate) fn elapsed(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The client went away, and hyper dropped the work on its call. This is short: a few fields, one
/// lock, a channel that never blocks.
impl Drop for Call {
    fn drop(&mut self) {
        if self.is_recorded {
            return;
        }
        self.event.status.get_or_insert(CLIENT_WENT_AWAY);
        self.event.error.get_or_insert_with(|| Event::CLIENT_LEFT.to_owned());
        self.fail();
        self.record();
    }
}
