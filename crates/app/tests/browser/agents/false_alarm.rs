//! From a false alarm to an exemption: the incident explains the kill, the exemption lets calls
//! pass.

use fake_provider::FakeProvider;
use serde_json::{Value, json};

use crate::driver::{Browser, Kind};
use crate::support::{Answer, Server, ServerBuilder, provider};

const AGENT: &str = "inbox-watcher";
const QUESTION: &str = "Look into the inbox of the support team and tell me whether there is anything to do.";

/// Asks the same question of a model with a known price.
async fn ask(server: &Server) -> Answer {
    let messages = json!([{"role": "user", "content": QUESTION}]);
    server.agent(AGENT).chat(&json!({"model": "gpt-4o", "messages": messages})).await
}

/// A server whose agent was stopped at its sixth call and was refused three times since.
async fn stopped() -> (FakeProvider, Server, Value) {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch(AGENT, json!({"enabled": true})).await;
    for _ in 0..5 {
        assert_eq!(ask(&server).await.status, 200);
    }
    for _ in 0..4 {
        assert!(ask(&server).await.is_inactive_response());
    }
    let incident = server.incidents(AGENT).await.remove(0);
    (provider, server, incident)
}

#[tokio::test]
async fn false_alarm_is_exempted() {
    let (_provider, server, incident) = stopped().await;
    let id = incident["id"].as_str().unwrap();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go(&format!("/incidents/{id}")).await;

    // The shape of the loop.
    browser.wait_for_text("#story", "The same call 6 times in a row").await;
    browser.wait_for_text("#refused", "3 further requests refused, $0 spent").await;
    let spent: f64 = server.events(AGENT, "llm_call").await.iter().map(|call| call["cost_usd"].as_f64().unwrap()).sum();
    let incident = server.get(&format!("/api/incidents/{id}")).await;
    assert!((incident["loop_cost_usd"].as_f64().unwrap() - spent).abs() < 1e-9, "{incident}: {spent}");
    let evidence = browser.text("details.evidence summary").await;
    assert!(evidence.contains("prompt similar to call 6, response similar to call 5"), "{evidence}");
    // Refusals are counted live.
    ask(&server).await;
    browser.wait_for_text("#refused", "4 further requests refused").await;

    // A false alarm: the narrowest exemption, and what it would have let through.
    browser.click("#feedback ~ form button[value=false_alarm]").await;
    browser
        .wait_for_text("#false-alarm", "With this, the call would have scored 0.0 / 10: it would have gone through.")
        .await;
    assert!(browser.text("#false-alarm").await.contains("It covers 6 of the newest 6 calls on record."));
    browser.click("#false-alarm form.box button").await;
    browser.wait_for_text("#notice", "It no longer counts").await;
    browser.click("#story summary").await;
    browser.click(&format!("form[action='/incidents/{id}/activate'] button")).await;
    browser.wait_for_text("#story", "from the dashboard").await;

    // The same prompt passes any number of times, until the exemption is revoked.
    for _ in 0..12 {
        assert_eq!(ask(&server).await.status, 200);
    }
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.wait_for_text("#exemptions", QUESTION).await;
    browser.click("#exemptions button").await;
    browser.wait_for_text("#notice", "It counts again").await;
    assert!(ask(&server).await.is_inactive_response());
    assert_eq!(browser.log().await, Vec::<String>::new(), "nothing was refused or failed");
}

#[tokio::test]
async fn an_incident_and_an_agent_are_deleted_from_their_pages() {
    let (_provider, server, incident) = stopped().await;
    let id = incident["id"].as_str().unwrap();
    let browser = Browser::logged_in(&server, Kind::WITHOUT_SCRIPT).await;
    browser.go(&format!("/incidents/{id}")).await;
    browser.click("#delete summary").await;
    browser.click("#delete button").await;
    browser.wait_for_text("#notice", "It is deleted.").await;
    assert_eq!(server.incidents(AGENT).await, Vec::<Value>::new());
    assert!(ask(&server).await.is_inactive_response(), "it stays stopped");

    browser.go(&format!("/agents/{AGENT}")).await;
    browser.click("#delete summary").await;
    browser.click("#delete button").await;
    browser.wait_for_text("#notice", "It is deleted.").await;
    assert_eq!(server.get("/api/agents").await["items"], json!([]));
    assert_eq!(server.events(AGENT, "llm_call").await, Vec::<Value>::new());
    assert_eq!(ask(&server).await.status, 200, "a client that still calls is a new agent");
}
