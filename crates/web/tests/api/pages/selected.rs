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
    browser.submit("/agents", "agent=one&agent=three&do=on", "/agents?done=all-on").await;
    let enabled = async |agent: &str| server.json(&format!("/api/agents/{agent}")).await["kill_switch"].clone();
    assert_eq!(enabled("one").await["enabled"], true);
    assert_eq!((&enabled("three").await["enabled"], &enabled("three").await["window_size"]), (&json!(true), &json!(7)));
    assert_eq!(enabled("two").await["enabled"], false);
    browser.submit("/agents", "agent=one&do=off&next=/", "/?done=all-off").await;
    assert_eq!(enabled("one").await["enabled"], false);

    server.kill("stopped").await;
    browser.submit("/agents", "agent=stopped&agent=one&do=activate&reason=fixed", "/agents?done=all-activated").await;
    assert_eq!(server.json("/api/agents/stopped").await["active"], true);
    let audit = server.json("/api/audit?action=agent.activate").await;
    assert_eq!(
        (&audit["items"][0]["target"], &audit["items"][0]["reason"]),
        (&json!("agent:stopped"), &json!("fixed"))
    );
    browser.submit("/agents", "do=on", "/agents?done=none-selected").await;
}

#[tokio::test]
async fn selection_creates_no_agent_and_goes_on_after_a_mistake() {
    let server = Server::start().await;
    server.put("/api/agents/known/kill-switch", json!({})).await;
    let browser = Browser::new(&server).await;
    let answer = browser.post("/agents", "agent=nobody&agent=known&do=on").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(answer.text.contains("There is no agent nobody."), "{}", answer.text);
    assert_eq!(server.get("/api/agents/nobody").await.status, StatusCode::NOT_FOUND);
    assert_eq!(server.json("/api/agents/known").await["kill_switch"]["enabled"], true);
    for wrong in ["agent=known&do=explode", "agent=known", "agent=/etc&do=on"] {
        assert_eq!(browser.post("/agents", wrong).await.status, StatusCode::BAD_REQUEST, "{wrong}");
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
    browser.submit("/agents", "agent=first&next=/&do=on", "/?done=all-on").await;
    assert!(!browser.page("/").await.contains("Turn the kill switch of first on"));
}

#[tokio::test]
async fn agent_may_have_the_name_of_an_action() {
    let server = Server::start().await;
    server.put("/api/agents/selected/kill-switch", json!({})).await;
    let browser = Browser::new(&server).await;
    assert!(browser.page("/agents/selected").await.contains("<h1>selected</h1>"));
}

#[tokio::test]
async fn every_page_that_activates_asks_for_a_reason() {
    let server = Server::start().await;
    server.kill("looper").await;
    for agent in ["by-hand", "looper"] {
        server.put(&format!("/api/agents/{agent}/kill-switch"), json!({})).await;
    }
    server.patch("/api/agents/by-hand", json!({"active": false})).await;
    let browser = Browser::new(&server).await;
    for page in ["/", "/agents", "/agents/by-hand", "/agents/looper"] {
        let text = browser.page(page).await;
        let forms = text.split("<form").skip(1).map(|form| form.split("</form>").next().unwrap());
        let forms: Vec<&str> = forms.filter(|form| form.contains(">Activate")).collect();
        assert!(!forms.is_empty() && forms.iter().all(|form| form.contains("name=\"reason\"")), "{page}: {forms:?}");
    }
}
