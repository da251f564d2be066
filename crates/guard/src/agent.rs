//! One agent: its settings, its windows, and the step that records a call, scores it and decides.

use model::{
    Action, AgentId, CallId, ConversationId, Counting, DeactivatedBy, Deactivation, Epoch, Exemption, Fingerprint,
    IncidentId, Kill, KillSwitch, Novelty, Outcome, ResponsePrint, SavedAgent, Score, Timestamp, WindowKind,
};

use crate::entry::Entry;
use crate::exemptions::Exemptions;
use crate::fingerprint::RequestPrint;
use crate::guard::{AgentView, Configured, Decision, GuardConfig, Scored, Ticket, Verdict};
use crate::progress;
use crate::rules;
use crate::score;
use crate::stuck::stuck;
use crate::window::{Bounds, Windows};

/// The state of one agent, locked as a whole.
#[derive(Debug)]
pub(crate) struct Agent {
    kill_switch: KillSwitch,
    epoch: Epoch,
    deactivation: Option<Deactivation>,
    score: Score,
    last_seen: Option<Timestamp>,
    /// The episode that is being observed has its incident already.
    observed: bool,
    /// It is about to be forgotten.
    spared: bool,
    exemptions: Exemptions,
    windows: Windows,
    max_conversations: usize,
}

/// Milliseconds as whole seconds, as many as fit.
pub(crate) fn seconds(millis: i64) -> u16 {
    u16::try_from((millis / 1_000).max(0)).unwrap_or(u16::MAX)
}

/// A call on its way into the windows.
pub(crate) struct Arrival<'a> {
    pub(crate) agent: &'a AgentId,
    pub(crate) call: CallId,
    pub(crate) print: RequestPrint,
    pub(crate) now: Timestamp,
}

/// How a call ended.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) response: Option<ResponsePrint>,
    pub(crate) at: Timestamp,
}

impl Agent {
    /// An agent never seen before.
    pub(crate) fn new(config: &GuardConfig) -> Agent {
        Agent {
            kill_switch: config.defaults,
            epoch: Epoch::default(),
            deactivation: None,
            score: Score::default(),
            last_seen: None,
            observed: false,
            spared: false,
            exemptions: Exemptions::default(),
            windows: Windows::default(),
            max_conversations: config.max_conversations,
        }
    }

    /// The agent as it was saved. Its calls are replayed in their order, then judged as they stand:
    /// so the current score and an episode that has its incident survive a restart.
    pub(crate) fn restored(saved: SavedAgent, config: &GuardConfig) -> Agent {
        let mut agent = Agent {
            kill_switch: saved.kill_switch,
            epoch: saved.epoch,
            deactivation: saved.deactivation,
            last_seen: saved.last_seen,
            exemptions: saved.exemptions.into(),
            windows: Windows::above(saved.window_floor),
            ..Agent::new(config)
        };
        let mut prints = saved.fingerprints;
        prints.sort_by_key(|print| print.number);
        let bounds = agent.bounds();
        prints.iter().for_each(|print| agent.windows.push(print, bounds));
        // Nobody waits for the bodies of calls from before the restart.
        agent.windows.take_left();
        if let Some(newest) = agent.windows.newest() {
            agent.score = agent.score_of(&newest);
            agent.observed = agent.kill_switch.enabled
                && agent.kill_switch.action == Action::Observe
                && agent.score.value > agent.kill_switch.threshold;
        }
        agent
    }

    /// Whether nothing has happened to it since it was created.
    pub(crate) fn is_new(&self, config: &GuardConfig) -> bool {
        self.last_seen.is_none()
            && self.deactivation.is_none()
            && self.epoch == Epoch::default()
            && self.kill_switch == config.defaults
    }

    /// Why its calls are refused, if they are.
    pub(crate) fn deactivation(&self) -> Option<Deactivation> {
        self.deactivation
    }

    /// Its epoch.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// How it stands.
    pub(crate) fn view(&self) -> AgentView {
        AgentView {
            deactivation: self.deactivation,
            epoch: self.epoch,
            kill_switch: self.kill_switch,
            current_score: self.score,
            last_seen: self.last_seen,
        }
    }

    /// Whether nothing about it must be remembered but its windows.
    pub(crate) fn is_plain(&self, defaults: KillSwitch) -> bool {
        let is_usual = self.kill_switch == defaults && self.exemptions.is_empty();
        self.deactivation.is_none() && self.epoch == Epoch::default() && is_usual
    }

