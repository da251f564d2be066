use super::*;
use model::{BudgetLimit, BudgetPeriod, NanoUsd};

#[tokio::test]
async fn budget_alerts_once_per_period() {
    let minutes = Minutes::new().await;
    let amount = BudgetLimit::Amount { amount_usd: NanoUsd::new(1_000_000_000), period: BudgetPeriod::Day };
    minutes.fixture.rule("*", Condition::Budget(amount)).await;
    minutes.fixture.spend("dear", 999_999_999).await;
    minutes.evaluate().await;
    assert_eq!(minutes.fixture.sent_alerts().await, [""; 0]);
    minutes.fixture.spend("dear", 1).await;
    minutes.evaluate().await;
    minutes.pass(30).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.budget dear"]);
    let summary = minutes.fixture.history().await[0].data.as_ref().unwrap().summary();
    assert_eq!(summary, "dear has spent $1.00 today; the limit is $1.00");
    minutes.fixture.clock.advance(24 * 3_600_000);
    minutes.evaluate().await;
    minutes.fixture.spend("dear", 2_000_000_000).await;
    minutes.evaluate().await;
    assert_eq!(
        minutes.fixture.sent_alerts().await,
        ["agent.budget dear"; 2],
        "the next day is another one, and its start is no news"
    );
}

#[tokio::test]
async fn spending_at_the_end_of_a_period_alerts_and_the_next_period_separately() {
    let minutes = Minutes::new().await;
    let amount = BudgetLimit::Amount { amount_usd: NanoUsd::new(1_000_000_000), period: BudgetPeriod::Day };
    let rule = async |scope: &str| {
        let rule = AlertRule { cooldown_minutes: 0, ..minutes.fixture.rule(scope, Condition::Budget(amount)).await };
        minutes.fixture.change(AlertChange::PutRule { rule: rule.into() }).await;
    };
    rule("*").await;
    let clock = &minutes.fixture.clock;
    let day_ms = 24 * 3_600_000;
    clock.advance(day_ms - clock.now().as_millis() % day_ms - 20_000);
    minutes.evaluate().await;
    clock.advance(10_000);
    minutes.fixture.spend("late", 1_000_000_000).await;
    minutes.fixture.spend("early", 999_999_999).await;
    clock.advance(20_000);
    minutes.fixture.spend("early", 1).await;
    rule("late").await;
    clock.advance(30_000);
    minutes.evaluate().await;
    assert_eq!(
        minutes.fixture.sent_alerts().await,
        ["agent.budget late"],
        "neither a rule of today, nor what today cost, is about yesterday"
    );

    minutes.fixture.spend("late", 1_000_000_000).await;
    minutes.pass(10).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.budget late"; 3], "of today, by both rules");
}

/// Adds a rule at 80 % of a budget.
async fn watch_budgets(minutes: &Minutes) {
    minutes.fixture.rule("*", Condition::Budget(BudgetLimit::Share { percent: 80.0 })).await;
}

#[tokio::test]
async fn share_of_a_budget_alerts_once_and_recovers_when_raised() {
    let minutes = Minutes::new().await;
    watch_budgets(&minutes).await;
    minutes.set_policy("saver", r#"{"budget_daily_usd":1,"budget_weekly_usd":100}"#).await;
    minutes.fixture.spend("saver", 799_999_999).await;
    minutes.fixture.spend("free", 999_000_000_000).await;
    minutes.evaluate().await;
    assert_eq!(minutes.fixture.sent_alerts().await, [""; 0]);
    minutes.fixture.spend("saver", 50_000_001).await;
    minutes.evaluate().await;
    minutes.pass(30).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.budget saver"]);
    let summary = minutes.fixture.history().await[0].data.as_ref().unwrap().summary();
    assert_eq!(summary, "saver has spent 85% of its budget of $1.00 for the day");

    minutes.set_policy("saver", r#"{"budget_daily_usd":2}"#).await;
    minutes.pass(2).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.budget saver", "agent.recovered saver"]);
    minutes.fixture.spend("saver", 900_000_000).await;
    minutes.pass(15).await;
    assert_eq!(minutes.fixture.sent_alerts().await.last().unwrap(), "agent.budget saver");
    assert_eq!(minutes.fixture.sent_alerts().await.len(), 3);
}

#[tokio::test]
async fn restart_neither_repeats_nor_forgets_a_budget_alert() {
    let mut minutes = Minutes::new().await;
    watch_budgets(&minutes).await;
    minutes.set_policy("saver", r#"{"budget_weekly_usd":1}"#).await;
    minutes.fixture.spend("saver", 1_000_000_000).await;
    minutes.evaluate().await;
    for _ in 0..3 {
        minutes.fixture.clock.advance(3_600_000);
        minutes.started = minutes.fixture.clock.now();
        minutes.pass(1).await;
    }
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.budget saver"]);
    minutes.set_policy("saver", r#"{"budget_weekly_usd":5}"#).await;
    minutes.pass(1).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.budget saver", "agent.recovered saver"]);
}

#[tokio::test]
async fn default_budgets_alert_and_a_new_day_does_not() {
    let mut minutes = Minutes::new().await;
    minutes.configured_policy = policy(r#"{"budget_daily_usd":100}"#);
    let set = policy(r#"{"budget_daily_usd":1,"time_zone":"Asia/Tokyo"}"#);
    minutes.fixture.recorder.change(Change::SetDefaultPolicy { policy: Some(set.into()) }).await.unwrap();
    watch_budgets(&minutes).await;
    minutes.fixture.spend("anyone", 1_000_000_000).await;
    minutes.set_policy("free", "{}").await;
    minutes.fixture.spend("free", 1_000_000_000).await;
    minutes.pass(1).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.budget anyone"]);
    minutes.fixture.clock.advance(24 * 3_600_000);
    minutes.pass(1).await;
    assert_eq!(minutes.fixture.sent_alerts().await.len(), 1);
    assert!(!minutes.fixture.store.alert_states().await.unwrap()[0].firing);
    minutes.fixture.spend("anyone", 2_000_000_000).await;
    minutes.pass(1).await;
    assert_eq!(minutes.fixture.sent_alerts().await, ["agent.budget anyone"; 2]);
}
