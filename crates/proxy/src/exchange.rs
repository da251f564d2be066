//! One call on its way: what is known of it so far, and what has to be settled however it ends.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use guard::{Decision, Limits, NewCall, Reservation, Scored, Ticket};
use http::{HeaderMap, Response};
use model::{
    AgentId, Answered, Asked, BlockReason, CLIENT_WENT_AWAY, CallId, Continues, Deactivation, Event, EventType,
    Fingerprint, Format, Outcome,
};
use wire::{Dialect, Endpoint, Link, Unread};

use crate::Core;
use crate::answering::Answering;
use crate::body::Body;
use crate::decoding::{Encoding, decoded};
use crate::error::Stop;
use crate::evidence::HeldCall;
use crate::fault;
use crate::headers;
use crate::usage;

/// One call on its way. Dropped before it is recorded, it is recorded as given up by its client.
pub(crate) struct Exchange {
    pub(crate) core: Arc<Core>,
    /// How the provider speaks.
    pub(crate) format: Format,
    /// How the caller speaks.
    pub(crate) spoken: Format,
    /// How its conversation is written, if it has one.
    pub(crate) dialect: Option<Dialect>,
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
    ticket: Option<Ticket>,
    threshold: f64,
    /// What calls that go on from this one will leave out, and the conversation that the provider keeps it in.
    link: Option<(Link, Option<String>)>,
    started: Instant,
    recorded: bool,
}

