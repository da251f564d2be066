use super::*;

#[tokio::test]
async fn a_kill_is_queued_for_every_channel_without_any_rule() {
    let fixture = Fixture::new().await;
    fixture.kill_at("early", 0, -3600).await;
    assert!(!fixture.store.notifies_of_kills(&id("looper")).await.unwrap());
    fixture.channel("ops").await;
    fixture.channel("dev").await;
    assert!(fixture.store.notifies_of_kills(&id("looper")).await.unwrap());

    fixture.kill_at("looper", 0, 0).await;
    assert_eq!(fixture.sent_alerts().await, [("ops".to_owned(), "agent.killed"), ("dev".to_owned(), "agent.killed")]);
    let delivery = &fixture.queued().await[0];
    assert_eq!((delivery.state, delivery.due_at, delivery.rule), (DeliveryState::Queued, NOON, None));
    assert_eq!(delivery.agent.as_ref().unwrap().as_str(), "looper");
    assert_eq!(fixture.store.channels_due(NOON).await.unwrap().len(), 2);
    assert_eq!(fixture.store.channels_due(after(-1)).await.unwrap(), []);
}

#[tokio::test]
async fn kill_reported_twice_alerts_once() {
    let fixture = Fixture::new().await;
    fixture.channel("ops").await;
    let commits: Vec<_> = (0..20).map(|_| fixture.send_kill(incident("looper", 0))).collect();
    for commit in commits {
        assert!(commit.wait().await);
    }
    assert_eq!(fixture.queued().await.len(), 1);
}

#[tokio::test]
async fn own_rules_replace_the_built_in_rule() {
    let fixture = Fixture::new().await;
    let (a, b) = (fixture.channel("a").await, fixture.channel("b").await);
    let off = AlertRule { enabled: false, ..rule("quiet", Condition::KillSwitch, &[]) };
    fixture.rule(off).await;
    fixture.rule(rule("routed", Condition::KillSwitch, &[a])).await;
    fixture.rule(rule("routed", Condition::KillSwitch, &[a, b])).await;
    fixture.rule(rule("quiet", Condition::AgentDown { minutes: 5 }, &[])).await;

    fixture.kill_at("quiet", 0, 0).await;
    assert_eq!(fixture.sent_alerts().await, []);
    assert!(!fixture.store.notifies_of_kills(&id("quiet")).await.unwrap());
    fixture.kill_at("routed", 0, 3600).await;
    let told = [("a".to_owned(), "agent.killed"), ("b".to_owned(), "agent.killed")];
    assert_eq!(fixture.sent_alerts().await, told, "two rules name a, which gets one alert");
    fixture.kill_at("other", 0, 7200).await;
    assert_eq!(fixture.queued().await.len(), 4, "channels without a rule get alerts by default");
}

#[tokio::test]
async fn channel_that_is_off_gets_no_alerts() {
    let fixture = Fixture::new().await;
    let channel = Channel { enabled: false, ..webhook("ops") };
    fixture.alerts(AlertChange::PutChannel { channel: channel.into() }).await.unwrap();
    fixture.kill_at("looper", 0, 0).await;
    assert_eq!(fixture.sent_alerts().await, []);
    assert!(!fixture.store.notifies_of_kills(&id("looper")).await.unwrap());
}

#[tokio::test]
async fn kills_always_alert_and_observed_loops_once_per_cooldown() {
    let fixture = Fixture::new().await;
    fixture.channel("ops").await;
    for seconds in [0, 60, 899, 900] {
        fixture.observe_at("watched", seconds).await;
    }
    assert_eq!(fixture.sent_alerts().await.len(), 2, "at once, and after fifteen minutes");
    fixture.kill_at("looper", 0, 5000).await;
    fixture.activate("looper", 0).await.unwrap();
    fixture.kill_at("looper", 1, 5100).await;
    let killed = fixture.sent_alerts().await.into_iter().filter(|(_, kind)| *kind == "agent.killed").count();
    assert_eq!(killed, 2);
}

#[tokio::test]
async fn activation_alerts_if_the_rule_asks_for_it() {
    let fixture = Fixture::new().await;
    let told = AlertRule { notify_recovery: true, ..rule("told", Condition::KillSwitch, &[]) };
    fixture.rule(told).await;
    fixture.channel("ops").await;
    for agent in ["told", "other"] {
        fixture.kill_at(agent, 0, 0).await;
        fixture.activate(agent, 0).await.unwrap();
    }
    let recovered: Vec<_> =
        fixture.queued().await.into_iter().filter(|it| it.alert_type == AlertType::Recovered).collect();
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0].agent.as_ref().unwrap().as_str(), "told");
    assert!(recovered[0].incident.is_some());
}

