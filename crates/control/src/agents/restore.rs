//! Restores the guard at start: agents with their windows, policies, and earlier spending and
//! calls.

use std::sync::Arc;

use guard::{Guard, GuardConfig, Policies};
use model::{Clock, KillSwitch, KillSwitchChange, Policy, Timestamp};
use store::{AgentBudget, RecentCalls, Store, StoreError};

/// How many of the most recently seen agents are restored before the first call. The others follow
/// while calls come in: a window takes some ten microseconds, and a start should not wait for all.
const FIRST_AGENTS: usize = 10_000;

/// Restores the guard as it was when the last server stopped, without agents that were not seen
/// recently and do not differ from new ones: [`restore_older_agents`] adds those. `configured` is
/// the policy of the configuration; the settings of new agents come from the store, not from
/// `config`.
pub async fn restore_guard(
    config: GuardConfig,
    configured: &Policy,
    store: &Store,
    clock: &Clock,
) -> Result<Guard, StoreError> {
    let defaults = store.settings().kill_switch;
    let policy = store.default_policy().await?.unwrap_or_else(|| configured.clone());
    let guard = Guard::with_policy(GuardConfig { defaults, ..config }, policy).with_groups(store.groups().clone());
    for agent in store.saved_agents(defaults, FIRST_AGENTS.min(config.max_agents)).await? {
        guard.restore(agent);
    }
    keep_kill_switches(&guard, store, defaults).await?;
    restore_policies(guard.policies(), store, clock.now()).await?;
    Ok(guard)
}

/// Keeps the settings of agents that are older than their group or were set individually: if they
/// are not restored, they would return with the group's settings.
async fn keep_kill_switches(guard: &Guard, store: &Store, defaults: KillSwitch) -> Result<(), StoreError> {
    for group in store.groups().all().iter().filter(|group| group.kill_switch != KillSwitchChange::default()) {
        let of_group = group.kill_switch.apply(defaults).unwrap_or(defaults);
        for (agent, kill_switch) in store.agents_set_otherwise(of_group).await? {
            if group.includes(&agent) && guard.agent(&agent).is_none() {
                guard.configure(&agent, kill_switch);
            }
        }
    }
    Ok(())
}

/// Restores the windows of the agents that [`restore_guard`] left out, most recently seen first. An
/// agent that has made a call by then keeps its current window. `defaults` are those that the guard
/// was restored with.
pub async fn restore_older_agents(
    guard: Arc<Guard>,
    store: Store,
    defaults: KillSwitch,
    max_agents: usize,
) -> Result<(), StoreError> {
    let mut older = store.older_agents(defaults, FIRST_AGENTS.min(max_agents), max_agents).await?;
    while let Some(agents) = older.next().await? {
        agents.into_iter().for_each(|agent| guard.restore_unless_known(agent));
    }
    Ok(())
}

/// Budgets and rates continue where they were.
async fn restore_policies(policies: &Policies, store: &Store, now: Timestamp) -> Result<(), StoreError> {
    let mut has_rates = !policies.default_policy().rate_limits.is_empty();
    for group in store.groups().all() {
        has_rates |= !group.policy.rate_limits.is_empty();
        let spending = store.group_spending(&group, now).await?;
        policies.put_group(group, Some(&spending), now);
    }
    for AgentBudget { agent, own, spending } in store.budgets(&policies.default_policy(), now).await? {
        has_rates |= own.as_ref().is_some_and(|policy| !policy.rate_limits.is_empty());
        match own {
            Some(policy) => policies.put(&agent, policy, Some(&spending), now),
            None => policies.restore(&agent, &spending, now),
        }
    }
    if has_rates {
        let a_minute_ago = Timestamp::from_millis(now.as_millis() - 60_000);
        for RecentCalls { agent, provider, time, calls, tokens } in store.recent_calls(a_minute_ago).await? {
            policies.recount(&agent, &provider, time, (calls, tokens));
        }
    }
    Ok(())
}
