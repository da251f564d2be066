//! Groups of agents: what their agents share, what new ones start with, and stopping all of them.

use std::sync::Arc;

use model::{AgentId, AgentPattern, Group, KillSwitchChange, NanoUsd, PolicyChange, RuleScope};
use store::{AccessChange, AgentFilter, Change, PageRequest};

use crate::error::OrNotFound;
use crate::{Command, Commands, Control, ControlError};

/// How many agents are read at a time.
const PAGE: u32 = 500;

/// A change of a group: an absent field keeps its value. A new group needs `agents`.
#[derive(Clone, Debug, Default)]
pub struct GroupChange {
    /// Its agents, by name or pattern.
    pub agents: Option<Vec<AgentPattern>>,
    /// What its agents share.
    pub policy: PolicyChange,
    /// What new agents of the group have other than the defaults.
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
    /// Adds or changes a group. It holds from the next call on.
    pub async fn put_group(&self, name: String, change: GroupChange) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.put_group(name, change).await }).await
    }

    /// Removes a group. Its agents stay as they are.
    pub async fn remove_group(&self, name: String) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.remove_group(&name).await }).await
    }

    /// Deactivates all known agents of a group by hand, and returns them.
    pub async fn stop_group(&self, name: &str) -> Result<Vec<AgentId>, ControlError> {
        let agents = self.state().members(name).await?;
        for agent in &agents {
            self.deactivate(agent.clone()).await?;
        }
        Ok(agents)
    }

    /// Activates all known agents of a group, and returns them.
    pub async fn activate_group(&self, name: &str) -> Result<Vec<AgentId>, ControlError> {
        let agents = self.state().members(name).await?;
        for agent in &agents {
            self.activate(agent.clone()).await?;
        }
        Ok(agents)
    }
}

impl Control {
    /// All groups, by name.
    pub fn groups(&self) -> Vec<GroupStatus> {
        self.0.store.groups().all().into_iter().map(|group| self.0.group_status(group)).collect()
    }

    /// One group.
    pub fn group(&self, name: &str) -> Result<GroupStatus, ControlError> {
        Ok(self.0.group_status(self.0.known_group(name)?))
    }
}

impl crate::State {
    fn known_group(&self, name: &str) -> Result<Arc<Group>, ControlError> {
        self.store.groups().get(name).ok_or_else(|| unknown(name))
    }

    fn group_status(&self, group: Arc<Group>) -> GroupStatus {
        let counted = self.guard.policies().group(&group.name);
        let spent = counted.map(|counted| counted.limits.spent(self.clock.now())).unwrap_or_default();
        GroupStatus { group, spent }
    }

    /// The known agents of a group.
    async fn members(&self, name: &str) -> Result<Vec<AgentId>, ControlError> {
        let group = self.known_group(name)?;
        // The first call of an agent is in memory before it is on disk.
        self.catch_up().await;
        let (mut members, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.store.agents(&AgentFilter::default(), &PageRequest { limit: PAGE, cursor }).await?;
            members.extend(page.items.into_iter().map(|row| row.id).filter(|agent| group.includes(agent)));
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(members),
            }
        }
    }
}

impl Command {
    async fn put_group(&self, name: String, change: GroupChange) -> Result<(), ControlError> {
        let (groups, policies) = (self.store.groups(), self.guard.policies());
        let current = groups.get(&name);
        if current.is_none() && groups.all().len() >= Group::MOST {
            return Err(ControlError::TooMany(format!("There are {} groups already; delete one first.", Group::MOST)));
        }
        let before = current.as_deref().cloned().unwrap_or_else(|| Group { name, ..Group::default() });
        let group = Group {
            agents: change.agents.unwrap_or_else(|| before.agents.clone()),
            policy: change.policy.apply(&before.policy).map_err(|error| in_part("policy", error))?,
            kill_switch: change.kill_switch.unwrap_or(before.kill_switch),
            name: before.name,
        };
        group.check()?;
        self.check_providers(&group.policy, &before.policy)?;
        self.change(Change::Access(AccessChange::PutGroup { group: Box::new(group.clone()) })).await?;

        // Agents that have left memory would come back with what the group says: they keep their own.
        self.keep_kill_switches(&group).await?;
        groups.put(group.clone());
        // Twice, for calls that end meanwhile. The group holds even if the store cannot be read now.
        let (group, now) = (Arc::new(group), self.clock.now());
        self.catch_up().await;
        let spending = self.store.group_spending(&group, now).await.ok();
        policies.put_group(Arc::clone(&group), spending.as_ref(), now);
        self.catch_up().await;
        if let Ok(spending) = self.store.group_spending(&group, now).await {
            policies.raise_group(&group.name, &spending, now);
        }
        Ok(())
    }

    async fn remove_group(&self, name: &str) -> Result<(), ControlError> {
        let is_of_group = |scope: &RuleScope| matches!(scope, RuleScope::Group { name: it, .. } if it == name);
        if self.store.alert_rules().await?.iter().any(|rule| is_of_group(&rule.scope)) {
            return Err(ControlError::Conflict(format!("An alert rule is for {name}; delete the rule first.")));
        }
        let removed = self.change(Change::Access(AccessChange::RemoveGroup { name: name.to_owned() })).await;
        removed.or_not_found(|| format!("There is no group {name}."))?;
        self.store.groups().remove(name);
        self.guard.policies().remove_group(name);
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

fn unknown(name: &str) -> ControlError {
    ControlError::NotFound(format!("There is no group {name}."))
}

fn in_part(part: &str, error: model::FieldError) -> ControlError {
    ControlError::field(format!("{part}.{}", error.field), error.message)
}
