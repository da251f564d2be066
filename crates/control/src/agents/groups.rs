//! Groups of agents: their shared limits, the settings of new agents, and stopping all of them.

use std::sync::Arc;

use model::{AgentId, AgentPattern, Group, KillSwitchChange, Label, NanoUsd, PolicyChange, RuleScope};
use store::{AccessChange, Change};

use super::policies::at_least;
use crate::error::OrNotFound;
use crate::{Command, Commands, Control, ControlError};

/// A change of a group: an absent field keeps its value. A new group needs `agents` or `labels`.
#[derive(Clone, Debug, Default)]
pub struct GroupChange {
    /// Its agents, by name or pattern.
    pub agents: Option<Vec<AgentPattern>>,
    /// Agents with one of these labels are in it, too.
    pub labels: Option<Vec<Label>>,
    /// The limits that its agents share.
    pub policy: PolicyChange,
    /// The settings of new agents that differ from the defaults.
    pub kill_switch: Option<KillSwitchChange>,
}

/// A group, and what its agents have spent together today, this week and this month.
#[derive(Clone, Debug)]
pub struct GroupStatus {
    /// The group.
    pub group: Arc<Group>,
    /// Zero if it has no budget.
    pub spent: [NanoUsd; 3],
}

impl Commands {
    /// Adds or changes a group. It takes effect from the next call on. Agents that come into a
    /// stopped group are stopped.
    pub async fn put_group(&self, name: String, change: GroupChange) -> Result<(), ControlError> {
        let changed = name.clone();
        self.exclusive(move |command| async move { command.put_group(changed, change).await }).await?;
        self.deactivate_if_stopped(&name).await
    }

    /// Removes a group. Its agents stay as they are.
    pub async fn remove_group(&self, name: String) -> Result<(), ControlError> {
        self.deactivate_if_stopped(&name).await?;
        self.exclusive(move |command| async move { command.remove_group(&name).await }).await
    }

    /// Stops a group: none of its agents may call until the group is activated, not even one that
    /// is not known yet. Its known agents are deactivated by hand and returned. Like a
    /// deactivation, the stop takes effect in memory before the command gets its turn.
    pub async fn stop_group(&self, name: &str) -> Result<Vec<AgentId>, ControlError> {
        let state = self.state();
        state.known_group(name)?;
        self.check_group(name)?;
        state.stop_in_memory(name);
        let (commands, name) = (self.clone(), name.to_owned());
        complete(async move {
            let stopped = name.clone();
            commands.exclusive(move |command| async move { command.stop_group(&stopped).await }).await?;
            commands.deactivate_members(&name).await
        })
        .await
    }

    /// Lets the agents of a group call again: activates all that are known and in no other stopped
    /// group, and returns them.
    pub async fn activate_group(&self, name: &str) -> Result<Vec<AgentId>, ControlError> {
        self.state().known_group(name)?;
        self.check_group(name)?;
        let (commands, name) = (self.clone(), name.to_owned());
        complete(async move {
            let activated = name.clone();
            commands.exclusive(move |command| async move { command.activate_group(&activated).await }).await?;
            commands.activate_members(&name).await
        })
        .await
    }

    /// Replaces the labels of an agent, which put it into groups.
    pub async fn set_labels(&self, agent: AgentId, labels: Vec<Label>) -> Result<(), ControlError> {
        let (labels, labelled) = (Label::sorted(labels)?, agent.clone());
        self.exclusive(move |command| async move { command.set_labels(labelled, labels).await }).await?;
        match self.state().store.groups().stopped(&agent) {
            Some(_) => self.deactivate(agent).await,
            None => Ok(()),
        }
    }

    /// Deactivates the agents of a group that is stopped.
    async fn deactivate_if_stopped(&self, name: &str) -> Result<(), ControlError> {
        match self.state().store.groups().get(name) {
            Some(group) if group.stopped_at.is_some() => self.deactivate_members(name).await.map(drop),
            _ => Ok(()),
        }
    }
}

impl Control {
    /// All groups, by name.
    pub async fn groups(&self) -> Vec<GroupStatus> {
        let mut groups = Vec::new();
        for group in self.0.store.groups().all() {
            groups.push(self.0.group_status(group).await);
        }
        groups
    }

    /// One group.
    pub async fn group(&self, name: &str) -> Result<GroupStatus, ControlError> {
        Ok(self.0.group_status(self.0.known_group(name)?).await)
    }
}

impl crate::State {
    pub(super) fn known_group(&self, name: &str) -> Result<Arc<Group>, ControlError> {
        self.store.groups().get(name).ok_or_else(|| unknown(name))
    }

    async fn group_status(&self, group: Arc<Group>) -> GroupStatus {
        let now = self.clock.now();
        let counted = self.guard.policies().group(&group.name);
        let mut spent = counted.map(|counted| counted.limits.spent(now)).unwrap_or_default();
        if self.has_other_replicas()
            && let Ok(stored) = self.store.group_spending(&group, now).await
        {
            spent = at_least(spent, &stored);
        }
        GroupStatus { group, spent }
    }

    /// Stops a group in memory. A group that is already stopped keeps its time.
    fn stop_in_memory(&self, name: &str) {
        let groups = self.store.groups();
        if groups.get(name).is_some_and(|group| group.stopped_at.is_none()) {
            groups.set_stopped(name, Some(self.clock.now()));
        }
    }

    /// Fails if a group of `agent` is stopped: even an active agent could not call then.
    pub(crate) fn check_not_stopped(&self, agent: &AgentId) -> Result<(), ControlError> {
        let Some(group) = self.store.groups().stopped(agent) else { return Ok(()) };
        let text = format!("{agent} is in the group {name}, which is stopped: activate the group.", name = group.name);
        Err(ControlError::Conflict(text))
    }

