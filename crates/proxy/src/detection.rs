//! What the detector is told of a call, and what it says: the request is read and scored before it is sent on, the answer is
//! reported when it has come. A fault in here lets the call through.

use std::sync::Arc;

use bytes::Bytes;
use guard::{Decision, NewCall, Scored};
use http::HeaderMap;
use model::{Answered, Asked, Continues, Event, Fingerprint, Outcome, Unread, Unscored};
use wire::{Dialect, Link};

use crate::decoding::readable;
use crate::exchange::Exchange;
use crate::fault;
use crate::held::HeldCall;
use crate::recorded;

impl Exchange {
    /// The call is forwarded without a score, and it is counted why.
    pub(crate) fn pass_unscored(&mut self, reason: Unscored) {
        self.event.unscored = Some(reason);
        self.event.error = match reason {
            Unscored::NoConversation | Unscored::Housekeeping => None,
            Unscored::Threads => Some(format!("{}threads are not read", Event::UNSUPPORTED)),
            Unscored::Batch => Some(format!("{}batches are not read", Event::UNSUPPORTED)),
            Unscored::Unread(unread) => Some(format!("{}{unread}", Event::UNREAD)),
            Unscored::DetectionFailed => Some(Event::NOT_SCORED.to_owned()),
        };
        self.not_scored();
    }

    /// A call that is not scored still shows that its agent is alive.
    fn not_scored(&mut self) {
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
            Some(Err(unread)) => self.pass_unscored(Unscored::Unread(unread)),
            None => self.pass_unscored(Unscored::DetectionFailed),
        }
        self.asked_tokens = core.shield.run(|| wire::body_tokens(body)).unwrap_or_default();
        None
    }

    /// The decision, and the body behind its encoding.
    fn read_and_decide(
        &mut self,
        dialect: Dialect,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(Decision, Bytes), Unread> {
        let body = readable(headers, body, self.core.config.max_read())?;
        let asked = wire::read_request(dialect, &body)?;
        let before = asked.continues.as_ref().and_then(|it| self.core.chains.lock().get(&self.event.agent, it.id()));
        let referenced = self.referenced_calls(&asked);
        let mut asked = match &before {
            Some(link) => link.extend(asked),
            None => asked,
        };
        referenced.iter().for_each(|link| link.resolve(&mut asked));
        let conversation = wire::conversation_of(headers, &asked);
        self.link = asked.is_kept.then(|| (Link::new(&conversation, &asked, Vec::new()), kept_in(&asked)));
        let event = &mut self.event;
        // Where the path names one, that is the one that answers.
        event.model = event.model.take().or_else(|| asked.model.as_deref().map(recorded::model_name));
        event.streamed |= asked.streamed;
        self.asked_tokens = wire::asked_tokens(body.len(), &asked);
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

    /// What is remembered of the tool calls that a request only refers to.
    fn referenced_calls(&self, asked: &Asked<'_>) -> Vec<Arc<Link>> {
        if asked.referenced_items.is_empty() {
            return Vec::new();
        }
        let chains = self.core.chains.lock();
        asked.referenced_items.iter().filter_map(|id| chains.get(&self.event.agent, id)).collect()
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

    /// Remembers what calls will leave out that go on from the answer with this `id`, or refer to its `call_items`.
    pub(crate) fn remember(&mut self, id: Option<&str>, call_items: &[(String, usize)], answered: &Answered) {
        let Some((link, kept_in)) = self.link.take() else { return };
        let link = Arc::new(link.answered(answered.tool_calls.clone()));
        let mut chains = self.core.chains.lock();
        for name in id.into_iter().chain(kept_in.as_deref()) {
            chains.put(&self.event.agent, name, Arc::clone(&link));
        }
        for (item, place) in call_items {
            if let Some(call) = answered.tool_calls.get(*place) {
                chains.put(&self.event.agent, item, Arc::new(Link::to_call(call.clone())));
            }
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
    pub(crate) fn fail(&mut self) {
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

    pub(crate) fn set_outcome(&mut self, outcome: Outcome) {
        if let Some(fingerprint) = &mut self.event.fingerprint {
            fingerprint.outcome = outcome;
        }
    }
}

/// The conversation that the provider keeps an answer in: the next request names that, and not the answer.
fn kept_in(asked: &Asked<'_>) -> Option<String> {
    match &asked.continues {
        Some(Continues::Conversation(id)) => Some(id.clone().into_owned()),
        _ => None,
    }
}
