//! One agent: its settings, its windows, and the step that records a call, scores it and decides.

use std::sync::Arc;

use model::{
    Action, CallId, DeactivatedBy, Deactivation, Epoch, Exemption, Fingerprint, KillSwitch, Outcome, ResponsePrint,
    SavedAgent, Score, Timestamp,
};

use crate::decision::{Configured, Ticket};
use crate::window::{Bounds, StoredWindows, Windows};

mod follow;
mod on_call;
mod state;

pub(crate) use follow::OwnCall;
pub(crate) use on_call::Arrival;
pub(crate) use state::{AgentState, Settings};

/// One agent at work: locked as a whole, its windows open.
#[derive(Debug)]
pub(crate) struct Agent<'a> {
    pub(crate) state: &'a mut AgentState,
    pub(crate) windows: &'a mut Windows,
    pub(crate) max_conversations: usize,
}

/// Milliseconds as whole seconds, at most as many as fit.
pub(crate) fn seconds(millis: i64) -> u16 {
    u16::try_from((millis / 1_000).max(0)).unwrap_or(u16::MAX)
}

/// How a call ended.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) response: Option<ResponsePrint>,
    pub(crate) at: Timestamp,
}

impl Agent<'_> {
    /// Restores the agent from what was saved. Its calls are added in their order, then the newest
    /// is judged: so the current score and the observed episode survive a restart.
    pub(crate) fn restore(&mut self, saved: SavedAgent) {
        self.state.reset(Settings {
            kill_switch: saved.kill_switch,
            epoch: saved.epoch,
            deactivation: saved.deactivation,
            exemptions: saved.exemptions.into(),
        });
        *self.windows = Windows::above(saved.window_floor);
        if let Some(last_seen) = saved.last_seen {
            self.state.on_sight(last_seen);
        }
        let mut prints = saved.fingerprints;
        prints.sort_by_key(|print| print.number);
        let bounds = self.bounds();
        prints.iter().for_each(|print| self.windows.push(print, bounds));
        // Calls that leave the windows during the restore have no cached bodies to release.
        self.windows.take_released();
        self.score_restored();
    }

    /// Judges the newest call after calls were restored.
    pub(super) fn score_restored(&mut self) {
        if let Some(newest) = self.windows.newest() {
            let (score, kill_switch) = (self.score_of(&newest), self.state.kill_switch());
            self.state.set_score(score);
            self.state.observed =
                kill_switch.enabled && kill_switch.action == Action::Observe && score.value > kill_switch.threshold;
        }
    }

    /// Records how a call ended. A call that has ended stays as it is.
    pub(crate) fn on_end(&mut self, ticket: &Ticket, ended: Ended) -> Option<Fingerprint> {
        if ticket.epoch != self.state.epoch() {
            return None;
        }
        self.windows.on_activity(ticket.conversation, ended.at);
        self.windows.end(ticket.call, |print| {
            print.outcome = ended.outcome;
            print.response = ended.response;
        })
    }

    /// Deactivates it by hand. `None` if it was inactive before.
    pub(crate) fn deactivate(&mut self, now: Timestamp) -> Option<Deactivation> {
        if self.state.deactivation().is_some() {
            return None;
        }
        let deactivation = Deactivation { by: DeactivatedBy::Manual, at: now, incident: None };
        self.state.settings_mut().deactivation = Some(deactivation);
        Some(deactivation)
    }

    /// Starts `epoch`. Does nothing if it has already begun: that would lift a kill made in it.
    pub(crate) fn activate(&mut self, epoch: Epoch) {
        if epoch <= self.state.epoch() {
            return;
        }
        let settings = self.state.settings_mut();
        settings.epoch = epoch;
        settings.deactivation = None;
        self.state.set_score(Score::default());
        self.state.observed = false;
        self.windows.clear();
    }

    /// Adopts a later epoch and a deactivation from another server.
    pub(crate) fn adopt(&mut self, epoch: Epoch, deactivation: Option<Deactivation>) {
        self.activate(epoch);
        if deactivation.is_some() && epoch == self.state.epoch() && deactivation != self.state.deactivation() {
            self.state.settings_mut().deactivation = deactivation;
        }
    }

    /// Suspends kills, or resumes them.
    pub(crate) fn suspend_kills(&mut self, suspended: bool) {
        self.state.kills_suspended = suspended;
    }

    /// The floor of the windows after a change to `kill_switch`.
    pub(crate) fn window_floor_after(&self, kill_switch: KillSwitch) -> u64 {
        self.windows.floor_after(self.state.kill_switch().window_size, kill_switch.window_size)
    }

    /// Changes the settings from the next call on, with the floor that is stored with them.
    pub(crate) fn configure(&mut self, kill_switch: KillSwitch, window_floor: u64) -> Configured {
        let before = std::mem::replace(&mut self.state.settings_mut().kill_switch, kill_switch);
        self.windows.resize(window_floor, usize::from(kill_switch.window_size));
        Configured { before, window_floor: self.windows.floor() }
    }

    /// Replaces the exemptions from the next call on.
    pub(crate) fn exempt(&mut self, exemptions: Vec<Exemption>) {
        self.state.settings_mut().exemptions = exemptions.into();
    }

    fn bounds(&self) -> Bounds {
        let window_size = usize::from(self.state.kill_switch().window_size);
        Bounds { window_size, max_conversations: self.max_conversations }
    }
}

/// An agent as it is kept in memory.
#[derive(Debug)]
pub(crate) struct StoredAgent {
    pub(crate) state: AgentState,
    pub(crate) windows: StoredWindows,
}

impl StoredAgent {
    /// An agent never seen before.
    pub(crate) fn new(settings: Arc<Settings>) -> StoredAgent {
        StoredAgent { state: AgentState::new(settings), windows: StoredWindows::default() }
    }

    /// The agent at work.
    pub(crate) fn open(&mut self, max_conversations: usize) -> Agent<'_> {
        Agent { state: &mut self.state, windows: self.windows.open(), max_conversations }
    }

    /// Forgets the calls of its windows to make room for other agents; returns which they were.
    pub(crate) fn drop_windows(&mut self) -> Vec<CallId> {
        let windows = self.windows.open();
        windows.drop_windows();
        let released = windows.take_released();
        self.windows.close();
        released
    }
}
