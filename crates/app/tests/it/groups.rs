//! Groups on the real server: what is set by API and by command, and what a restart keeps of it.

use http::Method;
use serde_json::json;

use crate::support::{ServerBuilder, provider};

const QUESTION: &str = "Why does the import of customer records fail?";

#[tokio::test]
async fn group_limits_stops_and_sets_up_its_agents() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    assert_eq!(server.agent("team-a:old").ask(QUESTION).await.status, 200);
    let body = json!({
        "agents": ["team-a/*", "x"],
        "policy": {"rate_limits": [{"provider": "*", "requests_per_minute": 3}]},
        "kill_switch": {"enabled": true, "threshold": 7.5},
    });
    let made = server.api(Method::PUT, "/api/groups/team-a", Some(body)).await;
    assert_eq!((&made["name"], &made["agents"]), (&json!("team-a"), &json!(["team-a/*", "x"])));
    for (agent, expected) in [("team-a:one", 200), ("x", 200), ("team-a:two", 200), ("team-a:one", 429), ("other", 200)]
    {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, expected, "{agent}");
    }

    // A restart finds the same: new agents of the group, those that were there before, and others.
    let (builder, _) = server.terminate();
    let server = builder.start();
    for (agent, enabled) in [("team-a:one", true), ("x", true), ("team-a:old", false), ("other", false)] {
        let kill_switch = server.get(&format!("/api/agents/{agent}/kill-switch")).await;
        assert_eq!(kill_switch["enabled"], json!(enabled), "{agent}");
    }

    let stopped = server.run(&["groups", "stop", "team-a", "--json"]).json();
    assert_eq!(stopped["agents"], json!(["team-a:old", "team-a:one", "team-a:two", "x"]));
    assert!(server.agent("x").ask(QUESTION).await.is_inactive_response());
    assert_eq!(server.agent("other").ask(QUESTION).await.status, 200);
    server.run(&["groups", "activate", "team-a"]).said();
    server.run(&["groups", "set", "team-a", "--requests-per-minute", "1000", "--budget-daily", "0"]).said();
    let refused = server.agent("x").ask(QUESTION).await.json();
    assert_eq!((&refused["block_reason"], &refused["group"]), (&json!("budget_exceeded"), &json!("team-a")));
    server.run(&["groups", "delete", "team-a"]).said();
    assert_eq!(server.agent("x").ask(QUESTION).await.status, 200);
    assert_eq!(server.get("/api/groups").await, json!({"items": [], "next_cursor": null}));
}

#[tokio::test]
async fn group_spending_survives_a_restart() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let body = json!({"agents": ["team-a/*"], "policy": {"budget_daily_usd": 100}});
    server.api(Method::PUT, "/api/groups/team-a", Some(body)).await;
    for agent in ["team-a:one", "team-a:two"] {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, 200);
    }
    let spent = server.get("/api/groups/team-a").await["spent_daily_usd"].as_f64().unwrap();
    assert!(spent > 0.0);
    let (builder, _) = server.terminate();
    let server = builder.start();
    let again = server.get("/api/groups/team-a").await["spent_daily_usd"].as_f64().unwrap();
    assert!((again - spent).abs() < 1e-9, "{again} {spent}");
}

#[tokio::test]
async fn group_shapes_and_rules() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for (name, body, field) in [
        ("g", json!({}), "agents"),
        ("g", json!({"agents": []}), "agents"),
        ("g", json!({"agents": ["a b"]}), "agents[0]"),
        ("g", json!({"agents": ["a"], "members": []}), "members"),
        ("g", json!({"agents": ["a"], "policy": {"budget_daily_usd": -1}}), "policy.budget_daily_usd"),
        ("g", json!({"agents": ["a"], "policy": {"budget_conversation_usd": 1}}), "budget_conversation_usd"),
        ("g", json!({"agents": ["a"], "kill_switch": {"window_size": 1}}), "window_size"),
        ("g%20h", json!({"agents": ["a"]}), "name"),
    ] {
        let refused = server.try_api(Method::PUT, &format!("/api/groups/{name}"), Some(body.clone())).await.unwrap();
        assert_eq!((refused.status.as_u16(), &refused.json()["field"]), (400, &json!(field)), "{body}: {refused:?}");
    }
    assert_eq!(server.try_api(Method::GET, "/api/groups/g", None).await.unwrap().status, 404);
    assert_eq!(server.try_api(Method::POST, "/api/groups/g/stop", None).await.unwrap().status, 404);
    server.api(Method::PUT, "/api/groups/g", Some(json!({"agents": ["a"]}))).await;
    let rule = json!({"rule_type": "kill_switch", "agent_id": "@g"});
    let rule = server.api(Method::POST, "/api/alerts", Some(rule)).await;
    assert_eq!(rule["agent_id"], "@g");
    let unknown = json!({"rule_type": "kill_switch", "agent_id": "@nobody"});
    let unknown = server.try_api(Method::POST, "/api/alerts", Some(unknown)).await.unwrap();
    assert_eq!((unknown.status.as_u16(), &unknown.json()["field"]), (400, &json!("agent_id")));
    assert_eq!(server.try_api(Method::DELETE, "/api/groups/g", None).await.unwrap().status, 409);
    server.api(Method::DELETE, &format!("/api/alerts/{}", rule["id"].as_str().unwrap()), None).await;
    assert_eq!(server.try_api(Method::DELETE, "/api/groups/g", None).await.unwrap().status, 204);
}
