//! What is known of an agent besides its windows: small, because there may be a million of them.

use std::sync::Arc;

use model::{Deactivation, Epoch, KillSwitch, Score, SignalCounts, Timestamp, WindowKind};

use crate::decision::AgentView;
use crate::exemptions::Exemptions;

/// What is known of an agent besides its windows.
#[derive(Debug)]
pub(crate) struct AgentState {
    settings: Arc<Settings>,
    last_seen: i64,
    /// What the score of the newest call is made of, and the window it comes from.
    signals: SignalCounts,
    window: WindowKind,
    /// The episode that is being observed has its incident already.
    pub(super) observed: bool,
    /// Its data is being deleted.
    pub(super) kills_suspended: bool,
}

/// What people and the kill switch decided. Agents share one copy as long as nothing was decided
/// about them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) kill_switch: KillSwitch,
    pub(super) epoch: Epoch,
    pub(super) deactivation: Option<Deactivation>,
    pub(super) exemptions: Exemptions,
}

impl Settings {
    /// The settings of an agent about which nothing was decided.
    pub(crate) fn new(kill_switch: KillSwitch) -> Settings {
        Settings { kill_switch, epoch: Epoch::default(), deactivation: None, exemptions: Exemptions::default() }
    }
}

/// Stands for an agent that was never seen.
const NEVER: i64 = i64::MIN;

impl AgentState {
    /// An agent never seen before.
    pub(crate) fn new(settings: Arc<Settings>) -> AgentState {
        AgentState {
            settings,
            last_seen: NEVER,
            signals: SignalCounts::default(),
            window: WindowKind::default(),
            observed: false,
            kills_suspended: false,
        }
    }

    /// Whether nothing has happened to it since it was created.
    pub(crate) fn is_new(&self, defaults: KillSwitch) -> bool {
        self.last_seen == NEVER
            && self.deactivation().is_none()
            && self.epoch() == Epoch::default()
            && self.kill_switch() == defaults
    }

    /// Whether nothing about it must be remembered but its windows.
    pub(crate) fn is_plain(&self, defaults: KillSwitch) -> bool {
        let is_usual = self.kill_switch() == defaults && self.exemptions().is_empty();
        self.deactivation().is_none() && self.epoch() == Epoch::default() && is_usual
    }

    /// How it stands.
    pub(crate) fn view(&self) -> AgentView {
        AgentView {
            deactivation: self.deactivation(),
            epoch: self.epoch(),
            kill_switch: self.kill_switch(),
            current_score: self.score(),
            last_seen: (self.last_seen != NEVER).then_some(Timestamp::from_millis(self.last_seen)),
        }
    }

    /// The agent was seen.
    pub(crate) fn on_sight(&mut self, now: Timestamp) {
        self.last_seen = self.last_seen.max(now.as_millis());
    }

    /// Why its calls are refused, if they are.
    pub(crate) fn deactivation(&self) -> Option<Deactivation> {
        self.settings.deactivation
    }

    /// Its epoch.
    pub(crate) fn epoch(&self) -> Epoch {
        self.settings.epoch
    }

    pub(super) fn exemptions(&self) -> &Exemptions {
        &self.settings.exemptions
    }

    /// The score of its newest call.
    pub(super) fn score(&self) -> Score {
        Score { value: self.signals.score(), signals: self.signals, window: self.window }
    }

    pub(super) fn set_score(&mut self, score: Score) {
        (self.signals, self.window) = (score.signals, score.window);
    }

    pub(super) fn kill_switch(&self) -> KillSwitch {
        self.settings.kill_switch
    }

    /// The settings, to be changed for this agent alone.
    pub(super) fn settings_mut(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }

    /// Makes it an agent with these settings that was never seen.
    pub(super) fn reset(&mut self, settings: Settings) {
        let shared = Arc::clone(&self.settings);
        *self = AgentState::new(if *shared == settings { shared } else { Arc::new(settings) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_an_agent_takes_32_bytes() {
        assert_eq!(size_of::<AgentState>(), 32);
    }
}
