//! The promises of the kill switch, through the whole product; the detector's own scenarios are
//! tested in `guard`.

use serde_json::json;

use crate::support::{Agent, Server, ServerBuilder, eventually, provider, requests};
use fake_provider::FakeProvider;

/// A server, a provider that always answers the same, and an agent with these settings.
async fn setup(settings: serde_json::Value) -> (FakeProvider, Server, Agent) {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", settings).await;
    let agent = server.agent("looper");
    (provider, server, agent)
}

const QUESTION: &str = "Why does the import of customer records fail?";

#[tokio::test]
async fn enable_kill_switch() {
    let (_provider, _server, agent) = setup(json!({"enabled": true})).await;
    let mut scores = Vec::new();
    for _ in 0..5 {
        scores.push(agent.ask(QUESTION).await.header("x-agentgazer-loop-score").to_owned());
    }
    assert_eq!(scores, ["0.0/10.0", "1.0/10.0", "4.0/10.0", "7.0/10.0", "10.0/10.0"]);
}

#[tokio::test]
async fn disable_kill_switch() {
    let (provider, server, agent) = setup(json!({"enabled": false, "threshold": 5.0})).await;
    for _ in 0..10 {
        assert_eq!(agent.ask(QUESTION).await.status, 200);
    }
    assert_eq!(requests(&provider), 10);
    // Calls 4 to 10 exceed 5.0.
    eventually("what it would have stopped is counted", async || {
        let settings = server.get("/api/agents/looper/kill-switch").await;
        (settings["would_have_stopped"] == 7).then_some(())
    })
    .await;
    assert_eq!(server.get("/api/agents/looper").await["active"], true);
    assert!(server.incidents("looper").await.is_empty());
}

#[tokio::test]
async fn configure_window_size() {
    // Three calls are compared, including this one: 2 × 1.0 + 1 × 2.0 is the maximum.
    let (_provider, _server, agent) = setup(json!({"enabled": true, "window_size": 3, "threshold": 4.0})).await;
    for _ in 0..12 {
        assert_eq!(agent.ask(QUESTION).await.status, 200);
    }
}

#[tokio::test]
async fn configure_threshold() {
    let (provider, server, agent) = setup(json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..3 {
        assert_eq!(agent.ask(QUESTION).await.status, 200);
    }
    assert!(agent.ask(QUESTION).await.is_inactive_response());
    assert_eq!(requests(&provider), 3);
    let incident = &server.incidents("looper").await[0];
    assert_eq!(incident["score"], 7.0);
    assert_eq!(incident["threshold"], 5.0);
    assert_eq!(incident["signals"]["similar_prompts"], json!({"count": 3, "weight": 1.0, "score": 3.0}));
    assert_eq!(incident["signals"]["similar_responses"], json!({"count": 2, "weight": 2.0, "score": 4.0}));
    assert_eq!(incident["signals"]["repeated_tool_calls"], json!({"count": 0, "weight": 1.5, "score": 0.0}));
}

#[tokio::test]
async fn deactivate_on_threshold_exceeded() {
    let (provider, server, agent) = setup(json!({"enabled": true})).await;
    for _ in 0..5 {
        assert_eq!(agent.ask(QUESTION).await.status, 200);
    }
    assert!(agent.ask(QUESTION).await.is_inactive_response(), "the sixth identical call is the first one refused");
    assert_eq!(requests(&provider), 5);
    let agent = server.get("/api/agents/looper").await;
    assert_eq!(agent["active"], false);
    assert_eq!(agent["deactivated_by"], "kill_switch");
    assert_eq!(agent["incident_id"], server.incidents("looper").await[0]["id"]);
}

#[tokio::test]
async fn use_standard_inactive_response() {
    let (provider, _server, agent) = setup(json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..4 {
        agent.ask(QUESTION).await;
    }
    let answer = agent.ask("Something else entirely: how many invoices are open?").await;
    assert!(answer.is_inactive_response());
    assert_eq!(answer.header("x-should-retry"), "false");
    assert_eq!(answer.header("retry-after"), "");
    let body = answer.json();
    assert_eq!(body["block_reason"], "inactive");
    assert_eq!(body["agent_id"], "looper");
    assert_eq!(body["deactivated_by"], "kill_switch");
    assert!(body["incident_id"].is_string() && body["deactivated_at"].is_string());
    assert_eq!(requests(&provider), 3);
}

#[tokio::test]
async fn record_kill_switch_event() {
    let (_provider, server, agent) = setup(json!({"enabled": true, "threshold": 5.0})).await;
    let (mut refusal, mut calls) = (agent.ask(QUESTION).await, 1);
    while refusal.status == 200 {
        assert!(calls < 100, "never killed");
        (refusal, calls) = (agent.ask(QUESTION).await, calls + 1);
    }
    // No waiting: the kill is committed before it is answered.
    let events = server.events("looper", "kill_switch").await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["id"], refusal.header("x-agentgazer-request-id"));
    assert_eq!(events[0]["score"], 7.0);
    assert_eq!(events[0]["blocked"], true);
    assert_eq!(events[0]["details"]["incident_id"], refusal.json()["incident_id"]);
}

#[tokio::test]
async fn block_on_threshold_exceeded() {
    let (provider, server, agent) = setup(json!({"enabled": true, "threshold": 5.0, "action": "block"})).await;
    for _ in 0..3 {
        agent.ask(QUESTION).await;
    }
    let answer = agent.ask(QUESTION).await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.json()["block_reason"], "loop_detected");
    assert_eq!(answer.header("x-agentgazer-blocked"), "loop_detected");
    assert_eq!(requests(&provider), 3);
    assert_eq!(server.get("/api/agents/looper").await["active"], true);
}

