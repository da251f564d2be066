//! Evaluates the rules every minute: silent agents, failing calls, spent budgets, kills that last.
//! It reads only sums, never events. What each rule last announced is in the store, so a restart
//! neither repeats nor forgets an alert.

mod budgets;
mod conditions;

use std::collections::HashMap;
use std::time::Duration;

use model::{AgentId, AlertData, AlertRule, Clock, ClockWatch, Policy, RecoveredData, RuleId, Timestamp};
use store::{AlertChange, AlertState, AlertTransition, Change, Recorder, Store, StoreError, Transition};
use tokio::sync::watch;

/// How often the rules are evaluated.
const INTERVAL: Duration = Duration::from_secs(60);

/// How long a server claims the evaluation: a little less than an interval, so that the same server
/// continues, and another takes over when it ends.
const CLAIM_MS: i64 = 55_000;

/// What each rule last announced, by rule and agent.
type States = HashMap<(RuleId, AgentId), AlertState>;

/// Evaluates the rules.
pub(crate) struct Evaluator {
    pub(crate) store: Store,
    pub(crate) recorder: Recorder,
    pub(crate) clock: Clock,
    /// The policy of agents that have none of their own, unless people have set another.
    pub(crate) configured_policy: Policy,
}

impl Evaluator {
    /// Evaluates the rules every minute until the server stops.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut started = self.clock.now();
        let mut clock_watch = ClockWatch::new(self.clock.clone());
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut well = true;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                _ = stop.changed() => return,
            }
            if let Some(jump) = clock_watch.check() {
                // Time that did not pass does not count as an agent's silence.
                started = jump.now;
            }
            match self.evaluate_in_turn(started).await {
                Ok(()) => well = true,
                Err(error) if std::mem::take(&mut well) => tracing::warn!("alert rules cannot be evaluated: {error}"),
                Err(_) => {}
            }
        }
    }

    /// Evaluates the rules unless another server on the same database has done so in this minute.
    async fn evaluate_in_turn(&self, started: Timestamp) -> Result<(), StoreError> {
        match self.store.claim_work("alert rules", CLAIM_MS).await? {
            true => self.evaluate_rules(started).await,
            false => Ok(()),
        }
    }

    /// Evaluates every rule once. The server was started at `started`.
    async fn evaluate_rules(&self, started: Timestamp) -> Result<(), StoreError> {
        let (store, now) = (&self.store, self.clock.now());
        let rules: Vec<AlertRule> = store.alert_rules().await?.into_iter().filter(|rule| rule.enabled).collect();
        if rules.is_empty() {
            return Ok(());
        }
        self.recorder.catch_up().await;
        let states = store.alert_states().await?.into_iter();
        let states: States = states.map(|state| ((state.rule, state.agent.clone()), state)).collect();
        let mut transitions = Vec::new();
        for rule in &rules {
            for (agent, finding) in conditions::findings(self, rule, &states, (started, now)).await? {
                let state = states.get(&(rule.id, agent.clone()));
                if let Some(transition) = transition(rule, &agent, state, finding, now) {
                    transitions.push(AlertTransition { rule: rule.id, agent, transition });
                }
            }
        }
        if transitions.is_empty() {
            return Ok(());
        }
        self.recorder.change(Change::Alerts(AlertChange::Transitions { transitions, at: now })).await?;
        Ok(())
    }
}

/// What a rule found about an agent.
#[derive(Clone, Debug, PartialEq)]
enum Finding {
    /// The condition holds.
    Holds(AlertData),
    /// The condition does not hold.
    Clear,
    /// The condition cannot be judged: the agent is inactive, or made no calls.
    Unknown,
}

/// The next state of the alert: normal → firing → recovered.
fn transition(
    rule: &AlertRule,
    agent: &AgentId,
    state: Option<&AlertState>,
    finding: Finding,
    now: Timestamp,
) -> Option<Transition> {
    // After the clock was set back, the time since the last alert is unknown: one alert too many is
    // better than none.
    let past =
        |told_at: Timestamp, minutes: u32| now < told_at || now.millis_since(told_at) >= u64::from(minutes) * 60_000;
    match (state.filter(|state| state.firing), finding) {
        (None, Finding::Holds(data)) => {
            let cooled = state.is_none_or(|state| past(state.told_at, rule.cooldown_minutes));
            cooled.then_some(Transition::Begins(data))
        }
        (Some(firing), Finding::Holds(data)) => {
            let due = rule.repeat_minutes.is_some_and(|minutes| past(firing.told_at, minutes));
            due.then_some(Transition::Lasts(data))
        }
        (Some(firing), Finding::Clear) => {
            let (agent_id, rule_type) = (agent.clone(), rule.condition.rule_type());
            let data = RecoveredData { agent_id, rule_type, since: firing.since, incident_id: None };
            Some(Transition::Ends(rule.notify_recovery.then_some(AlertData::Recovered(data))))
        }
        (Some(_), Finding::Unknown) => Some(Transition::Ends(None)),
        (None, Finding::Clear | Finding::Unknown) => None,
    }
}

#[cfg(test)]
mod tests;
