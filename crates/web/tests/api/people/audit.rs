//! The audit log.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{PASSWORD, log_in};
use crate::pages::Browser;
use crate::server::{Server, TOKEN};

async fn rows(server: &Server, query: &str) -> Vec<Value> {
    server.json(&format!("/api/audit?limit=500{query}")).await["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn log_says_who_did_what_and_why() {
    let server = Server::start().await;
    server.kill("looper").await;
    server.user("ann", "operator").await;
    let ann = log_in(&server, "ann").await;
    ann.submit("/agents/looper/activate", "reason=+the+import+is+fixed+", "/agents/looper?done=activated").await;
    let (_, token) = server.api_token("ci", "operator").await;
    let body = json!({"active": false, "reason": "maintenance"});
    assert_eq!(server.ask_as(&token, Method::PATCH, "/api/agents/looper", Some(body)).await.status, StatusCode::OK);

    let rows = rows(&server, "").await;
    let find = |action: &str| rows.iter().find(|row| row["action"] == action).unwrap_or_else(|| panic!("no {action}"));
    let activated = find("agent.activate");
    assert_eq!(activated["actor"]["kind"], "user");
    assert_eq!((&activated["actor"]["name"], &activated["actor"]["role"]), (&json!("ann"), &json!("operator")));
    assert_eq!(
        (&activated["actor"]["address"], &activated["actor"]["via"]),
        (&json!("127.0.0.1"), &json!("dashboard"))
    );
    assert_eq!((&activated["target"], &activated["reason"]), (&json!("agent:looper"), &json!("the import is fixed")));
    assert_eq!((&activated["before"], &activated["after"]), (&json!({"active": false}), &json!({"active": true})));
    let stopped = find("agent.deactivate");
    assert_eq!((&stopped["actor"]["kind"], &stopped["actor"]["name"]), (&json!("token"), &json!("ci")));
    assert_eq!(stopped["reason"], "maintenance");
    assert_eq!(find("user.create")["after"], json!({"name": "ann", "role": "operator", "password": "new"}));
    assert_eq!(find("session.open")["actor"]["name"], "ann");
    let sessions = server.json("/api/sessions").await;
    let of_ann = sessions["items"].as_array().unwrap().iter().find(|session| session["name"] == "ann").unwrap();
    assert_eq!(find("session.open")["target"], format!("session:{}", of_ann["id"].as_str().unwrap()));
    let numbers: Vec<_> = rows.iter().rev().map(|row| row["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=rows.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn log_is_filtered_and_paged() {
    let server = Server::start().await;
    for name in ["a", "b", "c"] {
        server.put(&format!("/api/agents/{name}/kill-switch"), json!({"enabled": true})).await;
    }
    server.patch("/api/agents/b", json!({"active": false})).await;
    assert_eq!(rows(&server, "&action=agent.kill").await.len(), 3);
    assert_eq!(rows(&server, "&target=agent:b").await.len(), 2);
    assert_eq!(rows(&server, "&actor=FIRST").await.len(), 4);
    assert_eq!(rows(&server, "&actor=nobody").await.len(), 0);
    assert_eq!(rows(&server, "&to=2024-01-15T10:30:00Z").await.len(), 0);
    let first = server.json("/api/audit?limit=3").await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = server.json(&format!("/api/audit?limit=3&cursor={cursor}")).await;
    assert_eq!((second["items"].as_array().unwrap().len(), &second["next_cursor"]), (1, &Value::Null));
    assert_eq!(server.get("/api/audit?cursor=eA").await.status, StatusCode::BAD_REQUEST);

    let browser = Browser::new(&server).await;
    let page = browser.page("/settings/audit?action=agent.deactivate").await;
    assert!(page.contains("Deactivated") && page.contains("agent b") && !page.contains("agent a<"), "{page}");

    server.put("/api/groups/live", json!({"labels": ["production"]})).await;
    server.put("/api/agents/a/labels", json!({"labels": ["production"]})).await;
    server.ask_as(TOKEN, Method::POST, "/api/groups/live/stop", Some(json!({"reason": "a bill"}))).await;
    let page = browser.page("/settings/audit").await;
    assert!(page.contains("Changed the labels") && page.contains("Stopped the group"), "{page}");
    assert!(!page.contains("stopped_at") && !page.contains("agent.labels"), "{page}");
}

#[tokio::test]
async fn change_that_is_refused_leaves_no_row() {
    let server = Server::start().await;
    server.patch("/api/agents/nobody", json!({"active": false})).await;
    server.put("/api/agents/a/kill-switch", json!({"window_size": 1})).await;
    let long = json!({"active": false, "reason": "x".repeat(501)});
    server.put("/api/agents/a/kill-switch", json!({})).await;
    assert_eq!(server.patch("/api/agents/a", long).await.json()["field"], "reason");
    assert_eq!(rows(&server, "").await.len(), 1);
}

/// Searches the audit log and all files for every secret that a person can enter.
#[tokio::test]
async fn no_secret_is_in_the_log_or_in_a_file() {
    let server = Server::start().await;
    let key = "sk-canary-provider-key-1234";
    let hook = "canary-hook-path-5678";
    server.put("/api/providers/openai", json!({"key": key})).await;
    let channel = json!({"kind": "webhook", "name": "ops", "url": format!("https://93.184.215.14/{hook}")});
    let made = server.ask(Method::POST, "/api/channels", Some(channel)).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
    let webhook_secret = made.json()["secret"].as_str().unwrap().to_owned();
    let id = server.user("ann", "operator").await;
    server.patch(&format!("/api/users/{id}"), json!({"password": "canary-second-password"})).await;
    server.patch(&format!("/api/users/{id}"), json!({"password": PASSWORD})).await;
    let (_, token) = server.api_token("ci", "admin").await;
    let cookie = log_in(&server, "ann").await.cookie;
    let session = cookie.split('=').nth(1).unwrap().to_owned();
    server.ask_as(&token, Method::GET, "/api/agents", None).await;

    let log = server.json("/api/audit?limit=500").await.to_string();
    let secrets = [key, hook, &webhook_secret, PASSWORD, "canary-second-password", &token, &session, TOKEN];
    for secret in secrets {
        assert!(!log.contains(secret), "{secret}");
        for (name, content) in server.files() {
            let found = content.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {name}");
        }
    }
    assert!(log.contains("provider.change") && log.contains("\"key\":\"new\""), "{log}");
}

#[tokio::test]
async fn page_names_users_and_channels() {
    let server = Server::start().await;
    server.user("ann", "operator").await;
    let body = json!({"kind": "webhook", "name": "night shift", "url": "https://example.com/hook"});
    let made = server.ask(Method::POST, "/api/channels", Some(body)).await.json();
    let change =
        server.patch(&format!("/api/channels/{}", made["id"].as_str().unwrap()), json!({"enabled": false})).await;
    assert_eq!(change.status, StatusCode::OK, "{}", change.text);
    let browser = Browser::new(&server).await;
    browser.post("/login", "name=ann&password=a+guess").await;
    let page = browser.page("/settings/audit?action=channel.").await;
    assert_eq!(page.matches("<bdi>channel night shift</bdi>").count(), 2, "{page}");
    let page = browser.page("/settings/audit?action=session.refuse").await;
    assert!(page.contains("user ann"), "{page}");
}
