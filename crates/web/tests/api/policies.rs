//! Policies: shown, changed, kept.

use axum::http::{Method, StatusCode};
use model::{AgentId, CallId, Epoch, Event, EventType, NanoUsd, Usage};
use serde_json::json;

use crate::server::Server;

const POLICY: &str = "/api/agents/bot/policy";

fn bot() -> AgentId {
    AgentId::parse("bot").unwrap()
}

#[tokio::test]
async fn policy_shape() {
    let server = Server::start().await;
    assert_eq!(server.ask(Method::GET, POLICY, None).await.status, StatusCode::NOT_FOUND);
    let change = json!({
        "budget_daily_usd": 5, "budget_conversation_usd": 0.25, "time_zone": "Europe/Berlin",
        "allowed_hours": [{"days": ["mon", "fri"], "from": "22:00", "to": "06:00"}],
        "rate_limits": [{"provider": "*", "requests_per_minute": 60}],
        "model_overrides": [{"provider": "openai", "model": "*", "use": "gpt-5-mini"}],
    });
    let answer = server.ask(Method::PUT, POLICY, Some(change)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(server.json(POLICY).await, answer.json());
    insta::assert_json_snapshot!(answer.json());
}

#[tokio::test]
async fn policy_change_keeps_absent_fields_and_null_removes_a_limit() {
    let server = Server::start().await;
    server.ask(Method::PUT, POLICY, Some(json!({"budget_daily_usd": 5, "budget_weekly_usd": 20}))).await;
    let answer = server.ask(Method::PUT, POLICY, Some(json!({"budget_daily_usd": null}))).await.json();
    assert_eq!((&answer["budget_daily_usd"], &answer["budget_weekly_usd"]), (&json!(null), &json!(20.0)));
    let stored = server.web.store.policies().await.unwrap();
    assert_eq!(stored, [(bot(), (*server.web.guard.policies().policy(&bot())).clone())]);
}

#[tokio::test]
async fn removed_policy_leaves_the_default() {
    let server = Server::start().await;
    assert_eq!(server.ask(Method::DELETE, POLICY, None).await.status, StatusCode::NOT_FOUND);
    server.ask(Method::PUT, POLICY, Some(json!({"budget_daily_usd": 5}))).await;
    for _ in 0..2 {
        let answer = server.ask(Method::DELETE, POLICY, None).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        assert_eq!((&answer.json()["is_default"], &answer.json()["budget_daily_usd"]), (&json!(true), &json!(null)));
    }
    assert_eq!(server.web.store.policies().await.unwrap(), []);
    assert!(server.web.guard.policies().counted(&bot()).is_none());
}

#[tokio::test]
async fn default_policy_holds_for_all_others_and_counts_their_spending() {
    let server = Server::start().await;
    let now = server.web.clock.now();
    let mut event = Event::new(CallId::at(now), bot(), Epoch::default(), EventType::LlmCall, now);
    event.usage = Usage { input: Some(1), output: Some(1), ..Usage::default() };
    event.cost = NanoUsd::from_usd(1.5);
    server.web.recorder_handle.event(event);
    assert_eq!(server.json("/api/policy").await["is_configured"], true);
    let set = server.ask(Method::PUT, "/api/policy", Some(json!({"budget_daily_usd": 2}))).await.json();
    assert_eq!((&set["budget_daily_usd"], &set["is_configured"]), (&json!(2.0), &json!(false)));
    let holds = server.json(POLICY).await;
    assert_eq!((&holds["budget_daily_usd"], &holds["spent_daily_usd"]), (&json!(2.0), &json!(1.5)));
    assert_eq!(holds["is_default"], true);
    let wrong = server.ask(Method::PUT, "/api/policy", Some(json!({"time_zone": "Mars/Olympus"}))).await;
    assert_eq!((wrong.status, &wrong.json()["field"]), (StatusCode::BAD_REQUEST, &json!("time_zone")));
    let reset = server.ask(Method::DELETE, "/api/policy", None).await.json();
    assert_eq!((&reset["budget_daily_usd"], &reset["is_configured"]), (&json!(null), &json!(true)));
    assert!(server.web.guard.policies().counted(&bot()).is_none());
}

#[tokio::test]
async fn spending_before_the_policy_counts() {
    let server = Server::start().await;
    let now = server.web.clock.now();
    let mut event = Event::new(CallId::at(now), bot(), Epoch::default(), EventType::LlmCall, now);
    event.provider = Some("openai".into());
    event.usage = Usage { input: Some(1), output: Some(1), ..Usage::default() };
    event.cost = NanoUsd::from_usd(1.5);
    server.web.recorder_handle.event(event);
    let answer = server.ask(Method::PUT, POLICY, Some(json!({"budget_daily_usd": 1.5}))).await.json();
    let spent = ["spent_daily_usd", "spent_weekly_usd", "spent_monthly_usd"].map(|field| answer[field].clone());
    assert_eq!(spent, [json!(1.5), json!(1.5), json!(1.5)]);
    let limits = server.web.guard.policies().counted(&bot()).unwrap();
    assert_eq!(limits.spent(now)[0], NanoUsd::new(1_500_000_000));
}

#[tokio::test]
async fn a_deleted_agent_has_no_policy() {
    let server = Server::start().await;
    server.ask(Method::PUT, POLICY, Some(json!({"budget_daily_usd": 5}))).await;
    assert!(server.ask(Method::DELETE, "/api/agents/bot", None).await.status.is_success());
    assert!(server.web.guard.policies().counted(&bot()).is_none());
    assert_eq!(server.web.store.policies().await.unwrap(), []);
}

/// A rate or a model for an unknown provider would silently do nothing.
#[tokio::test]
async fn policy_refuses_unknown_providers_unless_it_has_them_already() {
    let server = Server::start().await;
    let rate = |provider: &str| json!({"rate_limits": [{"provider": provider, "requests_per_minute": 5}]});
    for path in [POLICY, "/api/policy"] {
        let refused = server.put(path, rate("opnai")).await;
        assert_eq!((refused.status, &refused.json()["field"]), (StatusCode::BAD_REQUEST, &json!("rate_limits")));
        let said = "rate_limits 1: there is no provider opnai; known are: openai, or * for all";
        assert_eq!(refused.json()["detail"], said);
    }
    assert_eq!(server.web.store.policies().await.unwrap(), []);

    let local = json!({"format": "openai", "base_url": "https://local.test"});
    assert!(server.put("/api/providers/local", local).await.status.is_success());
    assert_eq!(server.put(POLICY, rate("local")).await.status, StatusCode::OK);
    assert!(server.ask(Method::DELETE, "/api/providers/local", None).await.status.is_success());
    assert_eq!(server.put(POLICY, rate("local")).await.status, StatusCode::OK, "it is there already");
    assert_eq!(server.put(POLICY, json!({"budget_daily_usd": 5})).await.status, StatusCode::OK);
}
