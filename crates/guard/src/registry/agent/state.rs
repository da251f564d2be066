//! The state of an agent without its windows: small, because there may be a million agents.

use std::sync::Arc;

use model::{Deactivation, Epoch, KillSwitch, Score, SignalCounts, Timestamp, WindowKind};

use crate::decision::AgentView;
use crate::exemptions::Exemptions;

/// The state of an agent without its windows.
#[derive(Debug)]
pub(crate) struct AgentState {
    settings: Arc<Settings>,
    last_seen: i64,
    /// The signals of the newest call's score, and the window it comes from.
    signals: SignalCounts,
    window: WindowKind,
    /// Whether the observed episode already has its incident.
    pub(super) observed: bool,
    /// Whether kills are suspended, because its data is being deleted.
    pub(super) kills_suspended: bool,
}

/// What people and the kill switch decided about an agent. Agents without any decision share one
/// copy.
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

    /// Whether it can be forgotten: apart from its windows it is like a new agent.
    pub(crate) fn is_plain(&self, defaults: KillSwitch) -> bool {
        let is_usual = self.kill_switch() == defaults && self.exemptions().is_empty();
        self.deactivation().is_none() && self.epoch() == Epoch::default() && is_usual
    }

    /// Its current state.
    pub(crate) fn view(&self) -> AgentView {
        AgentView {
            deactivation: self.deactivation(),
            epoch: self.epoch(),
            kill_switch: self.kill_switch(),
            current_score: self.score(),
            last_seen: (self.last_seen != NEVER).then_some(Timestamp::from_millis(self.last_seen)),
        }
    }

    /// Records that the agent was seen.
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

    /// Turns it into an agent with these settings that was never seen.
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
