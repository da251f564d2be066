use super::*;
use crate::{EventFilter, StoreConfig, Unpriced};
use model::{BlockReason, NanoUsd, Policy, PolicyChange, Spending, Usage};

fn policy(json: &str) -> Policy {
    serde_json::from_str::<PolicyChange>(json).unwrap().apply(&Policy::default()).unwrap()
}

fn set(agent: &str, policy: Policy) -> Change {
    Change::SetPolicy { agent: id(agent), policy: policy.into(), kill_switch: KillSwitch::default(), at: NOON }
}

/// A call that came at `time` and cost `nanos`.
fn paid(agent: &str, time: &str, nanos: i64) -> Event {
    let time = Timestamp::parse(time).unwrap();
    let mut event = Event::new(CallId::at(time), id(agent), Epoch(0), EventType::LlmCall, time);
    event.provider = Some("openai".to_owned());
    event.conversation = Some("c1".to_owned());
    event.usage = Usage { input: Some(10), output: Some(1), ..Usage::default() };
    event.cost = Some(NanoUsd::new(nanos));
    event
}

#[tokio::test]
async fn policy_survives_a_restart_and_is_deleted_with_its_agent() {
    let fixture = Fixture::new().await;
    let first = policy(r#"{"budget_daily_usd":5,"time_zone":"Europe/Berlin"}"#);
    let second = policy(r#"{"rate_limits":[{"provider":"*","requests_per_minute":9}]}"#);
    for policy in [&first, &second] {
        fixture.recorder.change(set("limited", policy.clone())).await.unwrap();
    }
    fixture.recorder.change(set("other", first.clone())).await.unwrap();
    assert!(fixture.store.agent(&id("limited")).await.unwrap().is_some(), "an unknown agent is created");
    let fixture = fixture.restart().await;
    assert_eq!(fixture.store.policies().await.unwrap(), [(id("limited"), second), (id("other"), first.clone())]);
    fixture.recorder.change(Change::DeleteAgent { agent: id("limited") }).await.unwrap();
    assert_eq!(fixture.store.policies().await.unwrap(), [(id("other"), first)]);
    for _ in 0..2 {
        fixture.recorder.change(Change::ResetPolicy { agent: id("other") }).await.unwrap();
        assert_eq!(fixture.store.policies().await.unwrap(), []);
    }
}

#[tokio::test]
async fn the_default_policy_is_kept_beside_those_of_agents() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.store.default_policy().await.unwrap(), None);
    let default = policy(r#"{"budget_daily_usd":5}"#);
    let set = Change::SetDefaultPolicy { policy: Some(default.clone().into()) };
    fixture.recorder.change(set).await.unwrap();
    let fixture = fixture.restart().await;
    assert_eq!(fixture.store.default_policy().await.unwrap(), Some(default));
    assert_eq!(fixture.store.policies().await.unwrap(), []);
    fixture.recorder.change(Change::SetDefaultPolicy { policy: None }).await.unwrap();
    assert_eq!(fixture.store.default_policy().await.unwrap(), None);
}

#[tokio::test]
async fn refusals_by_policies_are_counted_by_reason_and_minute() {
    let fixture = Fixture::new().await;
    let refused = |reason: BlockReason, millis: i64| {
        let time = Timestamp::from_millis(NOON.as_millis() / 60_000 * 60_000 + millis);
        let mut event = Event::new(CallId::new(), id("agent"), Epoch(0), EventType::Blocked, time);
        event.block_reason = Some(reason);
        event
    };
    let reasons =
        [BlockReason::Inactive, BlockReason::OutsideHours, BlockReason::RateLimited, BlockReason::BudgetExceeded];
    let storm = |millis: i64| reasons.iter().flat_map(move |reason| vec![refused(*reason, millis); 50]);
    let unique = |events: Vec<Event>| -> Vec<Event> {
        events.into_iter().map(|event| Event { id: CallId::new(), ..event }).collect()
    };
    fixture.record_all(unique(storm(0).collect())).await;
    fixture.record_all(unique(storm(59_999).collect())).await;
    let page = fixture.store.events(&EventFilter::default(), &super::page(100)).await.unwrap();
    let mut counts: Vec<_> =
        page.items.iter().map(|row| (row.event.block_reason.unwrap().as_str(), row.count)).collect();
    counts.sort_unstable();
    assert_eq!(counts, [("budget_exceeded", 100), ("inactive", 100), ("outside_hours", 100), ("rate_limited", 100)]);
}

#[tokio::test]
async fn spending_counts_from_the_beginning_of_each_day() {
    let fixture = Fixture::new().await;
    // Now is 22:13 on a Tuesday; in Kathmandu it is Wednesday since 18:15, in New York Tuesday
    // since 05:00.
    fixture
        .record_all(vec![
            paid("agent", "2023-11-14T22:00:00Z", 1),
            paid("agent", "2023-11-14T18:15:00Z", 10),
            paid("agent", "2023-11-14T18:14:59.999Z", 100),
            paid("agent", "2023-11-14T04:59:59.999Z", 1_000),
            paid("agent", "2023-11-13T00:00:00Z", 10_000),
            paid("agent", "2023-11-12T18:15:00Z", 100_000),
            paid("agent", "2023-11-01T00:00:00Z", 1_000_000),
            paid("agent", "2023-10-31T18:15:00Z", 10_000_000),
            paid("other", "2023-11-14T22:00:00Z", 7),
        ])
        .await;
    let check = async |zone: &str, day: i64, week: i64, month: i64| {
        let policy = policy(&format!(r#"{{"budget_daily_usd":1,"time_zone":"{zone}"}}"#));
        let [day, week, month] = [day, week, month].map(NanoUsd::new);
        let expected = Spending { day, week, month, conversations: Vec::new() };
        assert_eq!(fixture.store.spending_of(&id("agent"), &policy, NOON).await.unwrap(), expected, "{zone}");
        let all = fixture.store.budgets(&policy, NOON).await.unwrap();
        let of = |agent: &str| all.iter().find(|budget| budget.agent == id(agent)).unwrap().spending.clone();
        assert_eq!((of("agent"), of("other").day), (expected, NanoUsd::new(7)), "{zone}");
    };
    check("UTC", 1_111, 11_111, 1_111_111).await;
    check("Asia/Kathmandu", 11, 111_111, 11_111_111).await;
    check("America/New_York", 111, 1_111, 111_111).await;
}

#[tokio::test]
async fn models_without_a_price_count_too() {
    let directory = tempfile::tempdir().unwrap();
    let unpriced = Unpriced::new(|provider, input, output| match provider {
        "openai" => NanoUsd::new((input * 1_000 + output * 10_000) as i64),
        _ => NanoUsd::ZERO,
    });
    let config = StoreConfig { unpriced, ..config(&directory) };
    let store = Store::open_tuned(config, quick()).await.unwrap();
    let (handle, inbox) = RecorderHandle::new(100);
    let (recorder, _writer) = Recorder::start(store.clone(), inbox);
    let mut unknown = paid("agent", "2023-11-14T20:58:00Z", 0);
    unknown.cost = None;
    let other = Event { conversation: Some("c2".to_owned()), ..paid("agent", "2023-11-14T20:00:00Z", 5) };
    for event in [paid("agent", "2023-11-14T20:59:00Z", 1), unknown, other] {
        handle.event(event);
    }
    recorder.catch_up().await;
    let by_default = policy(r#"{"budget_conversation_usd":1}"#);
    let spending = store.budgets(&by_default, NOON).await.unwrap().remove(0).spending;
    assert_eq!(store.spending_of(&id("agent"), &by_default, NOON).await.unwrap(), spending);
    assert_eq!(spending.day, NanoUsd::new(20_006));
    let mut conversations = spending.conversations;
    conversations.sort();
    assert_eq!(conversations, [("c1".to_owned(), NanoUsd::new(20_001)), ("c2".to_owned(), NanoUsd::new(5))]);
}

#[tokio::test]
async fn budgets_list_every_agent_with_its_own_policy() {
    let fixture = Fixture::new().await;
    let berlin = policy(r#"{"budget_daily_usd":1,"time_zone":"Europe/Berlin"}"#);
    let rates = policy(r#"{"rate_limits":[{"provider":"*","requests_per_minute":9}]}"#);
    for (agent, policy) in [("a", &berlin), ("b", &rates), ("idle", &berlin)] {
        fixture.recorder.change(set(agent, policy.clone())).await.unwrap();
    }
    // 23:30 of the day before in Berlin, 22:30 in UTC.
    fixture.record_all(["a", "b", "c"].map(|agent| paid(agent, "2023-11-13T22:30:00Z", 5)).to_vec()).await;
    let check = async |default: &Policy, expected: &[(&str, bool, i64)]| {
        let budgets = fixture.store.budgets(default, NOON).await.unwrap();
        let mut budgets: Vec<_> =
            budgets.iter().map(|it| (it.agent.as_str(), it.own.is_some(), it.spending.week.nanos())).collect();
        budgets.sort_unstable();
        assert_eq!(budgets, expected);
    };
    check(&Policy::default(), &[("a", true, 5), ("b", true, 0), ("idle", true, 0)]).await;
    check(&berlin, &[("a", true, 5), ("b", true, 0), ("c", false, 5), ("idle", true, 0)]).await;
    let budgets = fixture.store.budgets(&Policy::default(), NOON).await.unwrap();
    assert_eq!(budgets[0].spending.day, NanoUsd::ZERO);
}

#[tokio::test]
async fn recent_calls_are_counted_by_agent_provider_and_second() {
    let fixture = Fixture::new().await;
    let at = |agent: &str, second: &str| {
        let mut event = paid(agent, &format!("2023-11-14T22:00:{second}Z"), 1);
        event.usage.output = None;
        event
    };
    let mut refused = at("a", "30.000");
    refused.event_type = EventType::Blocked;
    let events =
        [at("a", "29.999"), at("a", "30.000"), at("b", "30.500"), at("a", "30.999"), at("a", "31.000"), refused];
    fixture.record_all(events.to_vec()).await;
    let from = Timestamp::parse("2023-11-14T22:00:30Z").unwrap();
    let recent = fixture.store.recent_calls(from).await.unwrap();
    let recent: Vec<_> =
        recent.iter().map(|it| (it.time.millis_since(from), it.agent.as_str(), it.calls, it.tokens)).collect();
    assert_eq!(recent, [(0, "a", 2, 20), (0, "b", 1, 10), (1000, "a", 1, 10)]);
}
