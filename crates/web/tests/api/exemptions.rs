//! What does not count for an agent: offered by an incident, made, listed, revoked.

use axum::http::{Method, StatusCode};
use guard::Verdict;
use model::{AgentId, Answered};
use serde_json::{Value, json};

use crate::server::{PROMPT, Server};

/// A day after the moment at which tests happen.
const TOMORROW: &str = "2024-01-16T10:30:00.000Z";

fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

/// Whether the agent is stopped before it has asked the same so often.
fn is_stopped(server: &Server, name: &str, times: usize) -> bool {
    (0..times).any(|_| {
        let scored = server.call(&agent(name));
        let answered = Answered { text: "I cannot do that".into(), tool_calls: vec![] };
        server.web.guard.on_answer(&scored.ticket, &answered, server.web.clock.now());
        matches!(scored.verdict, Verdict::Kill(_))
    })
}

async fn exempt(server: &Server, incident: &str, until: &str) -> Value {
    let body = json!({"incident_id": incident, "what": "prompt", "until": until});
    let answer = server.ask(Method::POST, "/api/agents/looper/exemptions", Some(body)).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    answer.json()
}

#[tokio::test]
async fn exemption_holds_until_its_time_or_until_it_is_revoked() {
    let server = Server::start().await;
    let incident = server.kill("looper").await.to_string();
    let offers = server.json(&format!("/api/incidents/{incident}/exemptions")).await;
    let offer = json!({"what": "prompt", "text": PROMPT, "score": 0.0, "would_have_passed": true, "covered_calls": 0,
        "of_calls": 0});
    assert_eq!(offers["items"], json!([offer]), "no tool calls were made, and no call is on record here");

    let made = exempt(&server, &incident, TOMORROW).await;
    let id = made["id"].as_str().unwrap();
    let expected = json!({"id": id, "agent_id": "looper", "what": "prompt", "text": PROMPT, "incident_id": incident,
        "created_at": "2024-01-15T10:30:00.000Z", "until": TOMORROW});
    assert_eq!(made, expected);
    assert_eq!(server.json("/api/agents/looper/exemptions").await["items"], json!([expected]));
    assert_eq!(server.json("/api/agents/looper").await["active"], false, "that is for a person to decide");

    server.patch("/api/agents/looper", json!({"active": true})).await;
    assert!(!is_stopped(&server, "looper", 20));
    let path = format!("/api/agents/looper/exemptions/{id}");
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NOT_FOUND);
    assert_eq!(server.json("/api/agents/looper/exemptions").await["items"], json!([]));
    assert!(is_stopped(&server, "looper", 1), "it counts again with the next call");
}

#[tokio::test]
async fn exemption_expires() {
    let server = Server::start().await;
    let incident = server.kill("looper").await.to_string();
    exempt(&server, &incident, TOMORROW).await;
    server.patch("/api/agents/looper", json!({"active": true})).await;
    assert!(!is_stopped(&server, "looper", 20));
    server.web.clock.advance(24 * 60 * 60 * 1000);
    assert_eq!(server.json("/api/agents/looper/exemptions").await["items"], json!([]));
    assert!(is_stopped(&server, "looper", 1));
}

#[tokio::test]
async fn invalid_exemption_names_its_field_and_changes_nothing() {
    let server = Server::start().await;
    let incident = server.kill("looper").await.to_string();
    let other = server.kill("other").await.to_string();
    let nobody = "01a1e113-cde6-7655-bec5-72125b2b0e22";
    for (body, status, field) in [
        (json!({"incident_id": incident, "what": "prompt", "until": "2024-01-15T10:30:00Z"}), 400, "until"),
        (json!({"incident_id": incident, "what": "prompt", "until": "2025-06-01T00:00:00Z"}), 400, "until"),
        (json!({"incident_id": incident, "what": "prompt", "until": "tomorrow"}), 400, "until"),
        (json!({"incident_id": incident, "what": "prompt"}), 400, "until"),
        (json!({"incident_id": incident, "what": "tool_call", "until": TOMORROW}), 400, "what"),
        (json!({"incident_id": incident, "what": "everything", "until": TOMORROW}), 400, "what"),
        (json!({"incident_id": other, "what": "prompt", "until": TOMORROW}), 400, "incident_id"),
        (json!({"incident_id": nobody, "what": "prompt", "until": TOMORROW}), 404, ""),
        (json!({"incident_id": incident, "what": "prompt", "until": TOMORROW, "for": "all"}), 400, "for"),
    ] {
        let answer = server.ask(Method::POST, "/api/agents/looper/exemptions", Some(body.clone())).await;
        assert_eq!(answer.status.as_u16(), status, "{body}: {}", answer.text);
        assert_eq!(answer.json()["field"].as_str().unwrap_or_default(), field, "{body}: {}", answer.text);
    }
    assert_eq!(server.json("/api/agents/looper/exemptions").await["items"], json!([]));
    assert_eq!(server.get("/api/agents/nobody/exemptions").await.status, StatusCode::NOT_FOUND);
    assert_eq!(server.get("/api/incidents/none/exemptions").await.status, StatusCode::NOT_FOUND);
    let odd = server.ask(Method::DELETE, "/api/agents/looper/exemptions/none", None).await;
    assert_eq!(odd.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn activation_records_where_it_came_from() {
    let server = Server::start().await;
    let by = async |name: &str, headers: &[(&str, &str)]| {
        let id = server.kill(name).await;
        let mut request = crate::server::request(Method::PATCH, &format!("/api/agents/{name}"));
        for (header, value) in headers {
            request = request.header(*header, *value);
        }
        let request = request.header("content-type", "application/json").body(r#"{"active":true}"#.into()).unwrap();
        let answer = server.send(request).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        server.json(&format!("/api/incidents/{id}")).await["closed_by"].clone()
    };
    let token = format!("Bearer {}", crate::server::TOKEN);
    let cookie = server.log_in().await;
    assert_eq!(by("one", &[("authorization", &token)]).await, "api");
    assert_eq!(by("two", &[("authorization", &token), ("user-agent", "agentgazer/0.1.0")]).await, "command_line");
    let session =
        [("cookie", cookie.as_str()), ("origin", "http://127.0.0.1:18880"), ("user-agent", "agentgazer/0.1.0")];
    assert_eq!(by("three", &session).await, "dashboard");
}
