//! An open page gets only the differences to what it has.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::json;

use super::Browser;
use crate::server::{Answer, Server, request};

async fn ask_again(browser: &Browser<'_>, path: &str, version: &str) -> Answer {
    let asked = request(Method::GET, path).header("cookie", &browser.cookie).header("x-agentgazer-page", version);
    browser.server.send(asked.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn open_page_is_sent_only_what_differs() {
    let server = Server::start().await;
    for number in 0..40 {
        server.put(&format!("/api/agents/agent-{number:02}/kill-switch"), json!({})).await;
    }
    let browser = Browser::new(&server).await;
    let whole = ask_again(&browser, "/agents", "none").await;
    assert_eq!((whole.status, whole.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"));
    assert!(whole.text.len() > 20_000, "{}", whole.text.len());

    server.web.clock.advance(60_000);
    let same = ask_again(&browser, "/agents", whole.header("x-agentgazer-page")).await;
    assert_eq!((same.status, same.text.len()), (StatusCode::NO_CONTENT, 0), "only time went by");

    server.put("/api/agents/agent-07/kill-switch", json!({"enabled": true})).await;
    let changed = ask_again(&browser, "/agents", whole.header("x-agentgazer-page")).await;
    assert_eq!((changed.status, changed.header("content-type")), (StatusCode::OK, "application/json"));
    assert!(changed.text.len() < 1_000 && changed.text.contains(">on<"), "{}", changed.text);
    assert_ne!(changed.header("x-agentgazer-page"), whole.header("x-agentgazer-page"));

    // Without the header, and for an error, the answer is a whole page.
    assert!(browser.get("/agents").await.text.starts_with("<!doctype html>"));
    assert_eq!(ask_again(&browser, "/agents/nobody", "none").await.status, StatusCode::NOT_FOUND);
}
