//! Conditions about money: agents that spent an amount, or a share of the budgets in their
//! policies.

use std::collections::HashMap;

use model::{
    AgentId, AlertData, AlertRule, BudgetData, BudgetLimit, BudgetPeriod, NanoUsd, Policy, Spending, Timestamp, Zone,
};
use store::{AgentBudget, AlertState, Spent, StoreError};

use super::{Evaluator, Finding};

/// How long after a period ends it is still evaluated instead of the new one: two intervals,
/// because one may be late.
const LOOKED_BACK_MS: i64 = 120_000;

/// What agents spent.
type Sums = HashMap<AgentId, NanoUsd>;

/// What `rule` finds for every agent that has spent something or has a firing alert.
pub(super) async fn findings(
    evaluator: &Evaluator,
    rule: &AlertRule,
    firing: &[&AlertState],
    (limit, now): (BudgetLimit, Timestamp),
) -> Result<Vec<(AgentId, Finding)>, StoreError> {
    match limit {
        BudgetLimit::Amount { amount_usd, period } => {
            let period_start = evaluated_period(rule, period, now);
            let spent = spent_in(evaluator, period_start, Zone::default().period(period, now).start).await?;
            let data = |agent_id, spent_usd| BudgetData {
                agent_id,
                spent_usd,
                amount_usd,
                period,
                period_start,
                threshold_percent: None,
            };
            Ok(overspent(rule, firing, spent, data))
        }
        BudgetLimit::Share { percent } => {
            let set = evaluator.store.default_policy().await?;
            let default = set.as_ref().unwrap_or(&evaluator.configured_policy);
            let budgets = evaluator.store.budgets(default, now).await?;
            Ok(near_their_budget(rule, firing, budgets, &BudgetThreshold { percent, default, now }))
        }
    }
}

/// The start of the period that is evaluated at `now`. Shortly after a period began, that is the
/// one before it: its last minute would otherwise never be evaluated.
fn evaluated_period(rule: &AlertRule, period: BudgetPeriod, now: Timestamp) -> Timestamp {
    let back = Timestamp::from_millis(now.as_millis() - LOOKED_BACK_MS);
    Zone::default().period(period, back.max(rule.created_at)).start
}

/// What each agent spent in the period that began at `start`, the current one or the one before it.
async fn spent_in(evaluator: &Evaluator, start: Timestamp, current: Timestamp) -> Result<Sums, StoreError> {
    let mut sums = Sums::new();
    for Spent { agent, cost, .. } in evaluator.store.spent_since(start).await? {
        *sums.entry(agent).or_default() += cost;
    }
    if start < current {
        for Spent { agent, cost, .. } in evaluator.store.spent_since(current).await? {
            let sum = sums.entry(agent).or_default();
            *sum = sum.less(cost);
        }
    }
    Ok(sums)
}

/// Agents that spent more than the amount. A new period ends an alert without a notification.
fn overspent(
    rule: &AlertRule,
    firing: &[&AlertState],
    mut spent: Sums,
    data: impl Fn(AgentId, NanoUsd) -> BudgetData,
) -> Vec<(AgentId, Finding)> {
    spent.retain(|agent, _| rule.scope.includes(agent));
    for state in firing {
        spent.entry(state.agent.clone()).or_default();
    }
    let finding = |(agent, sum): (AgentId, NanoUsd)| {
        let data = data(agent.clone(), sum);
        // The alert of the period before ends first; otherwise this period would count as already
        // announced.
        let is_old =
            |it: &&AlertState| it.agent == agent && evaluated_period(rule, data.period, it.since) < data.period_start;
        let over = data.spent_usd >= data.amount_usd && !firing.iter().any(is_old);
        (agent, if over { Finding::Holds(AlertData::Budget(data)) } else { Finding::Unknown })
    };
    spent.into_iter().map(finding).collect()
}

/// The share of a budget that fires.
struct BudgetThreshold<'a> {
    percent: f64,
    default: &'a Policy,
    now: Timestamp,
}

fn near_their_budget(
    rule: &AlertRule,
    firing: &[&AlertState],
    budgets: Vec<AgentBudget>,
    share: &BudgetThreshold<'_>,
) -> Vec<(AgentId, Finding)> {
    let mut since: HashMap<AgentId, Timestamp> = firing.iter().map(|it| (it.agent.clone(), it.since)).collect();
    let mut findings = Vec::new();
    for AgentBudget { agent, own, spending } in budgets.into_iter().filter(|it| rule.scope.includes(&it.agent)) {
        let policy = own.as_ref().unwrap_or(share.default);
        let since = since.remove(&agent);
        let finding = match share.reached(&agent, policy, &spending) {
            Some(data) => Finding::Holds(AlertData::Budget(data)),
            None => share.not_reached(policy, since),
        };
        findings.push((agent, finding));
    }
    // These agents have the default policy now, and have spent nothing of it.
    findings.extend(since.into_iter().map(|(agent, since)| (agent, share.not_reached(share.default, Some(since)))));
    findings
}

impl BudgetThreshold<'_> {
    /// The budget with the largest spent share, if that share fires.
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

    /// A recovery if the budget was raised since the alert; a new period ends it silently.
    fn not_reached(&self, policy: &Policy, since: Option<Timestamp>) -> Finding {
        let Some(since) = since else { return Finding::Unknown };
        let has_begun = |period: BudgetPeriod| {
            policy.budget(period).is_some() && policy.time_zone.period(period, self.now).start > since
        };
        if BudgetPeriod::ALL.into_iter().any(has_begun) { Finding::Unknown } else { Finding::Clear }
    }
}
