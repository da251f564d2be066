#![allow(clippy::unwrap_used, clippy::expect_used)]

mod budgets;

use super::*;
use crate::test_support::{TestStore, clock};
use model::{Condition, KillSwitch, PolicyChange};
use store::Grouping;

/// No grouping of alerts, a manual clock, and a server that was started an hour ago.
struct Minutes {
    fixture: TestStore,
    started: Timestamp,
    configured_policy: Policy,
}

fn policy(json: &str) -> Policy {
    serde_json::from_str::<PolicyChange>(json).unwrap().apply(&Policy::default()).unwrap()
}

impl Minutes {
    async fn new() -> Minutes {
        let alone = Grouping { window: Duration::ZERO, quiet: Duration::ZERO };
        let fixture = TestStore::new(clock(), alone).await;
        fixture.webhook("ops", "https://example.com/hook").await;
        let started = Timestamp::from_millis(fixture.clock.now().as_millis() - 3_600_000);
        Minutes { fixture, started, configured_policy: Policy::default() }
    }

    /// Advances the clock by minutes and evaluates the rules in each.
    async fn pass(&self, minutes: u32) {
        for _ in 0..minutes {
            self.fixture.clock.advance(60_000);
            self.evaluate().await;
        }
    }

    async fn evaluate(&self) {
        self.evaluator().evaluate_rules(self.started).await.unwrap();
    }

    fn evaluator(&self) -> Evaluator {
        let TestStore { store, recorder, clock, .. } = &self.fixture;
        let configured_policy = self.configured_policy.clone();
        Evaluator { store: store.clone(), recorder: recorder.clone(), clock: clock.clone(), configured_policy }
    }

    async fn set_policy(&self, agent: &str, json: &str) {
        let (agent, at) = (AgentId::parse(agent).unwrap(), self.fixture.clock.now());
        let change = Change::SetPolicy { agent, policy: policy(json).into(), kill_switch: KillSwitch::default(), at };
        self.fixture.recorder.change(change).await.unwrap();
    }

    async fn set_active(&self, agent: &str, active: bool) {
        let (agent, at) = (AgentId::parse(agent).unwrap(), self.fixture.clock.now());
        let change = match active {
            true => Change::Activate { agent, epoch: model::Epoch(0), by: model::ActivatedBy::Api, at },
            false => Change::Deactivate { agent, at },
        };
        self.fixture.recorder.change(change).await.unwrap();
    }
}

#[tokio::test]
async fn silent_agent_alerts_once_and_its_recovery_once() {
    let minutes = Minutes::new().await;
    minutes.fixture.rule("*", Condition::AgentDown { minutes: 5 }).await;
    minutes.fixture.calls("quiet", &[200]).await;
    minutes.pass(4).await;
    assert_eq!(minutes.fixture.sent_alerts().await, [""; 0]);
    minutes.pass(10).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.down quiet"]);
    minutes.fixture.calls("quiet", &[200]).await;
    minutes.pass(2).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.down quiet", "agent.recovered quiet"]);
}

#[tokio::test]
async fn inactive_agents_are_not_down() {
    let minutes = Minutes::new().await;
    minutes.fixture.rule("*", Condition::AgentDown { minutes: 5 }).await;
    minutes.fixture.calls("stopped", &[200]).await;
    minutes.set_active("stopped", false).await;
    minutes.pass(10).await;
    assert_eq!(minutes.fixture.sent_alerts().await, [""; 0]);

    minutes.set_active("stopped", true).await;
    minutes.pass(1).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.down stopped"], "active again, and silent");
    minutes
        .fixture
        .recorder
        .change(Change::Deactivate { agent: AgentId::parse("stopped").unwrap(), at: minutes.fixture.clock.now() })
        .await
        .unwrap();
    minutes.pass(1).await;
    assert_eq!(
        minutes.fixture.sent_alerts().await.len(),
        1,
        "no recovery is announced for an agent that was switched off"
    );
}

#[tokio::test]
async fn rule_for_all_ignores_agents_that_were_already_silent() {
    let minutes = Minutes::new().await;
    minutes.fixture.calls("old", &[200]).await;
    minutes.pass(60).await;
    minutes.fixture.rule("*", Condition::AgentDown { minutes: 5 }).await;
    minutes.pass(10).await;
    assert_eq!(minutes.fixture.sent_alerts().await, [""; 0]);
    minutes.fixture.rule("old", Condition::AgentDown { minutes: 5 }).await;
    minutes.pass(1).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.down old"], "a rule of its own is");
}

#[tokio::test]
async fn the_time_while_the_server_was_down_does_not_count() {
    let mut minutes = Minutes::new().await;
    minutes.fixture.rule("*", Condition::AgentDown { minutes: 5 }).await;
    minutes.fixture.calls("patient", &[200]).await;
    minutes.fixture.clock.advance(3_600_000);
    minutes.started = minutes.fixture.clock.now();
    minutes.pass(4).await;
    assert_eq!(minutes.fixture.sent_alerts().await, [""; 0]);
    minutes.pass(1).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.down patient"]);
    minutes.fixture.clock.advance(3_600_000);
    minutes.started = minutes.fixture.clock.now();
    minutes.pass(10).await;
    assert_eq!(minutes.fixture.sent_alerts().await.len(), 1, "a restart neither repeats nor forgets");
}

