//! Changes of policies: on disk first, then in memory, with what was spent so far.

use model::{ANY, AgentId, Policy, PolicyChange, Spending};
use store::Change;

use super::{known, must_be_known};
use crate::app::App;
use crate::problem::Problem;

/// Changes the policy of an agent, which is created if it is unknown: on disk first, so that a failure leaves it as it was.
pub(crate) async fn set_policy(app: App, agent: AgentId, change: PolicyChange) -> Result<(), Problem> {
    let web = app.web();
    let policies = web.guard.policies();
    let current = policies.policy(&agent);
    let policy = change.apply(&current)?;
    check_providers(&app, &policy, &current)?;

    let now = web.clock.now();
    let spending = spending(&app, &agent, &policy).await?;
    let kill_switch = known(&app, &agent).await?.map_or(web.guard.defaults(), |known| known.kill_switch);
    let stored = Box::new(policy.clone());
    web.recorder.change(Change::SetPolicy { agent: agent.clone(), policy: stored, kill_switch, at: now }).await?;
    policies.put(&agent, policy, spending.as_ref(), now);
    if spending.is_some() {
        count_what_ended_meanwhile(&app, &agent).await;
    }
    Ok(())
}

/// Takes an agent's own policy away: it has the default again.
pub(crate) async fn reset_policy(app: App, agent: AgentId) -> Result<(), Problem> {
    must_be_known(&app, &agent).await?;
    let web = app.web();
    let policies = web.guard.policies();
    let spending = spending(&app, &agent, &policies.default_policy()).await?;
    web.recorder.change(Change::ResetPolicy { agent: agent.clone() }).await?;
    policies.reset(&agent, spending.as_ref(), web.clock.now());
    if spending.is_some() {
        count_what_ended_meanwhile(&app, &agent).await;
    }
    Ok(())
}

/// Changes the policy of agents that have none of their own; `None`: back to what is configured.
pub(crate) async fn set_default_policy(app: App, change: Option<PolicyChange>) -> Result<(), Problem> {
    let web = app.web();
    let policies = web.guard.policies();
    let current = policies.default_policy();
    let set = change.map(|change| change.apply(&current)).transpose()?;
    set.as_ref().map_or(Ok(()), |set| check_providers(&app, set, &current))?;
    web.recorder.change(Change::SetDefaultPolicy { policy: set.clone().map(Box::new) }).await?;

    let policy = set.unwrap_or_else(|| (*web.configured_policy).clone());
    let (has_budget, now) = (policy.has_budget(), web.clock.now());
    policies.set_default(policy, now);
    // Once more for calls that ended meanwhile. What holds, holds: also if the store cannot be asked now.
    for _ in 0..if has_budget { 2 } else { 0 } {
        web.recorder.catch_up().await;
        let Ok(budgets) = web.store.budgets(&policies.default_policy(), web.clock.now()).await else { break };
        for budget in budgets.iter().filter(|budget| budget.own.is_none()) {
            policies.of(&budget.agent, now);
            policies.raise(&budget.agent, &budget.spending, now);
        }
    }
    Ok(())
}

/// Refuses an entry for a provider that is not there: a limit on a misspelt name would limit nothing. One that `current` has
/// may stay, so that a provider that was removed, or is yet to come, stops no other change.
fn check_providers(app: &App, policy: &Policy, current: &Policy) -> Result<(), Problem> {
    let providers = &app.web().providers;
    for ((field, names), (_, held)) in named_providers(policy).into_iter().zip(named_providers(current)) {
        let is_unknown = |name: &&str| *name != ANY && !held.contains(name) && providers.get(name).is_none();
        if let Some(position) = names.iter().position(is_unknown) {
            let known: Vec<_> = providers.all().iter().map(|provider| provider.name.clone()).collect();
            let (number, name, known) = (position + 1, names[position], known.join(", "));
            let message = format!("{number}: there is no provider {name}; known are: {known}, or * for all");
            return Err(Problem::field(field, message));
        }
    }
    Ok(())
}

/// The providers of each entry, by field.
fn named_providers(policy: &Policy) -> [(&'static str, Vec<&str>); 2] {
    let rates = policy.rate_limits.iter().map(|limit| limit.provider.as_str()).collect();
    let models = policy.model_overrides.iter().map(|entry| entry.provider.as_str()).collect();
    [("rate_limits", rates), ("model_overrides", models)]
}

/// Calls that ended between the reading of what was spent and the change are in neither. The change holds, whether or not
/// the store can be asked again.
async fn count_what_ended_meanwhile(app: &App, agent: &AgentId) {
    let (web, policies) = (app.web(), app.web().guard.policies());
    web.recorder.catch_up().await;
    let now = web.clock.now();
    if let Ok(spending) = web.store.spending_of(agent, &policies.policy(agent), now).await {
        policies.raise(agent, &spending, now);
    }
}

/// What an agent has spent as `policy` will count it; `None` if that is counted already.
async fn spending(app: &App, agent: &AgentId, policy: &Policy) -> Result<Option<Spending>, Problem> {
    let (web, policies) = (app.web(), app.web().guard.policies());
    if policies.counted(agent).is_some_and(|limits| limits.policy().counts_like(policy)) {
        return Ok(None);
    }
    web.recorder.catch_up().await;
    Ok(Some(web.store.spending_of(agent, policy, web.clock.now()).await?))
}
