//! One call: its event, its ticket at the detector and its reservation, closed exactly once however
//! the call ends. Every stage of a call holds it.

use std::sync::Arc;
use std::time::Instant;

use guard::{Scored, Ticket};
use http::{HeaderMap, Response, StatusCode};
use model::shared_log::EndedCall;
use model::{
    AgentId, AgreedKill, Answered, BlockReason, CLIENT_WENT_AWAY, CallId, DeactivatedBy, Deactivation, Epoch, Event,
    EventType, Fingerprint, Format, Group, IncidentId, Outcome, Timestamp, Unscored,
};

use wire::RefusalKind;

use crate::answer::body::Body;
use crate::answer::usage::note_usage_of_unanswered;
use crate::core::Core;
use crate::error::Stop;
use crate::headers;
use crate::policy::spending::Spending;
use crate::shared::{self, Settling, SharedTicket};

/// One call. If it is dropped before it is recorded, its client has disconnected, and it is
/// recorded with that outcome.
pub(crate) struct Call {
    pub(crate) core: Arc<Core>,
    /// The format of the caller, in which refusals are written.
    pub(crate) caller_format: Format,
    /// The event to record, as far as it is known.
    pub(crate) event: Event,
    /// What the call reserves and uses of its agent's budgets.
    pub(crate) spending: Spending,
    /// The ticket for reporting the outcome to the detector.
    ticket: Option<Ticket>,
    /// The ticket of the engine that replicas share, until it is settled there.
    pub(crate) shared: Option<SharedTicket>,
    /// Whether this replica decided alone although it should have agreed with others.
    pub(crate) is_degraded: bool,
    /// What reports to the engine, as soon as that is possible, what a call took that this replica
    /// decided alone.
    pub(crate) alone: Option<SharedTicket>,
    /// The end of the call, for other replicas.
    ended: Option<EndedCall>,
    /// The settlement that the end of the answer waits for.
    pub(crate) settling: Settling,
    /// The threshold of the score.
    threshold: f64,
    started: Instant,
    /// The approximate number of tokens of a conversation that was sent to its provider, until the
    /// answer begins.
    pub(crate) sent_tokens: Option<u64>,
    is_recorded: bool,
}

impl Call {
    /// Boxed, because it is moved from stage to stage.
    pub(crate) fn new(core: &Arc<Core>, id: CallId, agent: AgentId, caller_format: Format) -> Box<Call> {
        Box::new(Call {
            core: Arc::clone(core),
            caller_format,
            event: Event::new(id, agent, Epoch::default(), EventType::LlmCall, core.clock.now()),
            spending: Spending::default(),
            ticket: None,
            shared: None,
            is_degraded: false,
            alone: None,
            ended: None,
            settling: Settling::default(),
            threshold: 0.0,
            started: Instant::now(),
            sent_tokens: None,
            is_recorded: false,
        })
    }

    /// Refuses a call of an inactive agent, once the kill that deactivated it is on disk.
    pub(crate) async fn check_active(&self) -> Result<(), Stop> {
        let (guard, agent) = (&self.core.guard, &self.event.agent);
        match (guard.refuses(agent), guard.stopped_group(agent)) {
            (None, None) => Ok(()),
            // A kill names its incident, also in a stopped group.
            (Some(kill), Some(_)) if kill.incident.is_some() => Err(self.inactive(kill).await),
            (_, Some(group)) => Err(self.stopped_with(&group)),
            (Some(_), None) if self.is_activated_elsewhere().await => Ok(()),
            (Some(deactivation), None) => Err(self.inactive(deactivation).await),
        }
    }

    /// The refusal of an agent whose group is stopped.
    fn stopped_with(&self, group: &Group) -> Stop {
        let at = group.stopped_at.unwrap_or(self.event.time);
        let deactivation = Deactivation { by: DeactivatedBy::Manual, at, incident: None };
        let kind =
            RefusalKind::Inactive { deactivation, group: Some(group.name.clone()), status: self.refusal_status() };
        Stop::Policy(BlockReason::Inactive, Box::new(kind))
    }

    /// Whether a person activated the agent on another replica.
    async fn is_activated_elsewhere(&self) -> bool {
        let (core, agent) = (&self.core, &self.event.agent);
        let Some(shared) = &core.config.shared else { return false };
        let Some(status) = Box::pin(shared.replica.status(agent)).await else { return false };
        if status.killed.is_none() {
            core.guard.activate(agent, status.epoch);
        }
        core.guard.refuses(agent).is_none()
    }

    /// The refusal for a deactivation, once that is on disk or the wait has timed out.
    pub(crate) async fn inactive(&self, deactivation: Deactivation) -> Stop {
        let core = &self.core;
        let Some(incident) = deactivation.incident else {
            return Stop::Inactive(deactivation, self.refusal_status());
        };
        self.expect_commit(incident, deactivation.at);
        // Boxed, because calls rarely wait for it: otherwise it would enlarge the future of every
        // call.
        let stored = Box::pin(core.kills.wait(incident, core.config.kill_commit_timeout)).await;
        Stop::Inactive(Deactivation { incident: Some(stored), ..deactivation }, self.refusal_status())
    }

    /// Makes refusals wait for a kill that another replica may still have to store.
    fn expect_commit(&self, incident: IncidentId, at: Timestamp) {
        let (core, agent) = (&self.core, &self.event.agent);
        let (Some(shared), Some(view)) = (&core.config.shared, core.guard.agent(agent)) else { return };
        // If the agent was activated meanwhile, this epoch is not the one that the kill ended.
        if view.deactivation.is_some_and(|held| held.incident == Some(incident)) {
            let kill = AgreedKill { agent: agent.clone(), epoch: view.epoch, incident, at };
            shared.expect_commit(&core.kills, kill);
        }
    }

