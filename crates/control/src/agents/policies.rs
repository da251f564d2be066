//! Policies: budgets, hours, rates and models of agents.

use std::sync::Arc;

use model::{ANY, AgentId, NanoUsd, Policy, PolicyChange, Spending};
use store::Change;

use crate::{Command, Commands, Control, ControlError, State};

/// The policy of an agent, and what was used of it.
#[derive(Clone, Debug)]
pub struct PolicyStatus {
    /// The policy.
    pub policy: Arc<Policy>,
    /// Whether the agent has no policy of its own.
    pub is_default: bool,
    /// What was spent today, this week and this month.
    pub spent: [NanoUsd; 3],
}

/// What was spent, given what memory counts and what the database holds. A replica counts what
/// others spend only with its own calls.
pub(super) fn at_least(counted: [NanoUsd; 3], stored: &Spending) -> [NanoUsd; 3] {
    let [day, week, month] = counted;
    [day.max(stored.day), week.max(stored.week), month.max(stored.month)]
}

/// The policy of agents without one of their own.
#[derive(Clone, Debug)]
pub struct DefaultPolicy {
    /// The policy.
    pub policy: Arc<Policy>,
    /// Whether it is the one of the configuration.
    pub is_configured: bool,
}

impl Commands {
    /// Changes the policy of an agent, which is created if it is unknown. It takes effect from the
    /// next call on.
    pub async fn set_policy(&self, agent: AgentId, change: PolicyChange) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.set_policy(&agent, change).await }).await
    }

    /// Removes an agent's own policy: the default applies again.
    pub async fn reset_policy(&self, agent: AgentId) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.reset_policy(&agent).await }).await
    }

    /// Changes the policy of agents without one of their own.
    pub async fn set_default_policy(&self, change: PolicyChange) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.set_default_policy(Some(change)).await }).await
    }

    /// Goes back to the policy of the configuration.
    pub async fn reset_default_policy(&self) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.set_default_policy(None).await }).await
    }
}

impl Control {
    /// The policy of an agent, and what was used of it.
    pub async fn policy(&self, agent: &AgentId) -> Result<PolicyStatus, ControlError> {
        let (policies, now) = (self.0.guard.policies(), self.0.clock.now());
        let (counted, policy) = (policies.counted(agent), policies.policy(agent));
        let mut spent = counted.as_ref().map(|limits| limits.spent(now)).unwrap_or_default();
        if counted.is_none() || self.0.has_other_replicas() {
            self.0.catch_up().await;
            spent = at_least(spent, &self.0.store.spending_of(agent, &policy, now).await?);
        }
        Ok(PolicyStatus { policy, is_default: !counted.is_some_and(|limits| limits.is_own()), spent })
    }

    /// The policy of agents without one of their own.
    pub async fn default_policy(&self) -> Result<DefaultPolicy, ControlError> {
        let is_configured = self.0.store.default_policy().await?.is_none();
        Ok(DefaultPolicy { policy: self.0.guard.policies().default_policy(), is_configured })
    }
}

impl Command {
    async fn set_policy(&self, agent: &AgentId, change: PolicyChange) -> Result<(), ControlError> {
        let policies = self.guard.policies();
        let current = policies.policy(agent);
        let policy = change.apply(&current)?;
        self.check_providers(&policy, &current)?;

        let now = self.clock.now();
        let spending = self.uncounted_spending(agent, &policy).await?;
        let kill_switch =
            self.state_of(agent).await?.map_or_else(|| self.guard.defaults_of(agent), |state_of| state_of.kill_switch);
        let stored = Box::new(policy.clone());
        self.change(Change::SetPolicy { agent: agent.clone(), policy: stored, kill_switch, at: now }).await?;
        policies.put(agent, policy, spending.as_ref(), now);
        if spending.is_some() {
            self.count_calls_that_ended_meanwhile(agent).await;
        }
        Ok(())
    }

    async fn reset_policy(&self, agent: &AgentId) -> Result<(), ControlError> {
        self.known(agent).await?;
        let policies = self.guard.policies();
        let spending = self.uncounted_spending(agent, &policies.default_policy()).await?;
        self.change(Change::ResetPolicy { agent: agent.clone() }).await?;
        policies.reset(agent, spending.as_ref(), self.clock.now());
        if spending.is_some() {
            self.count_calls_that_ended_meanwhile(agent).await;
        }
        Ok(())
    }

