//! The step that records a call, scores it and decides.

use model::{
    Action, AgentId, CallId, ConversationId, Counting, DeactivatedBy, Deactivation, Fingerprint, IncidentId, Kill,
    Novelty, Outcome, Score, Timestamp, WindowKind,
};

use super::{Agent, seconds};
use crate::decision::{Decision, Scored, Ticket, Verdict};
use crate::fingerprint::RequestPrint;
use crate::progress::{self, Moment};
use crate::rules;
use crate::score;
use crate::stuck::stuck;
use crate::window::PackedFingerprint;

/// A call on its way into the windows.
pub(crate) struct Arrival<'a> {
    pub(crate) agent: &'a AgentId,
    pub(crate) call: CallId,
    pub(crate) print: RequestPrint,
    pub(crate) now: Timestamp,
    /// The number that the shared log gave it; `None` for the next one.
    pub(crate) number: Option<u64>,
}

impl Agent<'_> {
    /// Records a call, scores it and decides.
    pub(crate) fn on_call(&mut self, arrival: Arrival<'_>) -> Decision {
        self.state.on_sight(arrival.now);
        if let Some(deactivation) = self.state.deactivation() {
            return Decision::Inactive(deactivation);
        }
        let mut print = self.record(&arrival);
        let score = self.score_of(&print);
        self.state.set_score(score);
        let verdict = self.decide(&print, &arrival);
        if matches!(verdict, Verdict::Block | Verdict::Kill(_)) {
            print.outcome = Outcome::Refused;
            self.windows.end(print.call, |print| print.outcome = Outcome::Refused);
        }
        let ticket = Ticket {
            agent: arrival.agent.clone(),
            epoch: self.state.epoch(),
            call: arrival.call,
            conversation: print.conversation,
        };
        Decision::Scored(Box::new(Scored {
            ticket,
            fingerprint: print,
            score: self.state.score(),
            kill_switch: self.state.kill_switch(),
            verdict,
            released: self.windows.take_released(),
        }))
    }

    fn record(&mut self, arrival: &Arrival<'_>) -> Fingerprint {
        let request = &arrival.print;
        let number = arrival.number.unwrap_or_else(|| self.windows.next_number(arrival.now));
        let arrived = request.arrived(arrival.call, number, arrival.now);
        let silence = self.windows.silence(request.conversation, arrival.now);
        let asked = PackedFingerprint::from(&arrived);
        let print = Fingerprint {
            is_sample: self.is_sample(&asked),
            silence: arrived.silence.max(seconds(silence)),
            ..arrived
        };
        let print = Fingerprint { novelty: self.novelty(&print), ..print };
        self.windows.push(&print, self.bounds());
        print
    }

    /// Whether `asked` is one of several samples. In a later round of the same ask it is not.
    fn is_sample(&self, asked: &PackedFingerprint) -> bool {
        let is_same = |call: &PackedFingerprint| rules::is_same_ask(call, asked);
        if !rules::is_sample(self.windows.in_flight(is_same)) {
            return false;
        }
        let mut same = self.windows.calls(WindowKind::Agent, asked.conversation());
        same.retain(|call| is_same(call));
        let Some(first) = same.iter().rposition(|call| !call.is_sample()) else { return true };
        let answered_before = same[..first].iter().any(|call| call.outcome() == Outcome::Answered);
        !rules::is_later_round(&Fingerprint::from(same[first]), answered_before)
    }

    /// What the step that a call reports contributed, compared with earlier calls.
    fn novelty(&self, print: &Fingerprint) -> Novelty {
        let Some(step) = print.tools.filter(|_| !print.is_sample) else {
            return match print.novelty {
                _ if print.is_sample => Novelty::Neutral,
                Novelty::Idle => Novelty::Idle,
                _ if self.is_beside_work(print) => Novelty::Changed,
                _ => Novelty::Neutral,
            };
        };
        let earlier = self.windows.comparable_calls(print);
        // A retry after a failure reports nothing new.
        let has_failed = |call: &PackedFingerprint| call.outcome() == Outcome::Failed && call.body == print.body;
        if self.windows.has_failed() && earlier.clone().any(has_failed) {
            return Novelty::Neutral;
        }
        let moment = Moment { turn: print.turn, depth: print.step.depth, silence: print.silence };
        // Collected once, because `novelty` goes through them several times, and there may be many
        // samples among them.
        let mut asks: Vec<&PackedFingerprint> = Vec::with_capacity(self.bounds().window_size);
        asks.extend(earlier.filter(|call| !call.is_sample()));
        progress::novelty(asks.iter().copied(), &step, moment)
    }

    /// Whether a call begins its conversation anew with a few words, and other conversations of the
    /// agent made progress since it did so before: clients ask for titles and topics beside their
    /// work, and visitors come while others are served.
    fn is_beside_work(&self, print: &Fingerprint) -> bool {
        if print.turn.position > 0 || print.step.depth > 0 || !print.prompt_is_short {
            return false;
        }
        let calls = self.windows.calls(WindowKind::Agent, print.conversation);
        let mut others = calls.iter().rev().take_while(|call| call.conversation() != print.conversation);
        others.any(|call| call.novelty().is_progress() && call.tools().is_some())
    }

    /// Scores a recorded call as it arrived, then records how it ended.
    pub(crate) fn on_recorded(&mut self, print: &Fingerprint) -> Score {
        let print = &Fingerprint { novelty: self.novelty(print), ..*print };
        let arriving = Fingerprint { response: None, outcome: Outcome::Pending, ..*print };
        self.windows.push(&arriving, self.bounds());
        let score = self.score_of(&arriving);
        self.state.set_score(score);
        self.windows.end(print.call, |arrived| *arrived = *print);
        self.windows.take_released();
        score
    }

    /// What the tool step of its newest call contributed.
    pub(crate) fn newest_novelty(&self) -> Novelty {
        self.windows.newest().map(|print| print.novelty).unwrap_or_default()
    }

    /// The higher score of the two windows that end with `print`; the agent's window wins a tie.
    pub(super) fn score_of(&self, print: &Fingerprint) -> Score {
        let score_in = |window| {
            let calls = self.considered(window, print.conversation);
            let signals = score::signals(calls, self.state.kill_switch().counting, self.state.exemptions());
            Score { value: signals.score(), signals, window }
        };
        let agent = score_in(WindowKind::Agent);
        // Most agents have one conversation at a time: then both windows hold the same calls.
        if self.windows.hold_same_calls(print.conversation) {
            return agent;
        }
        let conversation = score_in(WindowKind::Conversation);
        if conversation.value > agent.value { conversation } else { agent }
    }

    /// The calls of a window that its last call is compared with, and that call. A window may hold
    /// many samples, which matter only if a call failed and was sent again.
    fn considered(&self, window: WindowKind, conversation: ConversationId) -> Vec<&PackedFingerprint> {
        if self.state.kill_switch().counting == Counting::Adaptive && !self.windows.has_failed() {
            return self.windows.asks(window, conversation);
        }
        self.calls_of(window, conversation)
    }

    /// The calls of a window. In the literal formula samples count like other calls.
    fn calls_of(&self, window: WindowKind, conversation: ConversationId) -> Vec<&PackedFingerprint> {
        let mut calls = self.windows.calls(window, conversation);
        if self.state.kill_switch().counting == Counting::Literal {
            let excess = calls.len().saturating_sub(usize::from(self.state.kill_switch().window_size));
            calls.drain(..excess);
        }
        calls
    }

    fn decide(&mut self, print: &Fingerprint, arrival: &Arrival<'_>) -> Verdict {
        if self.state.score().value <= self.state.kill_switch().threshold {
            self.state.observed = false;
            return Verdict::Pass;
        }
        if self.state.kills_suspended {
            return Verdict::Pass;
        }
        if !self.state.kill_switch().enabled {
            return Verdict::WouldHaveStopped;
        }
        match self.state.kill_switch().action {
            Action::Block => Verdict::Block,
            Action::Observe if std::mem::replace(&mut self.state.observed, true) => Verdict::Observe(None),
            Action::Observe => Verdict::Observe(Some(self.kill(print, arrival))),
            Action::Deactivate => {
                let kill = self.kill(print, arrival);
                self.state.settings_mut().deactivation = Some(Deactivation {
                    by: DeactivatedBy::KillSwitch,
                    at: arrival.now,
                    incident: Some(kill.incident),
                });
                Verdict::Kill(kill)
            }
        }
    }

    fn kill(&self, print: &Fingerprint, arrival: &Arrival<'_>) -> Kill {
        let window = self.calls_of(self.state.score().window, print.conversation);
        let matches = score::matches(&window, self.state.kill_switch().counting, self.state.exemptions());
        Kill {
            incident: match arrival.number {
                // Other replicas judge the same call, and must find the same incident.
                Some(_) => IncidentId::of_call(arrival.call, arrival.now),
                None => IncidentId::at(arrival.now),
            },
            agent: arrival.agent.clone(),
            epoch: self.state.epoch(),
            at: arrival.now,
            score: self.state.score(),
            kill_switch: self.state.kill_switch(),
            stuck: stuck(&window, &matches, self.state.kill_switch().counting),
            matches,
            window: window.into_iter().map(Fingerprint::from).collect(),
        }
    }
}
