//! Users and their sessions.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::json;

use super::{PASSWORD, log_in};
use crate::pages::Browser;
use crate::server::{Server, form, request};

#[tokio::test]
async fn user_logs_in_with_name_and_password() {
    let server = Server::start().await;
    let login = server.send(request(Method::GET, "/login").body(Body::empty()).unwrap()).await;
    assert!(!login.text.contains("name=\"password\""), "without users there is only the token");
    server.user("Ann", "operator").await;
    let login = server.send(request(Method::GET, "/login").body(Body::empty()).unwrap()).await;
    assert!(login.text.contains("name=\"password\"") && login.text.contains("name=\"token\""));

    let browser = log_in(&server, "ann").await;
    assert_eq!(browser.get("/agents").await.status, StatusCode::OK);
    assert_eq!(browser.get("/settings/people").await.status, StatusCode::FORBIDDEN);
    let users = server.json("/api/users").await;
    let ann = &users["items"][0];
    assert_eq!((&ann["name"], &ann["role"]), (&json!("Ann"), &json!("operator")));
    assert_eq!(ann["last_login_at"], "2024-01-15T10:30:00.000Z");
    assert!(!users.to_string().contains("argon2"), "{users}");
}

#[tokio::test]
async fn wrong_password_and_unknown_name_are_refused_alike() {
    let server = Server::start().await;
    server.user("ann", "viewer").await;
    let refused = async |fields: &str| {
        let answer = server.send(form("/login", fields)).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{fields}");
        assert!(answer.header("set-cookie").is_empty());
        answer.text.replace("value=\"ann\"", "").replace("value=\"ben\"", "")
    };
    let wrong = refused("name=ann&password=wrong-password-1").await;
    assert_eq!(wrong, refused("name=ben&password=wrong-password-1").await);
    assert!(wrong.contains("The name or the password is wrong."));
    refused("name=ann&password=").await;
    refused(&format!("name=ann&token=&password={}", PASSWORD.to_uppercase())).await;
}

#[tokio::test]
async fn passwords_are_limited_by_address_and_the_token_is_not() {
    let server = Server::start().await;
    server.user("ann", "viewer").await;
    let guess = async |address: &str, password: &str| {
        let mut request = form("/login", &format!("name=ann&password={password}"));
        request.extensions_mut().insert(web::Client::new(address.parse().unwrap()));
        server.send(request).await
    };
    for _ in 0..10 {
        assert_eq!(guess("192.0.2.1", "wrong").await.status, StatusCode::UNAUTHORIZED);
    }
    let limited = guess("192.0.2.1", PASSWORD).await;
    assert_eq!(limited.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!limited.header("retry-after").is_empty());
    assert_eq!(guess("192.0.2.2", PASSWORD).await.status, StatusCode::SEE_OTHER, "another address");
    server.log_in().await;
}

