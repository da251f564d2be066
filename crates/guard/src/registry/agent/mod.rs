//! One agent: its settings, its windows, and the step that records a call, scores it and decides.

use model::{
    Action, CallId, DeactivatedBy, Deactivation, Epoch, Exemption, Fingerprint, KillSwitch, Outcome, ResponsePrint,
    SavedAgent, Score, Timestamp,
};

use crate::decision::{AgentView, Configured, Ticket};
use crate::exemptions::Exemptions;
use crate::guard::GuardConfig;
use crate::window::{Bounds, Windows};

mod on_call;

pub(crate) use on_call::Arrival;

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
    /// Its data is being deleted.
    kills_suspended: bool,
    exemptions: Exemptions,
    windows: Windows,
    max_conversations: usize,
}

/// Milliseconds as whole seconds, as many as fit.
pub(crate) fn seconds(millis: i64) -> u16 {
    u16::try_from((millis / 1_000).max(0)).unwrap_or(u16::MAX)
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
            kills_suspended: false,
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

    /// Suspends kills, or resumes them.
    pub(crate) fn suspend_kills(&mut self, suspended: bool) {
        self.kills_suspended = suspended;
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
    pub(crate) fn drop_windows(&mut self) {
        self.windows.drop_windows();
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