    /// The status of refusals in the caller's format.
    pub(crate) fn refusal_status(&self) -> StatusCode {
        self.core.config.refusal_status.of(self.caller_format)
    }

    /// Records the score. From now on the detector waits for the outcome.
    pub(crate) fn note_scored(&mut self, scored: &Scored) {
        self.ticket = Some(scored.ticket.clone());
        self.threshold = scored.kill_switch.threshold;
        self.event.epoch = scored.ticket.epoch;
        self.event.score = Some(scored.score);
        self.event.fingerprint = Some(scored.fingerprint);
    }

    /// Records that the call is forwarded without a score, and why.
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

    /// Updates the last-seen time: a call without a score still shows that its agent is alive.
    fn report_unscored(&mut self) {
        let core = &self.core;
        let epoch = core.catch_panic.run(|| core.guard.on_unscored_call(&self.event.agent, self.event.time));
        self.event.epoch = epoch.unwrap_or_default();
    }

    /// Whether the detector waits for the outcome.
    pub(crate) fn awaits_outcome(&self) -> bool {
        self.ticket.is_some()
    }

    /// Reports the answer to the detector. A repetition has no effect.
    pub(crate) fn report_answer(&mut self, answered: &Answered) {
        let Some(ticket) = self.ticket.take() else { return };
        if self.shared.is_some() || self.is_degraded {
            return self.end_shared(&ticket, Some(answered));
        }
        let core = &self.core;
        let fingerprint = core.catch_panic.run(|| core.guard.on_answer(&ticket, answered, core.clock.now()));
        self.set_fingerprint(fingerprint.flatten(), Outcome::Answered);
    }

    /// Reports to the detector that there is no answer. No effect if there was one.
    pub(crate) fn report_failure(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        if self.shared.is_some() || self.is_degraded {
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
        if let (Some(ended), None) = (ended, self.shared) {
            self.settling = shared::end_without_log(&self.core, ticket, ended);
            return;
        }
        self.ended = ended;
        if answered.is_some() {
            self.settle_shared();
        }
    }

    /// Reports the end of the call to the engine that replicas share. A repetition has no effect.
    fn settle_shared(&mut self) {
        if let Some(shared) = self.shared.take() {
            let ended = self.ended.take();
            self.settling = shared.settle(self, ended);
        }
        if let Some(alone) = self.alone.take() {
            alone.settle_alone(self);
        }
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

    /// The event of the kill that this call triggered. The call itself has no other event.
    pub(crate) fn kill_event(&mut self, incident: IncidentId) -> Event {
        self.is_recorded = true;
        self.settle();
        self.settle_shared();
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
    pub(crate) async fn stop(mut self: Box<Self>, stop: Stop) -> Response<Body> {
        self.event.status = Some(stop.status().as_u16());
        match &stop {
            Stop::Inactive(deactivation, _) => self.block(BlockReason::Inactive, deactivation.incident),
            Stop::Policy(reason, _) => self.block(*reason, None),
            Stop::LoopDetected => self.block(BlockReason::LoopDetected, None),
            Stop::Client(..) | Stop::Upstream(..) | Stop::Us(..) => {
                if let Stop::Upstream(StatusCode::GATEWAY_TIMEOUT, _) = stop {
                    note_usage_of_unanswered(&mut self);
                }
                self.event.error = stop.error().map(str::to_owned);
                self.fail();
            }
        }
        let mut response = stop.answer(self.caller_format, self.event.id, Some(&self.event.agent)).map(Body::from);
        self.show_score(response.headers_mut());
        self.record();
        std::mem::take(&mut self.settling).wait().await;
        response
    }

    fn block(&mut self, reason: BlockReason, incident: Option<IncidentId>) {
        if self.event.score.is_none() {
            // The call was refused before the guard knew of it.
            self.event.epoch = self.core.guard.agent(&self.event.agent).map(|agent| agent.epoch).unwrap_or_default();
        }
        // The guard refused it itself, or has ended this epoch: it waits for no outcome.
        self.ticket = None;
        self.set_outcome(Outcome::Refused);
        self.event.event_type = EventType::Blocked;
        self.event.block_reason = Some(reason);
        self.event.incident = incident;
    }

    /// Adds the score, if there is one, and the degraded mode to the headers of the response.
    pub(crate) fn show_score(&self, headers: &mut HeaderMap) {
        if self.is_degraded {
            headers.insert(headers::MODE, headers::DEGRADED);
        }
        if let Some(score) = self.event.score {
            headers.insert(headers::LOOP_SCORE, headers::loop_score(score, self.threshold));
        }
    }

    /// Replaces the reservation by what the call used. A repetition has no effect.
    pub(crate) fn settle(&mut self) {
        self.spending.settle(&self.core, &self.event);
    }

    /// Sends the event to the recorder. A repetition has no effect.
    pub(crate) fn record(&mut self) {
        if std::mem::replace(&mut self.is_recorded, true) {
            return;
        }
        self.settle();
        self.settle_shared();
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

/// The client disconnected, and hyper dropped the future of its call. This is short: a few fields,
/// one lock, a channel that never blocks.
impl Drop for Call {
    fn drop(&mut self) {
        if self.is_recorded {
            return;
        }
        note_usage_of_unanswered(self);
        self.event.status.get_or_insert(CLIENT_WENT_AWAY);
        self.event.error.get_or_insert_with(|| Event::CLIENT_LEFT.to_owned());
        self.fail();
        self.record();
    }
}
