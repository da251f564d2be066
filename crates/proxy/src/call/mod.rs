//! One call: its event, its ticket at the detector and its reservation, closed exactly once however
//! the call ends. Every stage of a call holds it.

mod cost;
mod outcome;
mod refusal;
mod settlement;
pub(crate) mod spending;

use std::sync::Arc;
use std::time::Instant;

use guard::{Scored, Ticket};
use http::HeaderMap;
use model::shared_log::EndedCall;
use model::{
    AgentId, BlockReason, CLIENT_WENT_AWAY, CallId, Epoch, Event, EventType, Format, IncidentId, KeyInForce, Outcome,
    Unscored,
};

use crate::core::Core;
use crate::headers;

use spending::Spending;

pub(crate) use settlement::{EngineTicket, PendingSettlement};

/// One call. If it is dropped before it is recorded, its client has disconnected, and it is
/// recorded with that outcome.
pub(crate) struct Call {
    pub(crate) core: Arc<Core>,
    /// The format of the caller, in which refusals are written.
    pub(crate) caller_format: Format,
    /// The event to record, as far as it is known.
    pub(crate) event: Event,
    /// The agent key that it came with.
    pub(crate) key: Option<Arc<KeyInForce>>,
    /// What the call reserves and uses of its agent's budgets.
    pub(crate) spending: Spending,
    /// The ticket for reporting the outcome to the detector.
    ticket: Option<Ticket>,
    /// The ticket of the engine that replicas share, until it is settled there.
    pub(crate) engine_ticket: Option<EngineTicket>,
    /// Whether this replica decided alone although it should have agreed with others.
    pub(crate) is_degraded: bool,
    /// The ticket of a call that this replica decided alone, until its use is reported to the
    /// engine.
    pub(crate) unreported: Option<EngineTicket>,
    /// The end of the call, for other replicas.
    ended: Option<EndedCall>,
    /// The settlement that the end of the answer waits for.
    pub(crate) settlement: PendingSettlement,
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
            key: None,
            spending: Spending::default(),
            ticket: None,
            engine_ticket: None,
            is_degraded: false,
            unreported: None,
            ended: None,
            settlement: PendingSettlement::default(),
            threshold: 0.0,
            started: Instant::now(),
            sent_tokens: None,
            is_recorded: false,
        })
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
        self.note_usage_of_unanswered();
        self.event.status.get_or_insert(CLIENT_WENT_AWAY);
        self.event.error.get_or_insert_with(|| Event::CLIENT_LEFT.to_owned());
        self.fail();
        self.record();
    }
}