impl Exchange {
    pub(crate) fn new(core: &Arc<Core>, call: CallId, agent: AgentId, format: Format) -> Exchange {
        let event = Event::new(call, agent, model::Epoch::default(), EventType::LlmCall, core.clock.now());
        Exchange {
            core: Arc::clone(core),
            format,
            spoken: format,
            dialect: None,
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
        }
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
            self.core.kills.wait(incident, config.kill_commit_timeout).await;
        }
        Stop::Inactive(deactivation, config.refusal_status)
    }

    /// It carries a conversation, as its path says.
    pub(crate) fn converses(&mut self, endpoint: Endpoint<'_>) {
        self.dialect = Some(endpoint.dialect);
        self.event.model = endpoint.model.map(str::to_owned);
        self.event.streamed = endpoint.streams;
    }

    /// A call that is not scored still shows that its agent is alive.
    pub(crate) fn not_scored(&mut self) {
        let core = &self.core;
        let epoch = core.shield.run(|| core.guard.on_unscored_call(&self.event.agent, self.event.time));
        self.event.epoch = epoch.unwrap_or_default();
    }

    /// Reads the request and lets the guard decide. `None`: it could not be read or scored, and is let through.
    pub(crate) fn score(&mut self, headers: &HeaderMap, body: &Bytes) -> Option<Decision> {
        let dialect = self.dialect?;
        let core = Arc::clone(&self.core);
        match core.shield.run(|| self.read_and_decide(dialect, headers, body)) {
            Some(Ok((decision, body))) => {
                // Apart from the decision: a kill that was decided holds, whatever becomes of its evidence.
                core.shield.run(|| self.keep(&decision, dialect, &body));
                return Some(decision);
            }
            Some(Err(unread)) => self.event.error = Some(format!("unread: {unread}")),
            None => self.event.error = Some("detection failed: not scored".to_owned()),
        }
        self.not_scored();
        None
    }

    /// The decision, and the body behind its encoding.
    fn read_and_decide(
        &mut self,
        dialect: Dialect,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(Decision, Bytes), Unread> {
        let encoding = Encoding::of(headers).ok_or(Unread("compressed in a way that is not known"))?;
        let body = decoded(encoding, body, self.core.config.max_request_body).ok_or(Unread("cannot be decoded"))?;
        let asked = wire::read_request(dialect, &body)?;
        let before = asked.continues.as_ref().and_then(|it| self.core.chains.lock().get(&self.event.agent, it.id()));
        let asked = match &before {
            Some(link) => link.extend(asked),
            None => asked,
        };
        let conversation = wire::conversation_of(headers, &asked);
        self.link = asked.is_kept.then(|| (Link::new(&conversation, &asked, Vec::new()), kept_in(&asked)));
        let event = &mut self.event;
        event.model = asked.model.as_deref().map(str::to_owned).or(event.model.take());
        event.streamed |= asked.streamed;
        self.asked_tokens = usage::about_tokens(body.len(), &asked);
        let call =
            NewCall { agent: &event.agent, call: event.id, conversation: &conversation, body: &body, asked: &asked };
        let (guard, now) = (&self.core.guard, event.time);
        // Before the lock on decisions, which whoever asks for a kill waits for.
        let prepared = call.prepare();
        fault::strike("scoring");
        let decision = self.core.kills.decide(|| guard.on_prepared_call(prepared, now));
        event.conversation = Some(conversation);
        if let Decision::Scored(scored) = &decision {
            self.note(scored);
        }
        Ok((decision, body))
    }

    /// Puts the body where evidence is taken from.
    fn keep(&self, decision: &Decision, dialect: Dialect, body: &Bytes) {
        fault::strike("evidence");
        if let Decision::Scored(scored) = decision {
            self.core.shelf.put(self.event.id, HeldCall::new(self.event.time, dialect, body), &scored.left);
        }
    }

    fn note(&mut self, scored: &Scored) {
        self.ticket = Some(scored.ticket.clone());
        self.threshold = scored.kill_switch.threshold;
        self.event.epoch = scored.ticket.epoch;
        self.event.score = Some(scored.score);
        self.event.fingerprint = Some(scored.fingerprint);
    }

    /// Whether the detector waits for the answer.
    pub(crate) fn is_scored(&self) -> bool {
        self.ticket.is_some()
    }

    /// Tells the detector what was answered. Does nothing the second time.
    pub(crate) fn answered(&mut self, answered: &Answered) {
        let Some(ticket) = self.ticket.take() else { return };
        let core = &self.core;
        let fingerprint = core.shield.run(|| core.guard.on_answer(&ticket, answered, core.clock.now())).flatten();
        self.conclude(fingerprint, Outcome::Answered);
    }

    /// Remembers what calls will leave out that go on from the answer with this `id`.
    pub(crate) fn remember(&mut self, id: Option<&str>, answered: &Answered) {
        let Some((link, kept_in)) = self.link.take() else { return };
        let link = Arc::new(link.answered(answered.tool_calls.clone()));
        let mut chains = self.core.chains.lock();
        for name in id.into_iter().chain(kept_in.as_deref()) {
            chains.put(&self.event.agent, name, Arc::clone(&link));
        }
    }

    /// Tells the detector that there is no answer. Does nothing if there was one.
    pub(crate) fn failed(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        let core = &self.core;
        let fingerprint = core.shield.run(|| core.guard.on_failure(&ticket, core.clock.now())).flatten();
        self.conclude(fingerprint, Outcome::Failed);
    }

    /// Ends it as a call that came to nothing.
    fn fail(&mut self) {
        if self.event.score.is_none() {
            self.not_scored();
        }
        self.failed();
    }

    fn conclude(&mut self, fingerprint: Option<Fingerprint>, outcome: Outcome) {
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
    pub(crate) fn kill_event(&mut self, incident: model::IncidentId) -> Event {
        self.recorded = true;
        self.settle();
        self.ticket = None;
        self.set_outcome(Outcome::Refused);
        self.event.event_type = EventType::KillSwitch;
        self.event.status = Some(self.core.config.refusal_status.as_u16());
        self.event.block_reason = Some(BlockReason::Inactive);
        self.event.incident = Some(incident);
        self.event.latency_ms = Some(self.elapsed());
        self.event.clone()
    }

    /// Ends it without its provider's answer.
    pub(crate) fn stop(mut self, stop: Stop) -> Response<Body> {
        self.event.status = Some(stop.status().as_u16());
        match &stop {
            Stop::Inactive(deactivation, _) => self.block(BlockReason::Inactive, deactivation.incident),
            Stop::Policy(reason, _) => self.block(*reason, None),
            Stop::LoopDetected => self.block(BlockReason::LoopDetected, None),
            Stop::Client(..) | Stop::Upstream(..) | Stop::Us(_) => {
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

/// The conversation that the provider keeps an answer in: the next request names that, and not the answer.
fn kept_in(asked: &Asked<'_>) -> Option<String> {
    match &asked.continues {
        Some(Continues::Conversation(id)) => Some(id.clone().into_owned()),
        _ => None,
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
            self.event.error.get_or_insert_with(|| "client went away".to_owned());
            self.fail();
        }
        self.record();
    }
}