    /// It was heard of.
    pub(crate) fn on_sight(&mut self, now: Timestamp) {
        self.last_seen = self.last_seen.max(Some(now));
    }

    /// Records a call, scores it and decides.
    pub(crate) fn on_call(&mut self, arrival: Arrival<'_>) -> Decision {
        self.on_sight(arrival.now);
        if let Some(deactivation) = self.deactivation {
            return Decision::Inactive(deactivation);
        }
        let mut print = self.record(&arrival);
        self.score = self.score_of(&print);
        let verdict = self.decide(&print, &arrival);
        if matches!(verdict, Verdict::Block | Verdict::Kill(_)) {
            print.outcome = Outcome::Refused;
            self.windows.end(print.call, |print| print.outcome = Outcome::Refused);
        }
        let ticket = Ticket {
            agent: arrival.agent.clone(),
            epoch: self.epoch,
            call: arrival.call,
            conversation: print.conversation,
        };
        Decision::Scored(Box::new(Scored {
            ticket,
            fingerprint: print,
            score: self.score,
            kill_switch: self.kill_switch,
            verdict,
            left: self.windows.take_left(),
        }))
    }

    fn record(&mut self, arrival: &Arrival<'_>) -> Fingerprint {
        let request = &arrival.print;
        let arrived = request.arrived(arrival.call, self.windows.next_number(arrival.now), arrival.now);
        let silence = self.windows.silence(request.conversation, arrival.now);
        let print = Fingerprint {
            is_sample: rules::is_sample(self.windows.in_flight(request.body)),
            silence: arrived.silence.max(seconds(silence)),
            ..arrived
        };
        let print = Fingerprint { novelty: self.novelty(&print), ..print };
        self.windows.push(&print, self.bounds());
        print
    }

    /// What the step that a call reports brought, compared with the calls before it.
    fn novelty(&self, print: &Fingerprint) -> Novelty {
        let Some(step) = print.tools.filter(|_| !print.is_sample) else { return Novelty::Neutral };
        let earlier = self.windows.comparable_calls(print);
        // What was sent again after a failure reports nothing that happened since.
        if earlier.clone().any(|call| call.outcome() == Outcome::Failed && call.body == print.body) {
            return Novelty::Neutral;
        }
        progress::novelty(earlier.filter(|call| !call.is_sample()), &step, print.turn, print.silence)
    }

    /// Scores a call that was recorded, then takes it as it ended.
    pub(crate) fn on_recorded(&mut self, print: &Fingerprint) -> Score {
        let print = &Fingerprint { novelty: self.novelty(print), ..*print };
        let arriving = Fingerprint { response: None, outcome: Outcome::Pending, ..*print };
        self.windows.push(&arriving, self.bounds());
        self.score = self.score_of(&arriving);
        self.windows.end(print.call, |arrived| *arrived = *print);
        self.windows.take_left();
        self.score
    }

    /// What the tool step of its newest call brought.
    pub(crate) fn newest_novelty(&self) -> Novelty {
        self.windows.newest().map(|print| print.novelty).unwrap_or_default()
    }

    /// The larger of the scores of the two windows that end with `print`; that of the agent's
    /// window if they are equal.
    fn score_of(&self, print: &Fingerprint) -> Score {
        let score_in = |window| {
            let calls = self.calls_of(window, print.conversation);
            let signals = score::signals(calls, self.kill_switch.counting, &self.exemptions);
            Score { value: signals.score(), signals, window }
        };
        let agent = score_in(WindowKind::Agent);
        // Most agents have one conversation at a time: then both windows hold the same calls.
        if self.windows.are_one(print.conversation) {
            return agent;
        }
        let conversation = score_in(WindowKind::Conversation);
        if conversation.value > agent.value { conversation } else { agent }
    }

    /// The calls of a window. By the literal formula samples are calls like any others.
    fn calls_of(&self, window: WindowKind, conversation: ConversationId) -> Vec<&Entry> {
        let mut calls = self.windows.calls(window, conversation);
        if self.kill_switch.counting == Counting::Literal {
            let excess = calls.len().saturating_sub(usize::from(self.kill_switch.window_size));
            calls.drain(..excess);
        }
        calls
    }