#[tokio::test]
async fn include_retry_information() {
    let (_provider, _server, agent) = setup(json!({"enabled": true, "threshold": 5.0, "action": "block"})).await;
    for _ in 0..3 {
        agent.ask(QUESTION).await;
    }
    let answer = agent.ask(QUESTION).await;
    let seconds = answer.json()["retry_after_seconds"].as_u64().unwrap();
    assert!(seconds > 0);
    assert_eq!(answer.header("retry-after"), seconds.to_string());
}

#[tokio::test]
async fn record_blocked_event() {
    let (_provider, server, agent) = setup(json!({"enabled": true, "threshold": 5.0, "action": "block"})).await;
    for _ in 0..4 {
        agent.ask(QUESTION).await;
    }
    let event =
        eventually("the blocked call is recorded", async || server.events("looper", "blocked").await.pop()).await;
    assert_eq!(event["blocked"], true);
    assert_eq!(event["block_reason"], "loop_detected");
    assert_eq!(event["status_code"], 429);
}

#[tokio::test]
async fn clear_window_on_activate() {
    let (_provider, server, agent) = setup(json!({"enabled": true, "threshold": 5.0})).await;
    for round in 0..3 {
        for call in 0..3 {
            assert_eq!(agent.ask(QUESTION).await.status, 200, "round {round}, call {call}");
        }
        assert!(agent.ask(QUESTION).await.is_inactive_response());
        server.activate("looper").await;
    }
    assert_eq!(agent.ask(QUESTION).await.header("x-agentgazer-loop-score"), "0.0/5.0");
    let states: Vec<_> = server.incidents("looper").await.iter().map(|incident| incident["state"].clone()).collect();
    assert_eq!(states, ["closed", "closed", "closed"]);
}

#[tokio::test]
async fn store_deactivation_reason() {
    let (_provider, server, agent) = setup(json!({"enabled": true, "threshold": 5.0})).await;
    let path = "/api/agents/looper";
    let after = server.api(http::Method::PATCH, path, Some(json!({"active": false}))).await;
    assert_eq!((&after["active"], &after["deactivated_by"]), (&json!(false), &json!("manual")));
    let refusal = agent.ask(QUESTION).await;
    assert!(refusal.is_inactive_response());
    assert_eq!(refusal.json()["deactivated_by"], "manual");
    server.activate("looper").await;
    for _ in 0..4 {
        agent.ask(QUESTION).await;
    }
    assert_eq!(server.get(path).await["deactivated_by"], "kill_switch");
}

#[tokio::test]
async fn clear_deactivation_reason_on_activate() {
    let (_provider, server, agent) = setup(json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..4 {
        agent.ask(QUESTION).await;
    }
    let after = server.activate("looper").await;
    assert_eq!(after["active"], true);
    assert!(after["deactivated_by"].is_null() && after["deactivated_at"].is_null() && after["incident_id"].is_null());
    assert_eq!(agent.ask(QUESTION).await.status, 200);
    assert_eq!(server.events("looper", "agent_activated").await.len(), 1);
}