    /// `None` restores the configured policy.
    async fn set_default_policy(&self, change: Option<PolicyChange>) -> Result<(), ControlError> {
        let policies = self.guard.policies();
        let current = policies.default_policy();
        let set = change.map(|change| change.apply(&current)).transpose()?;
        set.as_ref().map_or(Ok(()), |set| self.check_providers(set, &current))?;
        self.change(Change::SetDefaultPolicy { policy: set.clone().map(Box::new) }).await?;

        self.use_default_policy(set.unwrap_or_else(|| self.configured_policy.clone())).await;
        Ok(())
    }
}

impl State {
    /// Puts the default policy into effect in memory.
    pub(crate) async fn use_default_policy(&self, policy: Policy) {
        let policies = self.guard.policies();
        let (has_budget, now) = (policy.has_budget(), self.clock.now());
        policies.set_default(policy, now);
        // Twice, to include calls that end meanwhile. The policy takes effect even if the store
        // cannot be read now.
        for _ in 0..if has_budget { 2 } else { 0 } {
            self.catch_up().await;
            let Ok(budgets) = self.store.budgets(&policies.default_policy(), self.clock.now()).await else { break };
            for budget in budgets.iter().filter(|budget| budget.own.is_none()) {
                policies.of(&budget.agent, now);
                policies.raise(&budget.agent, &budget.spending, now);
            }
        }
    }

    /// Puts an agent's policy into effect that another server has stored; `None` is the default.
    pub(crate) async fn use_policy(&self, agent: &AgentId, own: Option<Policy>) -> Result<(), ControlError> {
        let (policies, now) = (self.guard.policies(), self.clock.now());
        let counted = own.clone().unwrap_or_else(|| policies.default_policy().as_ref().clone());
        let spending = self.uncounted_spending(agent, &counted).await?;
        match own {
            Some(policy) => policies.put(agent, policy, spending.as_ref(), now),
            None => policies.reset(agent, spending.as_ref(), now),
        }
        if spending.is_some() {
            self.count_calls_that_ended_meanwhile(agent).await;
        }
        Ok(())
    }

    /// Refuses an entry for an unknown provider: a limit on a misspelt name would limit nothing. An
    /// entry that is already in `current` may stay, so that a provider that was removed, or is yet
    /// to be added, does not block other changes.
    pub(crate) fn check_providers(&self, policy: &Policy, current: &Policy) -> Result<(), ControlError> {
        for ((field, names), (_, held)) in named_providers(policy).into_iter().zip(named_providers(current)) {
            let is_unknown = |name: &&str| *name != ANY && !held.contains(name) && self.providers.get(name).is_none();
            if let Some(position) = names.iter().position(is_unknown) {
                let known: Vec<_> = self.providers.all().iter().map(|provider| provider.name.clone()).collect();
                let (number, name, known) = (position + 1, names[position], known.join(", "));
                let message = format!("{number}: there is no provider {name}; known are: {known}, or * for all");
                return Err(ControlError::field(field, message));
            }
        }
        Ok(())
    }

    /// Adds calls that ended after the spending was read and before the policy took effect. The
    /// policy stays in effect even if the store cannot be read again.
    async fn count_calls_that_ended_meanwhile(&self, agent: &AgentId) {
        let policies = self.guard.policies();
        self.catch_up().await;
        let now = self.clock.now();
        if let Ok(spending) = self.store.spending_of(agent, &policies.policy(agent), now).await {
            policies.raise(agent, &spending, now);
        }
    }

    /// What an agent has spent as `policy` counts it; `None` if memory already counts it that way.
    async fn uncounted_spending(&self, agent: &AgentId, policy: &Policy) -> Result<Option<Spending>, ControlError> {
        if self.guard.policies().counted(agent).is_some_and(|limits| limits.policy().counts_like(policy)) {
            return Ok(None);
        }
        self.catch_up().await;
        Ok(Some(self.store.spending_of(agent, policy, self.clock.now()).await?))
    }
}

/// The providers of each entry, by field.
fn named_providers(policy: &Policy) -> [(&'static str, Vec<&str>); 2] {
    let rates = policy.rate_limits.iter().map(|limit| limit.provider.as_str()).collect();
    let models = policy.model_overrides.iter().map(|entry| entry.provider.as_str()).collect();
    [("rate_limits", rates), ("model_overrides", models)]
}
