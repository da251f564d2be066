//! The shapes of answers.

use axum::http::{Method, StatusCode};
use guard::Verdict;
use model::{AgentId, Answered, CallId, Epoch, Event, EventType, NanoUsd, Usage};
use serde_json::{Value, json};
use store::Notice;

use crate::server::{Server, record};

/// The answer with every id replaced: they are random.
fn without_ids(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) if uuid::Uuid::parse_str(text).is_ok() => *text = "[id]".to_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_ids(item.take())),
        Value::Object(fields) => fields.values_mut().for_each(|field| *field = without_ids(field.take())),
        _ => {}
    }
    value
}

#[tokio::test]
async fn incident_and_evidence_shape() {
    let server = Server::start().await;
    let id = server.kill("import-fixer").await;
    for (name, path) in [
        ("agent", "/api/agents/import-fixer".to_owned()),
        ("agents", "/api/agents".to_owned()),
        ("kill_switch", "/api/agents/import-fixer/kill-switch".to_owned()),
        ("incident", format!("/api/incidents/{id}")),
        ("incidents", "/api/incidents".to_owned()),
        ("evidence", format!("/api/incidents/{id}/evidence")),
        ("kill_events", "/api/events?type=kill_switch".to_owned()),
        ("providers", "/api/providers".to_owned()),
    ] {
        insta::assert_json_snapshot!(name, without_ids(server.json(&path).await));
    }
}

#[tokio::test]
async fn event_shape() {
    let server = Server::start().await;
    let mut notices = server.web.recorder.subscribe();
    let agent = AgentId::parse("reader").unwrap();
    let mut event = Event::new(CallId::new(), agent, Epoch::default(), EventType::LlmCall, server.web.clock.now());
    event.provider = Some("openai".into());
    event.model = Some("gpt-4o".into());
    event.status = Some(200);
    event.latency_ms = Some(1_200);
    event.first_byte_ms = Some(300);
    event.streamed = true;
    event.usage = Usage { input: Some(1_000), output: Some(50), cached: Some(900), ..Usage::default() };
    let id = event.id;
    server.web.recorder_handle.event(event);
    while !matches!(notices.recv().await.unwrap(), Notice::Event(written) if written.id == id) {}

    insta::assert_json_snapshot!("call", without_ids(server.json(&format!("/api/events/{id}")).await));
    for (query, found) in [
        ("agent=reader", 1),
        ("agent=other", 0),
        ("type=llm_call&provider=openai&model=gpt-4o&status=200&blocked=false", 1),
        ("blocked=true", 0),
        ("from=2024-01-15T10:30:00Z", 1),
        ("to=2024-01-15T10:30:00Z", 0),
    ] {
        let list = server.json(&format!("/api/events?{query}")).await;
        assert_eq!(list["items"].as_array().unwrap().len(), found, "{query}");
    }
}

#[tokio::test]
async fn lists_come_in_pages() {
    let server = Server::start().await;
    for name in ["a", "b", "c"] {
        server.put(&format!("/api/agents/{name}/kill-switch"), json!({})).await;
    }
    let mut seen = Vec::new();
    let mut path = "/api/agents?limit=2".to_owned();
    loop {
        let page = server.json(&path).await;
        seen.extend(
            page["items"].as_array().unwrap().iter().map(|agent| agent["agent_id"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/agents?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ["a", "b", "c"]);
    let found = server.json("/api/agents?search=b").await;
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn feedback_is_kept_and_an_incident_can_be_deleted() {
    let server = Server::start().await;
    let id = server.kill("looper").await;
    let path = format!("/api/incidents/{id}");
    for word in ["loop", "false_alarm"] {
        let answer = server.ask(Method::POST, &format!("{path}/feedback"), Some(json!({"feedback": word}))).await;
        assert_eq!((answer.status, &answer.json()["feedback"]), (StatusCode::OK, &json!(word)));
    }
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NO_CONTENT);
    for (method, path) in
        [(Method::GET, path.clone()), (Method::DELETE, path.clone()), (Method::GET, path + "/evidence")]
    {
        assert_eq!(server.ask(method, &path, None).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let agent = server.json("/api/agents/looper").await;
    assert_eq!((&agent["active"], &agent["incident_id"]), (&json!(false), &json!(null)), "it stays stopped");
}

#[tokio::test]
async fn incident_has_loop_cost_and_pace() {
    let server = Server::start().await;
    server.put("/api/agents/looper/kill-switch", json!({"enabled": true, "threshold": 5.0})).await;
    let agent = AgentId::parse("looper").unwrap();
    let kill = loop {
        let scored = server.call(&agent);
        let now = server.web.clock.now();
        if let Verdict::Kill(kill) = scored.verdict {
            break kill;
        }
        server.web.guard.on_answer(&scored.ticket, &Answered { text: "I cannot".into(), tool_calls: vec![] }, now);
        let mut event = Event::new(scored.ticket.call, agent.clone(), Epoch::default(), EventType::LlmCall, now);
        event.cost = NanoUsd::from_usd(0.25);
        server.web.recorder_handle.event(event);
        server.web.clock.advance(10_000);
    };
    let (incident, event) = record(kill);
    let id = incident.kill.incident;
    assert!(server.web.recorder_handle.kill(incident, event).wait().await);
    let incident = server.json(&format!("/api/incidents/{id}")).await;
    assert_eq!((&incident["stuck_calls"], &incident["cycle"]), (&json!(4), &json!({"period": 1, "laps": 4})));
    let costs = (&incident["loop_cost_usd"], &incident["loop_cost_per_hour_usd"]);
    assert_eq!(costs, (&json!(0.75), &json!(90.0)), "three calls were paid for in half a minute");
}
