//! Several agents at once.

use axum::http::StatusCode;
use serde_json::json;

use super::Browser;
use crate::server::Server;

#[tokio::test]
async fn selected_agents_are_switched_and_activated_together() {
    let server = Server::start().await;
    for agent in ["one", "two", "three"] {
        server.put(&format!("/api/agents/{agent}/kill-switch"), json!({"window_size": 7})).await;
    }
    let browser = Browser::new(&server).await;
    browser.submit("/agents/selected", "agent=one&agent=three&do=on", "/agents?done=all-on").await;
    let enabled = async |agent: &str| server.json(&format!("/api/agents/{agent}")).await["kill_switch"].clone();
    assert_eq!(enabled("one").await["enabled"], true);
    assert_eq!((&enabled("three").await["enabled"], &enabled("three").await["window_size"]), (&json!(true), &json!(7)));
    assert_eq!(enabled("two").await["enabled"], false);
    browser.submit("/agents/selected", "agent=one&do=off&next=/", "/?done=all-off").await;
    assert_eq!(enabled("one").await["enabled"], false);

    server.kill("stopped").await;
    browser.submit("/agents/selected", "agent=stopped&agent=one&do=activate", "/agents?done=all-activated").await;
    assert_eq!(server.json("/api/agents/stopped").await["active"], true);
    browser.submit("/agents/selected", "do=on", "/agents?done=none-selected").await;
}

#[tokio::test]
async fn selection_creates_no_agent_and_goes_on_after_a_mistake() {
    let server = Server::start().await;
    server.put("/api/agents/known/kill-switch", json!({})).await;
    let browser = Browser::new(&server).await;
    let answer = browser.post("/agents/selected", "agent=nobody&agent=known&do=on").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(answer.text.contains("There is no agent nobody."), "{}", answer.text);
    assert_eq!(server.get("/api/agents/nobody").await.status, StatusCode::NOT_FOUND);
    assert_eq!(server.json("/api/agents/known").await["kill_switch"]["enabled"], true);
    for wrong in ["agent=known&do=explode", "agent=known", "agent=/etc&do=on"] {
        assert_eq!(browser.post("/agents/selected", wrong).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[tokio::test]
async fn first_steps_turn_the_switch_of_the_newest_agent_on() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let page = browser.page("/").await;
    assert!(page.contains("Waiting for the first call…") && page.contains("action=\"/drill\""), "{page}");
    for text in ["ANTHROPIC_BASE_URL=http://127.0.0.1:18900/agents/my-agent/anthropic", "[model_providers.agentgazer]"]
    {
        assert!(page.contains(text), "{text}");
    }
    server.put("/api/agents/first/kill-switch", json!({})).await;
    server.call(&model::AgentId::parse("first").unwrap());
    let page = browser.page("/").await;
    assert!(!page.contains("Waiting for the first call…"), "{page}");
    assert!(page.contains("Turn the kill switch of first on"), "{page}");
    browser.submit("/agents/selected", "agent=first&next=/&do=on", "/?done=all-on").await;
    assert!(!browser.page("/").await.contains("Turn the kill switch of first on"));
}
