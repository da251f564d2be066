//! The conditions of rules: which agents are silent, failing, over budget or still stopped.

use std::collections::HashMap;

use model::{AgentId, AlertData, AlertRule, Condition, ErrorRateData, LoopData, RuleScope, SilenceData, Timestamp};
use store::{AgentRow, AlertState, CallFigures, Calls, Store, StoreError};

use super::{Evaluator, Finding, States, budgets};

/// What `rule` finds for each agent in its scope. The times are the server's start and now.
pub(super) async fn findings(
    evaluator: &Evaluator,
    rule: &AlertRule,
    states: &States,
    (started, now): (Timestamp, Timestamp),
) -> Result<Vec<(AgentId, Finding)>, StoreError> {
    let store = &evaluator.store;
    let firing: Vec<&AlertState> = states.values().filter(|state| state.rule == rule.id && state.firing).collect();
    match rule.condition {
        Condition::KillSwitch if rule.repeat_minutes.is_none() => Ok(Vec::new()),
        Condition::KillSwitch => killed(store, &firing).await,
        Condition::AgentDown { minutes } => silent(store, rule, &firing, (minutes, started, now)).await,
        Condition::ErrorRate { percent, minutes } => {
            let figures = store.call_figures(minutes, now).await?;
            failing(store, rule, &firing, (figures, percent, minutes)).await
        }
        Condition::Budget(limit) => budgets::findings(evaluator, rule, &firing, (limit, now)).await,
    }
}

/// Agents that are still stopped. The recovery is announced when the agent is activated.
async fn killed(store: &Store, firing: &[&AlertState]) -> Result<Vec<(AgentId, Finding)>, StoreError> {
    let mut findings = Vec::new();
    for state in firing {
        let Some(incident) = state.incident else { continue };
        let row = store.incident(incident).await?.filter(|row| row.state == model::IncidentState::Open);
        if let Some(row) = row {
            let data = LoopData {
                agent_id: row.agent,
                incident_id: row.id,
                deactivated_at: Some(row.at),
                score: row.score.value,
                threshold: row.kill_switch.threshold,
                window_size: row.kill_switch.window_size,
                signals: row.score.signals.into(),
                provider: row.provider,
                model: row.model,
                action: row.kill_switch.action,
            };
            findings.push((state.agent.clone(), Finding::Holds(AlertData::Loop(data))));
        }
    }
    Ok(findings)
}

/// Agents that made no call for `minutes`. Time while the server was down does not count.
async fn silent(
    store: &Store,
    rule: &AlertRule,
    firing: &[&AlertState],
    (minutes, started, now): (u32, Timestamp, Timestamp),
) -> Result<Vec<(AgentId, Finding)>, StoreError> {
    let before = minutes_before(minutes, now);
    let agents = silent_candidates(store, rule, firing, (minutes, started, now)).await?;
    let finding = |agent: AgentId, row: Option<AgentRow>| {
        let active = row.filter(|row| row.deactivation.is_none());
        let finding = match active.and_then(|row| row.last_seen) {
            None => Finding::Unknown,
            Some(at) if at > before => Finding::Clear,
            // Already announced, or silent for the whole span since the start.
            Some(at) if started <= before || firing.iter().any(|state| state.agent == agent) => {
                let data = SilenceData { agent_id: agent.clone(), last_seen: Some(at), minutes };
                Finding::Holds(AlertData::Silence(data))
            }
            Some(_) => Finding::Unknown,
        };
        (agent, finding)
    };
    Ok(agents.into_iter().map(|(agent, row)| finding(agent, row)).collect())
}

/// The agents that may have been silent for `minutes`, as they are stored, and those whose alert is
/// firing.
async fn silent_candidates(
    store: &Store,
    rule: &AlertRule,
    firing: &[&AlertState],
    (minutes, started, now): (u32, Timestamp, Timestamp),
) -> Result<HashMap<AgentId, Option<AgentRow>>, StoreError> {
    let before = minutes_before(minutes, now);
    let mut agents = HashMap::new();
    match &rule.scope {
        RuleScope::One(agent) => drop(agents.insert(agent.clone(), store.agent(agent).await?)),
        // Agents that were silent before the rule was created do not alert.
        RuleScope::All | RuleScope::Group { .. } if started <= before => {
            let found = store.agents_last_seen(minutes_before(minutes, rule.created_at), before).await?;
            let found = found.into_iter().filter(|row| rule.scope.includes(&row.id));
            agents.extend(found.map(|row| (row.id.clone(), Some(row))));
        }
        RuleScope::All | RuleScope::Group { .. } => {}
    }
    for state in firing {
        if !agents.contains_key(&state.agent) {
            agents.insert(state.agent.clone(), store.agent(&state.agent).await?);
        }
    }
    Ok(agents)
}

fn minutes_before(minutes: u32, at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millis() - i64::from(minutes) * 60_000)
}

/// Agents whose share of failed calls is too high.
async fn failing(
    store: &Store,
    rule: &AlertRule,
    firing: &[&AlertState],
    (figures, percent, minutes): (Vec<CallFigures>, f64, u32),
) -> Result<Vec<(AgentId, Finding)>, StoreError> {
    let mut findings = Vec::new();
    for state in firing {
        if !figures.iter().any(|figures| figures.agent == state.agent) {
            findings.push((state.agent.clone(), Finding::Unknown));
        }
    }
    for figures in figures.into_iter().filter(|it| rule.scope.includes(&it.agent)) {
        let is_firing = firing.iter().any(|state| state.agent == figures.agent);
        let Some(Calls { calls, errors }) = worst(&figures, is_firing) else { continue };
        let (agent, error_percent) = (figures.agent, error_percent(calls, errors));
        let data = ErrorRateData {
            agent_id: agent.clone(),
            error_percent,
            errors,
            calls,
            threshold_percent: percent,
            minutes,
        };
        let finding = match error_percent >= percent {
            false => Finding::Clear,
            true if store.agent(&agent).await?.is_none_or(|row| row.deactivation.is_some()) => Finding::Unknown,
            true => Finding::Holds(AlertData::ErrorRate(data)),
        };
        findings.push((agent, finding));
    }
    Ok(findings)
}

/// The span with the highest error rate. Spans with too few calls are ignored, except to see
/// whether an alert is over.
fn worst(figures: &CallFigures, is_firing: bool) -> Option<Calls> {
    let enough = |span: &Calls| is_firing || span.calls >= Condition::MIN_CALLS;
    let rate = |span: &Calls| error_percent(span.calls, span.errors);
    // `max_by` takes the last of equals, so the newest span of the rule's own length comes last.
    let spans = [figures.all, figures.before, figures.latest].into_iter().filter(enough);
    spans.max_by(|one, other| rate(one).total_cmp(&rate(other)))
}

fn error_percent(calls: u64, errors: u64) -> f64 {
    errors as f64 * 100.0 / (calls.max(1) as f64)
}