#[tokio::test]
async fn session_is_not_the_one_that_the_browser_brought() {
    let server = Server::start().await;
    server.user("ann", "viewer").await;
    let planted = "agentgazer_session=".to_owned() + &"a".repeat(64);
    let mut login = form("/login", &format!("name=ann&password={PASSWORD}"));
    login.headers_mut().insert("cookie", planted.parse().unwrap());
    login.headers_mut().insert("origin", "http://127.0.0.1:18880".parse().unwrap());
    let answer = server.send(login).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert!(!answer.header("set-cookie").contains(&planted));
    let planted = Browser { server: &server, cookie: planted };
    assert_eq!(planted.get("/agents").await.status, StatusCode::SEE_OTHER, "it opens nothing");

    // Logging in again ends the session that the browser had.
    let before = log_in(&server, "ann").await;
    let mut again = form("/login", &format!("name=ann&password={PASSWORD}"));
    again.headers_mut().insert("cookie", before.cookie.parse().unwrap());
    again.headers_mut().insert("origin", "http://127.0.0.1:18880".parse().unwrap());
    assert_eq!(server.send(again).await.status, StatusCode::SEE_OTHER);
    assert_eq!(before.get("/agents").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn another_role_or_password_ends_sessions_and_a_name_does_not() {
    let server = Server::start().await;
    let id = server.user("ann", "operator").await;
    let path = format!("/api/users/{id}");
    for (change, ends) in [
        (json!({"name": "anna"}), false),
        (json!({"name": "ann"}), false),
        (json!({"role": "viewer"}), true),
        (json!({"password": PASSWORD}), true),
    ] {
        let browser = log_in(&server, "ann").await;
        assert_eq!(server.patch(&path, change.clone()).await.status, StatusCode::OK, "{change}");
        let status = browser.get("/agents").await.status;
        assert_eq!(status == StatusCode::SEE_OTHER, ends, "{change}: {status}");
        server.patch(&path, json!({"name": "ann"})).await;
    }
    let browser = log_in(&server, "ann").await;
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(browser.get("/agents").await.status, StatusCode::SEE_OTHER);
    let answer = server.send(form("/login", &format!("name=ann&password={PASSWORD}&token="))).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn wrong_field_of_a_user_is_named() {
    let server = Server::start().await;
    server.user("ann", "viewer").await;
    for (body, expected) in [
        (json!({"name": "ANN", "role": "viewer", "password": PASSWORD}), "name is taken"),
        (json!({"name": "ben", "role": "viewer", "password": "short"}), "password must have 12 to 200"),
        (json!({"name": "ben", "role": "viewer", "password": "aaaaaaaaaaaaaaaa"}), "password must not be"),
        (json!({"name": "ben", "role": "viewer"}), "password must be given"),
        (json!({"name": "ben", "role": "root", "password": PASSWORD}), "role must be one of"),
    ] {
        let answer = server.ask(Method::POST, "/api/users", Some(body.clone())).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.starts_with(expected) && !detail.contains(PASSWORD), "{body}: {detail}");
    }
    let missing = server.patch("/api/users/none", json!({"role": "viewer"})).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    let server = Server::start().await;
    server.user("ann", "viewer").await;
    let (ann, operator) = (log_in(&server, "ann").await, Browser::new(&server).await);
    let listed = operator.get("/api/sessions").await.json();
    let items = listed["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    let of_ann = items.iter().find(|session| session["name"] == "ann").unwrap();
    assert_eq!((&of_ann["kind"], &of_ann["is_current"]), (&json!("user"), &json!(false)));
    assert_eq!(items.iter().filter(|session| session["is_current"] == true).count(), 1);
    let cookie = ann.cookie.split('=').nth(1).unwrap();
    assert!(!listed.to_string().contains(&cookie[..16]), "the handle is no part of the id");

    let id = of_ann["id"].as_str().unwrap();
    operator.submit(&format!("/settings/people/sessions/{id}/end"), "", "/settings/people?done=session-ended").await;
    assert_eq!(ann.get("/agents").await.status, StatusCode::SEE_OTHER);
    assert_eq!(operator.get("/agents").await.status, StatusCode::OK);
    let gone = server.ask(Method::DELETE, &format!("/api/sessions/{id}"), None).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn page_adds_users_and_tokens_and_says_what_is_wrong() {
    let server = Server::start().await;
    let admin = Browser::new(&server).await;
    let users = "/settings/people/users";
    let short = admin.post(users, "name=ann&role=viewer&password=short").await;
    assert_eq!(short.status, StatusCode::BAD_REQUEST);
    assert!(short.text.contains("must have 12 to 200 characters") && short.text.contains("value=\"ann\""));
    admin.submit(users, &format!("name=ann&role=viewer&password={PASSWORD}"), "/settings/people?done=user-added").await;
    let made = admin.post("/settings/people/tokens", "name=ci&role=viewer&until=2030-01-01").await;
    assert!(made.status == StatusCode::OK && made.text.contains("agz_"), "{}", made.text);
    let page = admin.page("/settings/people").await;
    assert!(page.contains("ann") && page.contains("2030-01-02") && !page.contains("id=\"new-token\""), "{page}");
}

#[tokio::test]
async fn user_changes_the_own_password_and_other_sessions_end() {
    let server = Server::start().await;
    server.user("ann", "viewer").await;
    let (browser, other) = (log_in(&server, "ann").await, log_in(&server, "ann").await);
    assert!(browser.page("/settings/password").await.contains("New password"));
    let wrong = browser.post("/settings/password", "current=wrong-password-1&password=another-password-2").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    let short = browser.post("/settings/password", &format!("current={PASSWORD}&password=short")).await;
    assert!(short.text.contains("12 to 200 characters"), "{}", short.text);
    assert_eq!(other.get("/agents").await.status, StatusCode::OK, "nothing was changed");

    let changed = browser.post("/settings/password", &format!("current={PASSWORD}&password=another-password-2")).await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.text);
    assert!(changed.header("set-cookie").starts_with("agentgazer_session="), "this browser goes on");
    assert_eq!(other.get("/agents").await.status, StatusCode::SEE_OTHER, "the others have to log in again");
    let refused = server.send(form("/login", &format!("name=ann&password={PASSWORD}"))).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    let by_token = json!({"current": PASSWORD, "password": "another-password-3"});
    let conflict = server.ask_as(crate::server::TOKEN, Method::POST, "/api/password", Some(by_token)).await;
    assert_eq!(conflict.status, StatusCode::CONFLICT, "the first token has no password");
}

#[tokio::test]
async fn failed_logins_stand_in_the_audit_log_without_what_was_typed() {
    let server = Server::start().await;
    server.user("ann", "viewer").await;
    for fields in ["name=ann&password=canary-password-1", "name=canary-name&password=x", "token=canary-token"] {
        server.send(form("/login", fields)).await;
    }
    for _ in 0..3 {
        server.send(form("/login", "name=ann&password=canary-password-2")).await;
    }
    let log = server.json("/api/audit?action=session.refuse").await;
    let rows = log["items"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "those of the same kind follow as one row: {log}");
    assert!(!log.to_string().contains("canary"), "{log}");
    let ann = rows.iter().find(|row| row["target"].is_string()).unwrap();
    assert!(ann["target"].as_str().unwrap().starts_with("user:"));
    assert_eq!(ann["actor"]["kind"], "anonymous");
    assert_eq!(ann["after"], json!({"how": "password", "why": "wrong", "attempts": 1}));
}
