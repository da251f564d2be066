//! Applies the changes of other servers on the same database to memory.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use model::{ANY, AgentId, DeactivatedBy, IncidentId, Timestamp};
use store::{ChangeFeed, ChangedKind, ChangedRow, Notice};

use crate::{Control, ControlError, State};

/// The most agents that are announced one by one after calls to other servers: beyond that a page
/// reads all agents.
const MOST_SEEN: u32 = 50;

/// The pause after the database could not be read.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

impl Control {
    /// Follows the changes of other servers for ever. Failures are retried, so that no stored
    /// change is missed.
    pub async fn follow(&self, mut feed: ChangeFeed) {
        let mut pending = BTreeSet::new();
        let mut seen_until = self.0.clock.now();
        let mut well = true;
        loop {
            let followed = match self.follow_once(&mut feed, &mut pending).await {
                Ok(()) => self.0.announce_calls(&mut seen_until).await,
                failed => failed,
            };
            match followed {
                Ok(()) => well = true,
                Err(error) => {
                    if std::mem::take(&mut well) {
                        tracing::warn!("changes of other replicas cannot be read: {error}");
                    }
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        }
    }

    /// How long ago the changes of other servers were last read; `None` if they never were.
    pub fn follow_lag(&self) -> Option<Duration> {
        self.0.followed_at.lock().map(|at| at.elapsed())
    }

    async fn follow_once(&self, feed: &mut ChangeFeed, pending: &mut BTreeSet<ChangedRow>) -> Result<(), ControlError> {
        let read_at = Instant::now();
        pending.extend(feed.next().await?);
        while let Some(row) = pending.first() {
            // No command may run in between: what it stores is newer than what is read here.
            let _turn = self.0.turn.lock().await;
            self.0.apply_changed(row).await?;
            pending.pop_first();
        }
        *self.0.followed_at.lock() = Some(read_at);
        Ok(())
    }
}

impl State {
    /// Reads again what another server has changed.
    async fn apply_changed(&self, ChangedRow { kind, key }: &ChangedRow) -> Result<(), ControlError> {
        match kind {
            ChangedKind::Agent => match AgentId::parse(key) {
                // The agent was deleted.
                Ok(agent) if !self.follow_agent(&agent).await? => {
                    self.guard.forget(&agent);
                    self.store.groups().labels().set(&agent, Vec::new());
                    Ok(())
                }
                Ok(_) | Err(_) => Ok(()),
            },
            ChangedKind::AgentKeys => self.follow_agent_keys().await,
            ChangedKind::Group => self.follow_groups(key).await,
            ChangedKind::Incident => self.follow_incident(key).await,
            ChangedKind::People => Ok(self.load_people().await?),
            ChangedKind::Policy if key == ANY => {
                let policy = self.store.default_policy().await?;
                self.use_default_policy(policy.unwrap_or_else(|| self.configured_policy.clone())).await;
                Ok(())
            }
            ChangedKind::Policy => match AgentId::parse(key) {
                Ok(agent) => self.use_policy(&agent, self.store.policy_of(&agent).await?).await,
                Err(_) => Ok(()),
            },
            ChangedKind::Provider => self.follow_provider(key).await,
            ChangedKind::Settings => {
                self.store.reload_settings().await?;
                self.use_defaults(self.store.settings().kill_switch).await
            }
        }
    }

    /// Announces which agents have called other servers since the last look.
    async fn announce_calls(&self, seen_until: &mut Timestamp) -> Result<(), ControlError> {
        let seen = self.store.agents_seen_after(*seen_until, MOST_SEEN).await?;
        if let Some((_, newest)) = seen.first() {
            *seen_until = *newest;
        }
        for (agent, at) in seen {
            let is_ours = self.guard.agent(&agent).and_then(|live| live.last_seen).is_some_and(|here| here >= at);
            if !is_ours {
                self.announce(Notice::Seen { agent });
            }
        }
        Ok(())
    }

    /// Brings an agent in memory up to date before a command about it. Another server may have
    /// changed it a moment ago.
    pub(crate) async fn refresh_agent(&self, agent: &AgentId) {
        if self.store.is_shared()
            && let Err(error) = self.follow_agent(agent).await
        {
            tracing::debug!(%agent, %error, "an agent could not be read again");
        }
    }

    /// Brings an agent in memory up to date. Returns `false` if the agent is not on disk.
    pub(crate) async fn follow_agent(&self, agent: &AgentId) -> Result<bool, ControlError> {
        let Some(row) = self.store.agent(agent).await? else { return Ok(false) };
        let before = self.guard.agent(agent);
        self.store.groups().labels().set(agent, row.labels);
        self.guard.adopt(agent, row.epoch, row.deactivation);
        if self.guard.agent(agent).is_none_or(|live| live.kill_switch != row.kill_switch) {
            self.guard.configure(agent, row.kill_switch);
        }
        let exemptions = self.store.exemptions(agent, self.clock.now()).await?;
        self.guard.exempt(agent, exemptions.into_iter().map(|row| row.exemption).collect());
        self.announce(Notice::Configured { agent: agent.clone(), kill_switch: row.kill_switch });
        let killed = row.deactivation.filter(|it| it.by == DeactivatedBy::KillSwitch).and_then(|it| it.incident);
        let known = before.and_then(|before| before.deactivation).and_then(|it| it.incident);
        if let Some(id) = killed.filter(|id| known != Some(*id)) {
            self.announce(Notice::Incident { id, agent: agent.clone() });
        }
        Ok(true)
    }

    /// Incidents are not in memory: only watchers are notified.
    async fn follow_incident(&self, key: &str) -> Result<(), ControlError> {
        let Some(id) = IncidentId::parse(key) else { return Ok(()) };
        if let Some(row) = self.store.incident(id).await? {
            self.announce(Notice::Incident { id, agent: row.agent });
        }
        Ok(())
    }

    pub(crate) async fn follow_agent_keys(&self) -> Result<(), ControlError> {
        let stored = self.store.agent_keys().await?;
        let known = self.agent_keys.all();
        for key in known.iter().filter(|key| !stored.iter().any(|it| it.id == key.key.id)) {
            self.agent_keys.remove(key.key.id);
        }
        for key in stored.into_iter().filter(|key| !known.iter().any(|it| it.key.id == key.id)) {
            self.agent_keys.add(key);
        }
        Ok(())
    }

    async fn follow_groups(&self, name: &str) -> Result<(), ControlError> {
        for gone in self.store.reload_groups().await? {
            self.guard.policies().remove_group(&gone);
        }
        match self.store.groups().get(name) {
            Some(group) => self.use_group(group.as_ref().clone()).await,
            None => Ok(()),
        }
    }

    async fn follow_provider(&self, name: &str) -> Result<(), ControlError> {
        let stored = self.store.providers().await?.into_iter().find(|provider| provider.name == name);
        match stored {
            Some(provider) => self.providers.put(provider),
            None => self.use_configured_provider(name),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
