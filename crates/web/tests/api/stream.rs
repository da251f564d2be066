//! The event stream.

use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use http_body_util::BodyExt;
use model::{AgentId, CallId, Epoch, Event, EventType};
use serde_json::{Value, json};

use crate::server::{Server, TOKEN, request};

/// A client of the stream.
struct Watcher {
    body: Body,
    text: String,
}

impl Watcher {
    async fn start(server: &Server) -> Watcher {
        let asked = request(Method::GET, "/api/stream").header("authorization", format!("Bearer {TOKEN}"));
        let response = server.open(asked.body(Body::empty()).unwrap()).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Watcher { body: response.into_body(), text: String::new() }
    }

    /// Waits for an event of this name and returns its data.
    async fn wait_for(&mut self, name: &str) -> Value {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if event.lines().any(|line| line == format!("event: {name}")) {
                    let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
                    return serde_json::from_str(data).unwrap();
                }
                continue;
            }
            let frame = self.body.frame().await.expect("the stream goes on").unwrap();
            self.text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }
}

#[tokio::test]
async fn kill_is_streamed_with_its_score_and_incident() {
    let server = Server::start().await;
    let mut watcher = Watcher::start(&server).await;
    let incident = server.kill("looper").await;

    let configured = watcher.wait_for("configured").await;
    assert_eq!((&configured["agent_id"], &configured["kill_switch"]["threshold"]), (&json!("looper"), &json!(5.0)));
    let kill = watcher.wait_for("kill").await;
    assert_eq!((&kill["agent_id"], &kill["score"]), (&json!("looper"), &json!(7.0)));
    assert_eq!(kill["details"]["incident_id"], json!(incident.to_string()));
}

#[tokio::test]
async fn deactivation_and_activation_are_streamed() {
    let server = Server::start().await;
    server.put("/api/agents/a/kill-switch", json!({})).await;
    let mut watcher = Watcher::start(&server).await;
    server.patch("/api/agents/a", json!({"active": false})).await;
    assert_eq!(watcher.wait_for("deactivated").await["agent_id"], "a");
    server.patch("/api/agents/a", json!({"active": true})).await;
    assert_eq!(watcher.wait_for("activated").await["agent_id"], "a");
}

#[tokio::test]
async fn stream_ends_when_the_server_stops() {
    let server = Server::start().await;
    let watcher = Watcher::start(&server).await;
    server.web.draining.store(true, Ordering::Relaxed);
    watcher.body.collect().await.unwrap();
}

#[tokio::test]
async fn watchers_learn_of_calls_that_were_too_many_to_send() {
    let server = Server::start().await;
    let mut watcher = Watcher::start(&server).await;
    let mut notices = server.web.recorder.subscribe();
    // More than a batch holds, in portions that fit into the recorder's inbox.
    for _ in 0..15 {
        for _ in 0..100 {
            server.web.recorder_handle.event(call(&server));
        }
        for _ in 0..100 {
            notices.recv().await.unwrap();
        }
    }
    assert!(watcher.wait_for("lagged").await["missed"].as_u64().unwrap() > 0);
    server.web.recorder_handle.event(call(&server));
    assert_eq!(watcher.wait_for("call").await["agent_id"], "busy", "and it goes on");
}

#[tokio::test]
async fn all_watchers_get_the_same_text() {
    let server = Server::start().await;
    let mut watchers = vec![Watcher::start(&server).await, Watcher::start(&server).await];
    server.web.recorder_handle.event(call(&server));
    let first = watchers[0].wait_for("call").await;
    assert_eq!(watchers[1].wait_for("call").await, first);

    // When all have left, the next one is served like the first.
    watchers.clear();
    let mut watcher = Watcher::start(&server).await;
    server.web.recorder_handle.event(call(&server));
    assert_ne!(watcher.wait_for("call").await["id"], first["id"]);
}

#[tokio::test]
async fn number_of_watchers_is_bounded() {
    let server = Server::start().await;
    let mut watchers = Vec::new();
    for _ in 0..200 {
        watchers.push(Watcher::start(&server).await);
    }
    let refused = server.get("/api/stream").await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.header("content-type"), "application/problem+json");
    assert!(refused.text.contains("200 clients watch already"), "{}", refused.text);

    watchers.pop();
    watchers.push(Watcher::start(&server).await);
    server.web.recorder_handle.event(call(&server));
    assert_eq!(watchers[199].wait_for("call").await["agent_id"], "busy");
}

fn call(server: &Server) -> Event {
    let agent = AgentId::parse("busy").unwrap();
    Event::new(CallId::new(), agent, Epoch::default(), EventType::LlmCall, server.web.clock.now())
}
