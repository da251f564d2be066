//! Changes of policies: on disk first, then in memory, with what was spent so far.

use model::{AgentId, Policy, PolicyChange, Spending};
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
    let set = change.map(|change| change.apply(&policies.default_policy())).transpose()?;
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