#[tokio::test]
async fn failed_delivery_keeps_its_attempts_and_can_be_retried() {
    let fixture = Fixture::new().await;
    fixture.channel("ops").await;
    fixture.kill_at("looper", 0, 0).await;
    let delivery = fixture.queued().await[0].id;
    let retry = |at| AlertChange::Retry { delivery, at };
    assert!(matches!(fixture.alerts(retry(NOON)).await, Err(StoreError::Conflict(_))));

    fixture.attempted(delivery, Outcome::Again(after(5))).await;
    assert_eq!(fixture.store.next_due(NOON).await.unwrap(), Some(after(5)));
    fixture.attempted(delivery, Outcome::GivenUp).await;
    let failed = fixture.store.delivery(delivery).await.unwrap().unwrap();
    assert_eq!((failed.state, failed.tries, failed.attempts.len()), (DeliveryState::Failed, 2, 2));
    assert_eq!(failed.reason.as_deref(), Some("status 200: ok"));

    fixture.alerts(retry(after(60))).await.unwrap();
    let fixture = fixture.restart().await;
    let queued = fixture.store.delivery(delivery).await.unwrap().unwrap();
    assert_eq!((queued.state, queued.tries, queued.due_at), (DeliveryState::Queued, 0, after(60)));
    fixture.attempted(delivery, Outcome::Delivered).await;
    let done = fixture.store.delivery(delivery).await.unwrap().unwrap();
    assert_eq!((done.state, done.attempts.len(), done.attempts[2].delivered), (DeliveryState::Delivered, 3, true));
}

#[tokio::test]
async fn gone_target_disables_its_channel() {
    let fixture = Fixture::new().await;
    let channel = fixture.channel("ops").await;
    fixture.kill_at("one", 0, 0).await;
    fixture.kill_at("two", 0, 1).await;
    fixture.attempted(fixture.queued().await[0].id, Outcome::Gone).await;
    let channel = fixture.store.channel(channel).await.unwrap().unwrap();
    assert!(!channel.enabled && channel.disabled_reason.is_some());
    let failed: Vec<_> = fixture.queued().await.into_iter().map(|it| (it.state, it.reason.unwrap())).collect();
    let reasons = ["status 410: ok", "the target of the channel is gone"];
    assert_eq!(failed, reasons.map(|reason| (DeliveryState::Failed, reason.to_owned())));
}

#[tokio::test]
async fn alerts_are_deleted_with_their_agent() {
    let fixture = Fixture::new().await;
    fixture.channel("ops").await;
    fixture.rule(rule("looper", Condition::KillSwitch, &[])).await;
    fixture.kill_at("looper", 0, 0).await;
    fixture.record(call("looper")).await;
    fixture.change(Change::DeleteAgent { agent: id("looper") }).await.unwrap();
    for table in
        ["select count(*) from deliveries", "select count(*) from alert_rules", "select count(*) from alert_states"]
    {
        assert_eq!(fixture.count(table).await, 0, "{table}");
    }
    assert_eq!(fixture.count("select count(*) from agent_minutes").await, 0);
}

#[tokio::test]
async fn alert_history_is_deleted_after_its_retention() {
    let fixture = Fixture::new().await;
    fixture.channel("ops").await;
    fixture.kill_at("old", 0, -200 * 24 * 3600).await;
    fixture.kill_at("waiting", 0, -100 * 24 * 3600).await;
    let old = fixture.queued().await[0].id;
    let attempt = Attempt {
        at: after(-200 * 24 * 3600),
        took_ms: 1,
        status: None,
        answer: String::new(),
        outcome: Outcome::GivenUp,
    };
    fixture.alerts(AlertChange::Attempted { delivery: old, attempt }).await.unwrap();
    // The writer sweeps when it starts.
    let fixture = fixture.restart().await;
    fixture.change(Change::Deactivate { agent: id("waiting"), at: NOON }).await.unwrap();
    let fixture = fixture.restart().await;
    let left: Vec<_> = fixture.queued().await.into_iter().map(|it| it.agent.unwrap().to_string()).collect();
    assert_eq!(left, ["waiting"]);
}
