//! One call on its way: what is known of it so far, and what has to be settled however it ends.

use std::sync::Arc;
use std::time::Instant;

use guard::{Limits, Reservation, Ticket};
use http::{HeaderMap, Response, StatusCode};
use model::{
    AgentId, BlockReason, CLIENT_WENT_AWAY, CallId, Deactivation, Event, EventType, Format, Outcome, Provider,
};
use wire::{Dialect, Endpoint, Link};

use crate::Core;
use crate::answering::Answering;
use crate::body::Body;
use crate::error::Stop;
use crate::headers;
use crate::recorded;

/// One call on its way. Dropped before it is recorded, it is recorded as given up by its client.
pub(crate) struct Exchange {
    pub(crate) core: Arc<Core>,
    /// Whom it is for, until it is known where that is; none if nobody has that name.
    pub(crate) provider: Option<Arc<Provider>>,
    /// How the provider speaks.
    pub(crate) format: Format,
    /// How the caller speaks.
    pub(crate) spoken: Format,
    /// How its conversation is written, if it has one.
    pub(crate) dialect: Option<Dialect>,
    /// How its answer says what it used, if it asks for embeddings.
    pub(crate) embeds: Option<Dialect>,
    /// What will be recorded, as far as it is known.
    pub(crate) event: Event,
    /// The answer as it passes.
    pub(crate) answering: Option<Answering>,
    /// About how many input tokens the request has.
    pub(crate) asked_tokens: u64,
    /// Whether the stream was asked for its usage in the client's place.
    pub(crate) asks_for_usage: bool,
    /// What limits the agent, if anything does.
    pub(crate) limits: Option<Arc<Limits>>,
    /// What is reserved for the call until it is over.
    pub(crate) reservation: Option<Reservation>,
    pub(crate) is_settled: bool,
    /// The model that the agent's policy puts in the place of the one that is asked for.
    pub(crate) model_to_use: Option<String>,
    /// How the detector knows it, as long as it waits for the outcome.
    pub(crate) ticket: Option<Ticket>,
    /// What its score is compared with.
    pub(crate) threshold: f64,
    /// What calls that go on from this one will leave out, and the conversation that the provider keeps it in.
    pub(crate) link: Option<(Link, Option<String>)>,
    started: Instant,
    recorded: bool,
}

impl Exchange {
    /// Boxed, because it is handed on several times on its way from the request to the end of the answer.
    pub(crate) fn new(core: &Arc<Core>, call: CallId, agent: AgentId, format: Format) -> Box<Exchange> {
        let event = Event::new(call, agent, model::Epoch::default(), EventType::LlmCall, core.clock.now());
        Box::new(Exchange {
            core: Arc::clone(core),
            provider: None,
            format,
            spoken: format,
            dialect: None,
            embeds: None,
            event,
            answering: None,
            asked_tokens: 0,
            asks_for_usage: false,
            limits: None,
            reservation: None,
            is_settled: false,
            model_to_use: None,
            ticket: None,
            threshold: 0.0,
            link: None,
            started: Instant::now(),
            recorded: false,
        })
    }

    /// Stops a call of an inactive agent, once the kill that made it so is on disk.
    pub(crate) async fn check_active(&self) -> Result<(), Stop> {
        match self.core.guard.refuses(&self.event.agent) {
            None => Ok(()),
            Some(deactivation) => Err(self.inactive(deactivation).await),
        }
    }

    /// The refusal for a deactivation that is on disk (or has been waited for long enough: it holds in memory).
    pub(crate) async fn inactive(&self, deactivation: Deactivation) -> Stop {
        let config = &self.core.config;
        if let Some(incident) = deactivation.incident {
            // Boxed, as is all that is seldom waited for: else every call would carry its room around.
            Box::pin(self.core.kills.wait(incident, config.kill_commit_timeout)).await;
        }
        Stop::Inactive(deactivation, self.refusal_status())
    }

    /// The status at which clients of the caller's format stop.
    pub(crate) fn refusal_status(&self) -> StatusCode {
        self.core.config.refusal_status.of(self.spoken)
    }

    /// It carries a conversation, as its path says.
    pub(crate) fn converses(&mut self, endpoint: Endpoint<'_>) {
        self.dialect = Some(endpoint.dialect);
        self.event.model = endpoint.model.map(recorded::model_name);
        self.event.streamed = endpoint.streams;
    }

    /// The event of the kill that this call triggered. The call has no other.
    pub(crate) fn kill_event(&mut self, incident: model::IncidentId) -> Event {
        self.recorded = true;
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

    /// Ends it without its provider's answer.
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
        let mut response = stop.answer(self.spoken, self.event.id, Some(&self.event.agent));
        self.show_score(response.headers_mut());
        self.record();
        response
    }

    fn block(&mut self, reason: BlockReason, incident: Option<model::IncidentId>) {
        if self.event.score.is_none() {
            // Refused before anything was recorded of it.
            self.event.epoch = self.core.guard.agent(&self.event.agent).map(|agent| agent.epoch).unwrap_or_default();
        }
        // The guard refused it itself, or is done with this epoch: there is nothing to tell it.
        self.ticket = None;
        self.set_outcome(Outcome::Refused);
        self.event.event_type = EventType::Blocked;
        self.event.block_reason = Some(reason);
        self.event.incident = incident;
    }

    /// Adds the score, if there is one.
    pub(crate) fn show_score(&self, headers: &mut HeaderMap) {
        if let Some(score) = self.event.score {
            headers.insert(headers::LOOP_SCORE, headers::loop_score(score, self.threshold));
        }
    }

    /// Sends the event off. Does nothing the second time.
    pub(crate) fn record(&mut self) {
        if std::mem::replace(&mut self.recorded, true) {
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

/// The client went away: hyper drops whatever was under way for it. What is left to do is short: a few fields, one lock,
/// a channel that never blocks.
impl Drop for Exchange {
    fn drop(&mut self) {
        if self.recorded {
            return;
        }
        if !self.answer_is_abandoned() {
            self.event.status.get_or_insert(CLIENT_WENT_AWAY);
            self.event.error.get_or_insert_with(|| Event::CLIENT_LEFT.to_owned());
            self.fail();
        }
        self.record();
    }
}
