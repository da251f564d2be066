//! Settings for all agents, and the token.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use http_body_util::BodyExt;
use model::AgentId;
use serde_json::{Value, json};

use crate::pages::Browser;
use crate::server::{Server, TOKEN, request};

const BALANCED: &str = "window_size=20&threshold=10&action=deactivate&counting=adaptive";

fn id(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

async fn defaults(server: &Server) -> Value {
    server.json("/api/settings").await["kill_switch"].clone()
}

#[tokio::test]
async fn settings_hold_for_the_next_new_agent() {
    let server = Server::start().await;
    server.call(&id("known"));
    let body = json!({"kill_switch": {"enabled": true, "threshold": 4.0}, "retention": {"event_days": 7}});
    let answer = server.put("/api/settings", body).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let settings = answer.json();
    assert_eq!(
        (&settings["kill_switch"]["enabled"], &settings["kill_switch"]["window_size"]),
        (&json!(true), &json!(20))
    );
    assert_eq!(settings["retention"], json!({"event_days": 7, "incident_days": 180, "statistics_days": 400}));
    assert_eq!(settings["configured"]["kill_switch"]["enabled"], false);

    server.call(&id("new"));
    let enabled =
        async |agent: &str| server.json(&format!("/api/agents/{agent}")).await["kill_switch"]["enabled"].clone();
    assert_eq!((enabled("known").await, enabled("new").await), (json!(false), json!(true)));

    // Absent fields keep their values; a reset restores the configured ones.
    server.put("/api/settings", json!({"retention": {"incident_days": 9}})).await;
    assert_eq!(server.json("/api/settings").await["retention"]["event_days"], 7);
    let reset = server.ask(Method::DELETE, "/api/settings", None).await.json();
    assert_eq!(
        (&reset["kill_switch"], &reset["retention"]),
        (&reset["configured"]["kill_switch"], &reset["configured"]["retention"])
    );
}

#[tokio::test]
async fn an_agent_that_left_memory_keeps_its_settings() {
    let server = Server::start().await;
    server.put("/api/agents/old/kill-switch", json!({})).await;
    server.web.guard.forget(&id("old"));
    server.put("/api/settings", json!({"kill_switch": {"enabled": true}})).await;
    server.call(&id("old"));
    assert_eq!(server.json("/api/agents/old").await["kill_switch"]["enabled"], false);
}

#[tokio::test]
async fn a_bad_value_names_its_field_and_changes_nothing() {
    let server = Server::start().await;
    for (body, said) in [
        (json!({"kill_switch": {"window_size": 1}}), "kill_switch.window_size must be a whole number from 2 to 500"),
        (json!({"kill_switch": {"enabled": true, "threshold": 0}}), "kill_switch.threshold must be a number above 0"),
        (json!({"kill_switch": {"action": "explode"}}), "kill_switch.action must be one of"),
        (
            json!({"retention": {"event_days": 0}}),
            "retention.event_days must be a whole number of days from 1 to 36500",
        ),
        (json!({"retention": {"event_days": "7"}}), "retention.event_days must be a whole number"),
        (json!({"retention": {"weeks": 1}}), "weeks is not known here"),
        (json!({"token": "x"}), "token is not known here"),
    ] {
        let answer = server.put("/api/settings", body.clone()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        assert!(answer.json()["detail"].as_str().unwrap().starts_with(said), "{body}: {}", answer.text);
    }
    assert_eq!(defaults(&server).await["enabled"], false);
}

#[tokio::test]
async fn settings_forms_equal_the_api() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    assert!(browser.page("/settings").await.contains("All of this is as configured."));
    let fields = format!("enabled=on&{BALANCED}&preset=tight");
    browser.submit("/settings/defaults", &fields, "/settings?done=settings").await;
    assert_eq!(
        (&defaults(&server).await["enabled"], &defaults(&server).await["threshold"]),
        (&json!(true), &json!(5.0))
    );
    let days = "event_days=14&incident_days=90&statistics_days=400";
    browser.submit("/settings/retention", days, "/settings?done=settings").await;
    assert_eq!(server.json("/api/settings").await["retention"]["incident_days"], 90);

    for (path, fields, said) in [
        ("/settings/defaults", "window_size=1&threshold=9&action=block&counting=literal", "Window size must be"),
        ("/settings/defaults", "window_size=x&threshold=9&action=block&counting=literal", "Window size must be"),
        ("/settings/retention", "event_days=&incident_days=90&statistics_days=400", "Requests, in days must be"),
    ] {
        let answer = browser.post(path, fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(
            answer.text.contains(said) && answer.text.contains("Nothing was changed."),
            "{fields}: {}",
            answer.text
        );
    }
    browser.submit("/settings/reset", "", "/settings?done=as-configured").await;
    assert_eq!(defaults(&server).await["enabled"], false);
}

async fn knows(server: &Server, token: &str) -> bool {
    let request = request(Method::GET, "/api/agents").header("authorization", format!("Bearer {token}"));
    server.send(request.body(Body::empty()).unwrap()).await.status == StatusCode::OK
}

#[tokio::test]
async fn a_new_token_ends_the_old_one_and_every_session() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let stream = request(Method::GET, "/api/stream").header("cookie", &browser.cookie).body(Body::empty()).unwrap();
    let stream = server.open(stream).await;
    assert_eq!(stream.status(), StatusCode::OK);

    let page = browser.post("/settings/token", "").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    let token = page.text.split("id=\"new-token\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert_eq!(token.len(), 64);
    assert!(page.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(server.kept_token(), token, "it was stored");
    assert!(!knows(&server, TOKEN).await && knows(&server, &token).await);
    assert_eq!(browser.get("/").await.status, StatusCode::SEE_OTHER);
    // The stream of the old session ends: its body has an end to wait for.
    stream.into_body().collect().await.unwrap();

    let request = request(Method::POST, "/api/token").header("authorization", format!("Bearer {token}"));
    let answer = server.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.json()["token"], server.kept_token());
    assert!(!knows(&server, &token).await);
}

#[tokio::test]
async fn a_token_of_the_configuration_is_changed_there() {
    let server = Server::with_token(control::Token::configured(TOKEN)).await;
    let answer = server.ask(Method::POST, "/api/token", None).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.json()["detail"].as_str().unwrap().contains("AGENTGAZER_TOKEN"), "{}", answer.text);
    let browser = Browser::new(&server).await;
    assert!(browser.page("/settings").await.contains("It is set by the configuration"));
}

#[tokio::test]
async fn status_reports_failures() {
    let server = Server::start().await;
    let status = server.json("/api/status").await;
    assert_eq!((&status["database_trouble"], &status["detection_failures"]), (&json!(null), &json!(0)));
    let browser = Browser::new(&server).await;
    assert!(!browser.page("/").await.contains("Detection failed"));
    server.web.detection_failures.add();
    assert!(browser.page("/").await.contains("Detection failed 1 time."));
    assert_eq!(server.json("/api/status").await["detection_failures"], 1);
    assert_eq!(server.json("/readyz").await["warnings"][0], "detection: calls let through because it failed: 1");
}
