//! What rules about money find: agents that spent an amount, or so much of the budgets that their policies set.

use std::collections::HashMap;

use model::{
    AgentId, AlertData, AlertRule, BudgetData, BudgetLimit, BudgetPeriod, NanoUsd, Policy, Spending, Timestamp, Zone,
};
use store::{AgentBudget, AlertState, Spent, StoreError};

use super::{Evaluator, Finding};

/// What `rule` finds of every agent that has spent something, and of those of which it has said so before.
pub(super) async fn findings(
    evaluator: &Evaluator,
    rule: &AlertRule,
    firing: &[&AlertState],
    (limit, now): (BudgetLimit, Timestamp),
) -> Result<Vec<(AgentId, Finding)>, StoreError> {
    match limit {
        BudgetLimit::Amount { amount_usd, period } => {
            let period_start = Zone::default().period(period, now).start;
            let data = |agent_id, spent_usd| BudgetData {
                agent_id,
                spent_usd,
                amount_usd,
                period,
                period_start,
                threshold_percent: None,
            };
            Ok(overspent(rule, firing, evaluator.store.spent_since(period_start).await?, data))
        }
        BudgetLimit::Share { percent } => {
            let set = evaluator.store.default_policy().await?;
            let default = set.as_ref().unwrap_or(&evaluator.configured_policy);
            let budgets = evaluator.store.budgets(default, now).await?;
            Ok(near_their_budget(rule, firing, budgets, &Share { percent, default, now }))
        }
    }
}

/// Agents that spent more than the amount. That a new period begins is not told: it is no news.
fn overspent(
    rule: &AlertRule,
    firing: &[&AlertState],
    spent: Vec<Spent>,
    data: impl Fn(AgentId, NanoUsd) -> BudgetData,
) -> Vec<(AgentId, Finding)> {
    let mut sums: HashMap<AgentId, NanoUsd> = firing.iter().map(|it| (it.agent.clone(), NanoUsd::ZERO)).collect();
    for Spent { agent, cost, .. } in spent.into_iter().filter(|it| rule.scope.includes(&it.agent)) {
        *sums.entry(agent).or_default() += cost;
    }
    let finding = |(agent, sum): (AgentId, NanoUsd)| {
        let data = data(agent.clone(), sum);
        let over = data.spent_usd >= data.amount_usd;
        (agent, if over { Finding::Bad(AlertData::Budget(data)) } else { Finding::Nothing })
    };
    sums.into_iter().map(finding).collect()
}

/// What part of a budget is told.
struct Share<'a> {
    percent: f64,
    default: &'a Policy,
    now: Timestamp,
}

fn near_their_budget(
    rule: &AlertRule,
    firing: &[&AlertState],
    budgets: Vec<AgentBudget>,
    share: &Share<'_>,
) -> Vec<(AgentId, Finding)> {
    let mut since: HashMap<AgentId, Timestamp> = firing.iter().map(|it| (it.agent.clone(), it.since)).collect();
    let mut findings = Vec::new();
    for AgentBudget { agent, own, spending } in budgets.into_iter().filter(|it| rule.scope.includes(&it.agent)) {
        let policy = own.as_ref().unwrap_or(share.default);
        let since = since.remove(&agent);
        let finding = match share.reached(&agent, policy, &spending) {
            Some(data) => Finding::Bad(AlertData::Budget(data)),
            None => share.not_reached(policy, since),
        };
        findings.push((agent, finding));
    }
    // These have the default now, and have spent nothing of it.
    findings.extend(since.into_iter().map(|(agent, since)| (agent, share.not_reached(share.default, Some(since)))));
    findings
}

impl Share<'_> {
    /// The budget of which most is spent, if that is enough to tell.
    fn reached(&self, agent: &AgentId, policy: &Policy, spending: &Spending) -> Option<BudgetData> {
        let spent = BudgetPeriod::ALL.into_iter().filter_map(|period| {
            let limit = policy.budget(period).filter(|limit| *limit > NanoUsd::ZERO)?;
            Some((period, limit, spending.of(period).usd() / limit.usd() * 100.0))
        });
        let (period, limit, percent) = spent.max_by(|(_, _, one), (_, _, other)| one.total_cmp(other))?;
        (percent >= self.percent).then(|| BudgetData {
            agent_id: agent.clone(),
            spent_usd: spending.of(period),
            amount_usd: limit,
            period,
            period_start: policy.time_zone.period(period, self.now).start,
            threshold_percent: Some(self.percent),
        })
    }

    /// Good news if the budget was raised since it was told; that a new period has begun is no news.
    fn not_reached(&self, policy: &Policy, since: Option<Timestamp>) -> Finding {
        let Some(since) = since else { return Finding::Nothing };
        let has_begun = |period: BudgetPeriod| {
            policy.budget(period).is_some() && policy.time_zone.period(period, self.now).start > since
        };
        if BudgetPeriod::ALL.into_iter().any(has_begun) { Finding::Nothing } else { Finding::Good }
    }
}