    /// Puts a stored group into effect in memory.
    pub(crate) async fn use_group(&self, group: Group) -> Result<(), ControlError> {
        let (groups, policies) = (self.store.groups(), self.guard.policies());
        // Agents that have left memory would return with the group's settings: they keep their own.
        self.keep_kill_switches(&group).await?;
        let name = group.name.clone();
        groups.put(group);
        let Some(group) = groups.get(&name) else { return Ok(()) };
        // Twice, to include calls that end meanwhile. The group takes effect even if the store
        // cannot be read now.
        let now = self.clock.now();
        self.catch_up().await;
        let spending = self.store.group_spending(&group, now).await.ok();
        policies.put_group(Arc::clone(&group), spending.as_ref(), now);
        self.catch_up().await;
        if let Ok(spending) = self.store.group_spending(&group, now).await {
            policies.raise_group(&group.name, &spending, now);
        }
        Ok(())
    }

    async fn keep_kill_switches(&self, group: &Group) -> Result<(), ControlError> {
        let defaults = self.guard.defaults();
        let of_group = group.kill_switch.apply(defaults).unwrap_or(defaults);
        for (agent, kill_switch) in self.store.agents_set_otherwise(of_group).await? {
            if group.includes(&agent) && self.guard.agent(&agent).is_none() {
                self.guard.configure(&agent, kill_switch);
            }
        }
        Ok(())
    }
}

impl Command {
    async fn put_group(&self, name: String, change: GroupChange) -> Result<(), ControlError> {
        let groups = self.store.groups();
        let current = groups.get(&name);
        if current.is_none() && groups.all().len() >= Group::MOST {
            return Err(ControlError::TooMany(format!("There are {} groups already; delete one first.", Group::MOST)));
        }
        let before = current.as_deref().cloned().unwrap_or_else(|| Group { name, ..Group::default() });
        let group = Group {
            agents: change.agents.unwrap_or_else(|| before.agents.clone()),
            labels: change.labels.map_or_else(|| Ok(before.labels.clone()), Label::sorted)?,
            policy: change.policy.apply(&before.policy).map_err(|error| in_part("policy", error))?,
            kill_switch: merge(change.kill_switch, before.kill_switch),
            name: before.name,
            stopped_at: before.stopped_at,
            agent_labels: before.agent_labels,
        };
        group.check()?;
        self.check_providers(&group.policy, &before.policy)?;
        self.change(Change::Access(AccessChange::PutGroup { group: Box::new(group.clone()) })).await?;

        self.use_group(group).await
    }

    async fn stop_group(&self, name: &str) -> Result<(), ControlError> {
        // Again: a command that ran in between may have activated the group.
        self.stop_in_memory(name);
        let Some(at) = self.known_group(name)?.stopped_at else { return Ok(()) };
        let change = AccessChange::StopGroup { name: name.to_owned(), at };
        self.change(Change::Access(change)).await.map_err(|error| {
            tracing::warn!(group = name, %error, "the stop of a group could not be stored");
            ControlError::NotStored(format!(
                "{name} is stopped, but that could not be stored: a restart would lift it. Repeat the request."
            ))
        })?;
        Ok(())
    }

    async fn activate_group(&self, name: &str) -> Result<(), ControlError> {
        let change = AccessChange::ActivateGroup { name: name.to_owned() };
        self.change(Change::Access(change)).await.or_not_found(|| format!("There is no group {name}."))?;
        self.store.groups().set_stopped(name, None);
        Ok(())
    }

    async fn set_labels(&self, agent: AgentId, labels: Vec<Label>) -> Result<(), ControlError> {
        self.known(&agent).await?;
        self.store_agent(&agent).await?;
        let change = AccessChange::SetLabels { agent: agent.clone(), labels: labels.clone() };
        self.change(Change::Access(change)).await?;
        self.store.groups().labels().set(&agent, labels);
        Ok(())
    }

    async fn remove_group(&self, name: &str) -> Result<(), ControlError> {
        let is_of_group = |scope: &RuleScope| matches!(scope, RuleScope::Group { name: it, .. } if it == name);
        if self.store.alert_rules().await?.iter().any(|rule| is_of_group(&rule.scope)) {
            return Err(ControlError::Conflict(format!("An alert rule is for {name}; delete the rule first.")));
        }
        if let Some(holder) = self.holder_limited_to(name) {
            return Err(ControlError::Conflict(format!("The role of {holder} is limited to {name}; change it first.")));
        }
        let removed = self.change(Change::Access(AccessChange::RemoveGroup { name: name.to_owned() })).await;
        removed.or_not_found(|| format!("There is no group {name}."))?;
        self.store.groups().remove(name);
        self.guard.policies().remove_group(name);
        Ok(())
    }
}

/// Runs a command that takes several turns to its end, even if its client disconnects.
async fn complete<T: Send + 'static>(
    command: impl Future<Output = Result<T, ControlError>> + Send + 'static,
) -> Result<T, ControlError> {
    tokio::spawn(command).await.unwrap_or_else(|error| Err(ControlError::Failed(error.to_string())))
}

/// The settings of new agents after a change. An empty change restores the defaults.
fn merge(change: Option<KillSwitchChange>, before: KillSwitchChange) -> KillSwitchChange {
    match change {
        None => before,
        Some(change) if change == KillSwitchChange::default() => change,
        Some(change) => change.or(before),
    }
}

fn unknown(name: &str) -> ControlError {
    ControlError::NotFound(format!("There is no group {name}."))
}

fn in_part(part: &str, error: model::FieldError) -> ControlError {
    ControlError::field(format!("{part}.{}", error.field), error.message)
}
