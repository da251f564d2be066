//! Agents are configured, switched off and on, named and deleted, in memory and on disk.

use std::pin::pin;

use axum::http::{Method, StatusCode};
use model::{AgentId, DeactivatedBy};
use serde_json::json;

use crate::server::{Server, record};

fn id(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

#[tokio::test]
async fn put_creates_an_unknown_agent_and_keeps_absent_fields() {
    let server = Server::start().await;
    assert_eq!(server.get("/api/agents/new/kill-switch").await.status, StatusCode::NOT_FOUND);

    let first = server.put("/api/agents/new/kill-switch", json!({"threshold": 7.5})).await.json();
    assert_eq!((&first["threshold"], &first["enabled"]), (&json!(7.5), &json!(false)));
    let second = server.put("/api/agents/new/kill-switch", json!({"enabled": true, "action": "block"})).await.json();
    assert_eq!(
        (&second["threshold"], &second["enabled"], &second["action"]),
        (&json!(7.5), &json!(true), &json!("block"))
    );

    let stored = server.web.store.agent(&id("new")).await.unwrap().unwrap();
    let live = server.web.guard.agent(&id("new")).unwrap();
    assert_eq!(stored.kill_switch, live.kill_switch);
    assert!(stored.kill_switch.enabled);
}

/// Seed: “Store deactivation reason”, “Clear deactivation reason on activate”, “Clear window on
/// activate”.
#[tokio::test]
async fn clear_deactivation_reason_and_window_on_activate() {
    let server = Server::start().await;
    let incident = server.kill("looper").await;
    let agent = server.json("/api/agents/looper").await;
    assert_eq!((&agent["active"], &agent["deactivated_by"]), (&json!(false), &json!("kill_switch")));
    assert_eq!(agent["incident_id"], json!(incident.to_string()));

    let activated = server.patch("/api/agents/looper", json!({"active": true})).await.json();
    assert_eq!((&activated["active"], &activated["deactivated_by"]), (&json!(true), &json!(null)));
    assert_eq!((&activated["incident_id"], &activated["current_score"]), (&json!(null), &json!(0.0)));
    assert_eq!(server.json(&format!("/api/incidents/{incident}")).await["state"], "closed");
    assert_eq!(server.call(&id("looper")).score.value, 0.0, "the window is empty");

    let again = server.patch("/api/agents/looper", json!({"active": true})).await;
    assert_eq!(again.status, StatusCode::OK, "an active agent stays as it is");
    let events = server.json("/api/events?type=agent_activated").await;
    assert_eq!(events["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_activation_waits_for_the_kill_to_be_on_disk() {
    let server = Server::start().await;
    server.put("/api/agents/a/kill-switch", json!({"enabled": true, "threshold": 5, "counting": "literal"})).await;
    let kill = server.loop_until_killed(&id("a"));
    let mut activation = pin!(server.patch("/api/agents/a", json!({"active": true})));
    // The activation is asked for before there is anything on disk to activate.
    tokio::select! {
        biased;
        answer = &mut activation => panic!("{} before the kill is on disk", answer.status),
        () = std::future::ready(()) => {}
    }
    let (incident, event) = record(kill);
    let (answer, is_stored) = tokio::join!(activation, server.web.recorder_handle.kill(incident, event).wait());
    assert!(is_stored);
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert!(server.web.guard.refuses(&id("a")).is_none());
    assert!(server.web.store.agent(&id("a")).await.unwrap().unwrap().deactivation.is_none());
}

#[tokio::test]
async fn an_agent_is_deactivated_by_hand_and_activated_again() {
    let server = Server::start().await;
    // Known in memory only: its first call is not on disk yet.
    server.call(&id("worker"));
    let answer = server.patch("/api/agents/worker", json!({"active": false, "name": "The worker"})).await;
    let agent = answer.json();
    assert_eq!((&agent["active"], &agent["deactivated_by"]), (&json!(false), &json!("manual")), "{agent}");
    assert_eq!(agent["name"], "The worker");
    assert_eq!(server.web.guard.refuses(&id("worker")).unwrap().by, DeactivatedBy::Manual);
    assert!(server.web.store.agent(&id("worker")).await.unwrap().unwrap().deactivation.is_some());

    let active = server.json("/api/agents?state=active").await;
    let inactive = server.json("/api/agents?state=inactive").await;
    assert_eq!((active["items"].as_array().unwrap().len(), inactive["items"].as_array().unwrap().len()), (0, 1));

    let agent = server.patch("/api/agents/worker", json!({"active": true, "name": null})).await.json();
    assert_eq!((&agent["active"], &agent["name"]), (&json!(true), &json!(null)));
}

#[tokio::test]
async fn deactivation_that_was_never_stored_can_be_undone() {
    let server = Server::start().await;
    server.put("/api/agents/a/kill-switch", json!({})).await;
    // As it is after a failure of the disk: inactive in memory, active on disk.
    server.web.guard.deactivate(&id("a"), server.web.clock.now());
    let answer = server.patch("/api/agents/a", json!({"active": true})).await;
    assert_eq!((answer.status, &answer.json()["active"]), (StatusCode::OK, &json!(true)));
}

#[tokio::test]
async fn a_kill_is_not_made_manual_by_a_later_deactivation() {
    let server = Server::start().await;
    server.kill("looper").await;
    let agent = server.patch("/api/agents/looper", json!({"active": false})).await.json();
    assert_eq!(agent["deactivated_by"], "kill_switch");
}

#[tokio::test]
async fn an_agent_is_deleted_with_all_its_data() {
    let server = Server::start().await;
    server.kill("looper").await;
    assert_eq!(server.ask(Method::DELETE, "/api/agents/looper", None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.get("/api/agents/looper").await.status, StatusCode::NOT_FOUND);
    assert!(server.web.guard.agent(&id("looper")).is_none());
    for list in ["/api/incidents", "/api/events"] {
        assert_eq!(server.json(list).await["items"], json!([]), "{list}");
    }
    let again = server.ask(Method::DELETE, "/api/agents/looper", None).await;
    assert_eq!((again.status, &again.json()["detail"]), (StatusCode::NOT_FOUND, &json!("There is no agent looper.")));
    assert_eq!(server.patch("/api/agents/looper", json!({"active": true})).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn change_that_cannot_be_stored_does_not_hold() {
    let server = Server::start().await;
    server.put("/api/agents/a/kill-switch", json!({"threshold": 5.0})).await;
    server.web.recorder.stop().await;
    let answer = server.put("/api/agents/a/kill-switch", json!({"threshold": 6.0})).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(server.web.guard.agent(&id("a")).unwrap().kill_switch.threshold, 5.0, "back to what is stored");

    let answer = server.patch("/api/agents/a", json!({"active": false})).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(server.web.guard.refuses(&id("a")).is_some(), "it is stopped all the same");
}