    fn decide(&mut self, print: &Fingerprint, arrival: &Arrival<'_>) -> Verdict {
        if self.score.value <= self.kill_switch.threshold {
            self.observed = false;
            return Verdict::Pass;
        }
        if self.spared {
            return Verdict::Pass;
        }
        if !self.kill_switch.enabled {
            return Verdict::WouldHaveStopped;
        }
        match self.kill_switch.action {
            Action::Block => Verdict::Block,
            Action::Observe if std::mem::replace(&mut self.observed, true) => Verdict::Observe(None),
            Action::Observe => Verdict::Observe(Some(self.kill(print, arrival))),
            Action::Deactivate => {
                let kill = self.kill(print, arrival);
                self.deactivation = Some(Deactivation {
                    by: DeactivatedBy::KillSwitch,
                    at: arrival.now,
                    incident: Some(kill.incident),
                });
                Verdict::Kill(kill)
            }
        }
    }

    fn kill(&self, print: &Fingerprint, arrival: &Arrival<'_>) -> Kill {
        let window = self.calls_of(self.score.window, print.conversation);
        let matches = score::matches(&window, self.kill_switch.counting, &self.exemptions);
        Kill {
            incident: IncidentId::at(arrival.now),
            agent: arrival.agent.clone(),
            epoch: self.epoch,
            at: arrival.now,
            score: self.score,
            kill_switch: self.kill_switch,
            stuck: stuck(&window, &matches, self.kill_switch.counting),
            matches,
            window: window.into_iter().map(Fingerprint::from).collect(),
        }
    }

    /// Records how a call ended. What ended once stays as it is.
    pub(crate) fn on_end(&mut self, ticket: &Ticket, ended: Ended) -> Option<Fingerprint> {
        if ticket.epoch != self.epoch {
            return None;
        }
        self.windows.on_activity(ticket.conversation, ended.at);
        self.windows.end(ticket.call, |print| {
            print.outcome = ended.outcome;
            print.response = ended.response;
        })
    }

    /// Deactivates it by hand. `None`: it is inactive already.
    pub(crate) fn deactivate(&mut self, now: Timestamp) -> Option<Deactivation> {
        if self.deactivation.is_some() {
            return None;
        }
        self.deactivation = Some(Deactivation { by: DeactivatedBy::Manual, at: now, incident: None });
        self.deactivation
    }

    /// Starts `epoch`. One that has begun already is not begun again: that would lift a kill made
    /// in it.
    pub(crate) fn activate(&mut self, epoch: Epoch) {
        if epoch <= self.epoch {
            return;
        }
        self.epoch = epoch;
        self.deactivation = None;
        self.score = Score::default();
        self.observed = false;
        self.windows.clear();
    }

    /// Whether it is stopped by nothing for now.
    pub(crate) fn spare(&mut self, spared: bool) {
        self.spared = spared;
    }

    /// The floor of the windows after a change to `kill_switch`.
    pub(crate) fn window_floor_after(&self, kill_switch: KillSwitch) -> u64 {
        self.windows.floor_after(self.kill_switch.window_size, kill_switch.window_size)
    }

    /// Changes the settings from the next call on, with the floor that is stored with them.
    pub(crate) fn configure(&mut self, kill_switch: KillSwitch, window_floor: u64) -> Configured {
        let before = std::mem::replace(&mut self.kill_switch, kill_switch);
        self.windows.resize(window_floor, usize::from(kill_switch.window_size));
        Configured { before, window_floor: self.windows.floor() }
    }

    /// Changes what does not count, from the next call on.
    pub(crate) fn exempt(&mut self, exemptions: Vec<Exemption>) {
        self.exemptions = exemptions.into();
    }

    /// Forgets the calls of its windows to make room for those of others.
    pub(crate) fn let_go(&mut self) {
        self.windows.let_go();
    }

    /// The calls that stand in its windows.
    pub(crate) fn calls_in_windows(&self) -> impl Iterator<Item = CallId> {
        self.windows.in_windows()
    }

    /// The calls that have left its windows since this was last asked.
    pub(crate) fn take_left(&mut self) -> Vec<CallId> {
        self.windows.take_left()
    }

    fn bounds(&self) -> Bounds {
        Bounds { window_size: usize::from(self.kill_switch.window_size), max_conversations: self.max_conversations }
    }
}
