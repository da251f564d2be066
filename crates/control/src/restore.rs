//! Restores the guard at start: agents with their windows, policies, and what was spent and called
//! before.

use guard::{Guard, GuardConfig, Policies};
use model::{Clock, Policy, Timestamp};
use store::{AgentBudget, RecentCalls, Store, StoreError};

/// The guard as it was when the last server stopped. `configured` is the policy of the
/// configuration; the settings of new agents are those of the store, whatever `config` says.
pub async fn restore_guard(
    config: GuardConfig,
    configured: &Policy,
    store: &Store,
    clock: &Clock,
) -> Result<Guard, StoreError> {
    let defaults = store.settings().kill_switch;
    let policy = store.default_policy().await?.unwrap_or_else(|| configured.clone());
    let guard = Guard::with_policy(GuardConfig { defaults, ..config }, policy);
    for agent in store.saved_agents(defaults, config.max_agents).await? {
        guard.restore(agent);
    }
    restore_policies(guard.policies(), store, clock.now()).await?;
    Ok(guard)
}

/// Budgets and rates go on where they were.
async fn restore_policies(policies: &Policies, store: &Store, now: Timestamp) -> Result<(), StoreError> {
    let mut has_rates = !policies.default_policy().rate_limits.is_empty();
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
