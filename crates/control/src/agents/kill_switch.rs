//! The kill switch of an agent.

use model::{AgentId, KillSwitch, KillSwitchChange, Score};
use store::{Change, StoreError};

use crate::{Command, Commands, Control, ControlError};

/// The kill switch of an agent and its figures.
#[derive(Clone, Copy, Debug)]
pub struct KillSwitchStatus {
    /// Its settings.
    pub settings: KillSwitch,
    /// The score of the agent's newest call.
    pub score: Score,
    /// Whether anyone is notified of a kill.
    pub notifies: bool,
    /// How many calls since the last activation would have been stopped, had it been on.
    pub would_have_stopped: u64,
}

impl Commands {
    /// Changes the kill switch of an agent, which is created if it is unknown. It takes effect from
    /// the next call on.
    pub async fn configure(&self, agent: AgentId, change: KillSwitchChange) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.configure(&agent, change).await }).await
    }
}

impl Control {
    /// The kill switch of an agent.
    pub async fn kill_switch(&self, agent: &AgentId) -> Result<KillSwitchStatus, ControlError> {
        let settings = self.0.known(agent).await?.kill_switch;
        self.0.catch_up().await;
        Ok(KillSwitchStatus {
            settings,
            score: self.0.guard.agent(agent).map(|live| live.current_score).unwrap_or_default(),
            notifies: self.0.store.notifies_of_kills(agent).await?,
            would_have_stopped: self.0.store.would_have_stopped(agent).await?,
        })
    }
}

impl Command {
    async fn configure(&self, agent: &AgentId, change: KillSwitchChange) -> Result<(), ControlError> {
        self.refresh_agent(agent).await;
        let current =
            self.state_of(agent).await?.map_or_else(|| self.guard.defaults_of(agent), |state_of| state_of.kill_switch);
        let kill_switch = change.apply(current)?;
        let window_floor = self.store_kill_switch(agent, kill_switch).await?;
        self.guard.configure_above(agent, kill_switch, window_floor);
        Ok(())
    }

    /// Stores settings with the floor of the windows under them, and returns the floor.
    pub(crate) async fn store_kill_switch(&self, agent: &AgentId, kill_switch: KillSwitch) -> Result<u64, StoreError> {
        let window_floor = self.guard.window_floor_after(agent, kill_switch);
        let change = Change::Configure { agent: agent.clone(), kill_switch, window_floor, at: self.clock.now() };
        self.change(change).await?;
        Ok(window_floor)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use guard::{GuardConfig, Verdict};
    use model::{Clock, Policy};

    use super::*;
    use crate::restore_guard;
    use crate::test_support::{Fixture, agent};

    fn window_of(window_size: u64) -> KillSwitchChange {
        KillSwitchChange { enabled: Some(true), window_size: Some(window_size), ..KillSwitchChange::default() }
    }

    #[tokio::test]
    async fn refused_change_keeps_settings_and_window() {
        let mut fixture = Fixture::start().await;
        fixture.commands().configure(agent(), window_of(20)).await.unwrap();
        (0..5).for_each(|_| drop(fixture.call(&agent())));
        let before = fixture.guard.agent(&agent()).unwrap().kill_switch;

        fixture.break_store().await;
        let refused = fixture.commands().configure(agent(), window_of(2)).await;
        assert!(matches!(refused, Err(ControlError::Store(StoreError::Unavailable(_)))), "{refused:?}");

        assert_eq!(fixture.guard.agent(&agent()).unwrap().kill_switch, before);
        let sixth = fixture.call(&agent());
        assert_eq!(sixth.score.value, 13.0);
        assert!(matches!(sixth.verdict, Verdict::Kill(_)));
    }

    #[tokio::test]
    async fn refused_change_creates_no_agent() {
        let mut fixture = Fixture::start().await;
        fixture.break_store().await;
        fixture.commands().configure(agent(), window_of(2)).await.unwrap_err();
        assert!(fixture.guard.agent(&agent()).is_none());
    }

    #[tokio::test]
    async fn stored_change_shrinks_the_window_for_good() {
        let fixture = Fixture::start().await;
        (0..5).for_each(|_| drop(fixture.call(&agent())));
        fixture.commands().configure(agent(), window_of(2)).await.unwrap();
        fixture.commands().configure(agent(), window_of(20)).await.unwrap();
        let settings = fixture.guard.agent(&agent()).unwrap().kill_switch;
        let floor = fixture.guard.window_floor_after(&agent(), settings);

        let sixth = fixture.call(&agent());
        assert_eq!((sixth.score.signals.similar_prompts, sixth.fingerprint.number), (2, floor + 3), "two calls stayed");
        let configured = Policy::default();
        let restored = restore_guard(GuardConfig::default(), &configured, &fixture.store, &Clock::System);
        assert_eq!(restored.await.unwrap().window_floor_after(&agent(), settings), floor, "a restart agrees");
    }
}
