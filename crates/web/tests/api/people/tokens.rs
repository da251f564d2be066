//! API tokens.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::server::{Server, request};

#[tokio::test]
async fn token_is_shown_once_and_refused_once_it_is_revoked() {
    let server = Server::start().await;
    let (id, token) = server.api_token("ci", "operator").await;
    assert!(token.starts_with("agz_") && token.len() == 53, "{token}");
    assert_eq!(server.ask_as(&token, Method::GET, "/api/agents", None).await.status, StatusCode::OK);

    let listed = server.json("/api/tokens").await;
    let only = &listed["items"][0];
    assert_eq!(
        (&only["name"], &only["role"], &only["created_by"]),
        (&json!("ci"), &json!("operator"), &json!("first token"))
    );
    assert_eq!(only["last_used_at"], "2024-01-15T10:30:00.000Z");
    assert!(!listed.to_string().contains(&token[..20]), "{listed}");

    let path = format!("/api/tokens/{id}");
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.ask_as(&token, Method::GET, "/api/agents", None).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn one_token_is_read_without_its_text() {
    let server = Server::start().await;
    let body = json!({"name": "ci", "role": "viewer", "expires_at": null});
    let made = server.ask(Method::POST, "/api/tokens", Some(body)).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
    let path = format!("/api/tokens/{}", made.json()["id"].as_str().unwrap());
    let read = server.json(&path).await;
    assert_eq!(read, server.json("/api/tokens").await["items"][0]);
    assert_eq!((&read["name"], &read["expires_at"], &read["token"]), (&json!("ci"), &Value::Null, &Value::Null));
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn token_is_refused_after_its_time() {
    let server = Server::start().await;
    let body = json!({"name": "short", "role": "viewer", "expires_at": "2024-01-15T10:31:00Z"});
    let made = server.ask(Method::POST, "/api/tokens", Some(body)).await.json();
    let token = made["token"].as_str().unwrap();
    assert_eq!(server.ask_as(token, Method::GET, "/api/agents", None).await.status, StatusCode::OK);
    server.web.clock.advance(60_000);
    assert_eq!(server.ask_as(token, Method::GET, "/api/agents", None).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn tokens_outlive_a_restart() {
    let server = Server::start().await;
    let (_, token) = server.api_token("ci", "viewer").await;
    let again = server.restarted().await;
    assert_eq!(again.ask_as(&token, Method::GET, "/api/agents", None).await.status, StatusCode::OK);
}

#[tokio::test]
async fn wrong_field_of_a_token_is_named() {
    let server = Server::start().await;
    for (body, expected) in [
        (json!({"role": "viewer"}), "name must be given"),
        (json!({"name": "x"}), "role must be given"),
        (json!({"name": " ", "role": "viewer"}), "name must have 1 to 100 characters"),
        (json!({"name": "x", "role": "king"}), "role must be one of"),
        (
            json!({"name": "x", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"}),
            "expires_at must be in the future",
        ),
        (json!({"name": "x", "role": "viewer", "expires_at": "soon"}), "expires_at must be a time"),
        (json!({"name": "x", "role": "viewer", "scope": "a"}), "scope is not known here"),
    ] {
        let answer = server.ask(Method::POST, "/api/tokens", Some(body.clone())).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.starts_with(expected), "{body}: {detail}");
    }
}

#[tokio::test]
async fn open_stream_ends_when_its_token_is_revoked() {
    let server = Server::start().await;
    let (id, token) = server.api_token("watcher", "viewer").await;
    let asked = request(Method::GET, "/api/stream").header("authorization", format!("Bearer {token}"));
    let mut stream = server.open(asked.body(Body::empty()).unwrap()).await;
    assert_eq!(stream.status(), StatusCode::OK);
    assert_eq!(server.ask(Method::DELETE, &format!("/api/tokens/{id}"), None).await.status, StatusCode::NO_CONTENT);
    while let Some(frame) = stream.body_mut().frame().await {
        frame.unwrap();
    }
}