#[tokio::test]
async fn error_rate_needs_ten_calls() {
    let minutes = Minutes::new().await;
    minutes.fixture.rule("flaky", Condition::ErrorRate { percent: 50.0, minutes: 5 }).await;
    minutes.fixture.calls("flaky", &[500; 9]).await;
    minutes.fixture.calls("other", &[500; 20]).await;
    minutes.evaluate().await;
    assert_eq!(minutes.fixture.sent_alerts().await, [""; 0]);
    minutes.fixture.calls("flaky", &[200]).await;
    minutes.evaluate().await;
    minutes.evaluate().await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.error_rate flaky"]);
    let summary = minutes.fixture.history().await[0].data.as_ref().unwrap().summary();
    assert_eq!(summary, "flaky: 90% of its calls failed (9 of 10 in 5 minutes)");

    minutes.fixture.calls("flaky", &[200; 9]).await;
    minutes.evaluate().await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.error_rate flaky", "agent.recovered flaky"]);
    minutes.fixture.calls("flaky", &[500; 20]).await;
    minutes.evaluate().await;
    assert_eq!(minutes.fixture.sent_alerts().await.len(), 2, "it cools down");
    for _ in 0..15 {
        minutes.pass(1).await;
        minutes.fixture.calls("flaky", &[500; 20]).await;
    }
    assert_eq!(minutes.fixture.sent_alerts().await.last().unwrap(), "agent.error_rate flaky");
    assert_eq!(minutes.fixture.sent_alerts().await.len(), 3);
}

/// Calls with their statuses, at some seconds.
type Calls<'a> = &'a [(i64, &'a [u16])];

/// The number of error-rate alerts for these calls if rules are evaluated at `second` of every
/// minute.
async fn error_rate_alerts(calls: Calls<'_>, second: i64) -> usize {
    let minutes = Minutes::new().await;
    minutes.fixture.rule("*", Condition::ErrorRate { percent: 50.0, minutes: 1 }).await;
    let clock = &minutes.fixture.clock;
    let begin = (clock.now().as_millis() / 60_000 + 1) * 60_000;
    let go_to = |second: i64| clock.advance(begin + second * 1000 - clock.now().as_millis());
    let mut calls = calls.iter().peekable();
    for evaluate in (0..4).map(|minute| minute * 60 + second) {
        while let Some((at, statuses)) = calls.next_if(|(at, _)| *at < evaluate) {
            go_to(*at);
            minutes.fixture.calls("flaky", statuses).await;
        }
        go_to(evaluate);
        minutes.evaluate().await;
    }
    minutes.fixture.sent_alerts().await.iter().filter(|it| *it == "agent.error_rate flaky").count()
}

#[tokio::test]
async fn no_failure_falls_between_two_evaluations() {
    let cases: [(&str, Calls<'_>, usize); 5] = [
        ("just after the evaluation", &[(57, &[500; 30])], 1),
        ("on either side of the end of a minute", &[(58, &[500; 5]), (61, &[500; 5])], 1),
        ("between minutes that are good", &[(5, &[200; 30]), (65, &[500; 10]), (125, &[200; 30])], 1),
        ("too few", &[(57, &[500; 9])], 0),
        ("too good", &[(57, &[500, 500, 500, 500, 200, 200, 200, 200, 200, 200])], 0),
    ];
    for (name, calls, expected) in cases {
        for second in [2, 30, 55, 59] {
            assert_eq!(error_rate_alerts(calls, second).await, expected, "{name}, looked at in second {second}");
        }
    }
}

#[tokio::test]
async fn agent_without_calls_does_not_recover() {
    let minutes = Minutes::new().await;
    minutes.fixture.rule("*", Condition::ErrorRate { percent: 50.0, minutes: 5 }).await;
    minutes.fixture.calls("flaky", &[500; 10]).await;
    minutes.pass(1).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.error_rate flaky"]);
    minutes.pass(10).await;
    assert_eq!(minutes.fixture.sent_alerts().await.len(), 1);
    assert!(!minutes.fixture.store.alert_states().await.unwrap()[0].firing);
}

#[tokio::test]
async fn lasting_condition_reminds_if_the_rule_asks_for_it() {
    let minutes = Minutes::new().await;
    for condition in [Condition::AgentDown { minutes: 5 }, Condition::KillSwitch] {
        let rule = minutes.fixture.rule("*", condition).await;
        let rule = AlertRule { repeat_minutes: Some(10), ..rule };
        minutes.fixture.change(AlertChange::PutRule { rule: rule.into() }).await;
    }
    minutes.fixture.calls("quiet", &[200]).await;
    minutes.fixture.kill("killed").await;
    minutes.pass(5).await;
    let killed =
        || async { minutes.fixture.sent_alerts().await.iter().filter(|it| *it == "agent.killed killed").count() };
    let down = || async { minutes.fixture.sent_alerts().await.iter().filter(|it| *it == "agent.down quiet").count() };
    assert_eq!((killed().await, down().await), (1, 1));
    minutes.pass(10).await;
    assert_eq!((killed().await, down().await), (2, 2));
    minutes.set_active("killed", true).await;
    minutes.pass(20).await;
    assert_eq!(killed().await, 2, "it is over");
    assert_eq!(minutes.fixture.sent_alerts().await.iter().filter(|it| *it == "agent.recovered killed").count(), 1);
}
