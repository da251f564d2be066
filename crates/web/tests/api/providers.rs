//! Providers are changed at once, and their keys never come back.

use axum::http::{Method, StatusCode};
use model::Provider;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::server::Server;

#[tokio::test]
async fn a_key_is_used_and_never_shown() {
    let server = Server::start().await;
    let answer = server.put("/api/providers/openai", json!({"key": "sk-canary"})).await;
    let expected = json!({"name": "openai", "base_url": "https://api.openai.com", "format": "openai", "has_key": true});
    assert_eq!(answer.json(), expected);
    assert_eq!(server.json("/api/providers/openai").await, expected);

    let used = server.web.providers.get("openai").unwrap();
    assert_eq!(used.key.as_ref().unwrap().expose_secret(), "sk-canary");
    let stored = server.web.store.providers().await.unwrap();
    assert_eq!(stored[0].key.as_ref().unwrap().expose_secret(), "sk-canary");
}

#[tokio::test]
async fn a_key_is_not_sent_to_another_host() {
    let server = Server::start().await;
    server.put("/api/providers/openai", json!({"key": "sk-canary"})).await;
    let moved = server.put("/api/providers/openai", json!({"base_url": "https://evil.test"})).await;
    assert_eq!((moved.status, &moved.json()["field"]), (StatusCode::BAD_REQUEST, &json!("key")));

    let moved = server.put("/api/providers/openai", json!({"base_url": "https://x.test/v1/", "key": "other"})).await;
    assert_eq!(moved.json()["base_url"], "https://x.test/v1");
}

#[tokio::test]
async fn lost_key_counts_as_stored_until_it_is_given_again() {
    let server = Server::start().await;
    let mut provider = Provider::clone(&server.web.providers.get("openai").unwrap());
    provider.key_is_lost = true;
    server.web.providers.put(provider);
    let is_lost = || server.web.providers.get("openai").unwrap().key_is_lost;

    let moved = server.put("/api/providers/openai", json!({"base_url": "https://evil.test"})).await;
    assert_eq!((moved.status, &moved.json()["field"]), (StatusCode::BAD_REQUEST, &json!("key")));
    assert_eq!(server.put("/api/providers/openai", json!({"format": "openai"})).await.json()["has_key"], true);
    assert!(is_lost());
    server.put("/api/providers/openai", json!({"key": "sk-canary"})).await;
    assert!(!is_lost());
}

#[tokio::test]
async fn provider_is_added_and_removed() {
    let server = Server::start().await;
    let body = json!({"base_url": "http://127.0.0.1:8080", "format": "anthropic"});
    assert_eq!(server.put("/api/providers/local", body).await.json()["has_key"], false);
    assert!(server.web.providers.get("local").is_some());
    assert_eq!(server.ask(Method::DELETE, "/api/providers/local", None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.get("/api/providers/local").await.status, StatusCode::NOT_FOUND);
    assert_eq!(server.ask(Method::DELETE, "/api/providers/local", None).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn removing_a_stored_provider_restores_the_built_in_one() {
    let server = Server::start().await;
    server.put("/api/providers/openai", json!({"base_url": "https://x.test", "key": "sk-canary"})).await;
    assert_eq!(server.ask(Method::DELETE, "/api/providers/openai", None).await.status, StatusCode::NO_CONTENT);
    let provider = server.json("/api/providers/openai").await;
    assert_eq!((&provider["base_url"], &provider["has_key"]), (&json!("https://api.openai.com"), &json!(false)));
}
