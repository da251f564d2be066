//! What each role may do on each route and in each form.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::log_in;
use crate::pages::Browser;
use crate::server::{PROMPT, Server, TOKEN, request};

const ROLES: [&str; 3] = ["viewer", "operator", "admin"];

fn rank(role: &str) -> usize {
    ROLES.iter().position(|known| *known == role).unwrap()
}

/// Every operation of the description with the role that it states.
fn stated_roles() -> Vec<(Method, String, Option<String>)> {
    let description: Value = serde_json::from_str(&web::openapi_json()).unwrap();
    let mut stated = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            stated.push((method, path.clone(), operation["x-role"].as_str().map(str::to_owned)));
        }
    }
    stated
}

#[test]
fn every_operation_states_the_role_it_needs() {
    let line = |(method, path, role): (Method, String, Option<String>)| {
        format!("{path} {method}: {}", role.as_deref().unwrap_or("nobody in particular"))
    };
    let mut lines: Vec<String> = stated_roles().into_iter().map(line).collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn each_role_gets_only_where_the_description_says() {
    // One of the operations replaces the token, if it can.
    let server = Server::with_token(control::Token::configured(TOKEN)).await;
    let mut tokens = Vec::new();
    for role in ROLES {
        tokens.push((role, server.api_token(role, role).await.1));
    }
    for (method, path, needed) in stated_roles() {
        let path = path.replace("{id}", "none").replace("{name}", "openai");
        for (role, token) in &tokens {
            let asked = request(method.clone(), &path).header("authorization", format!("Bearer {token}"));
            let response = server.open(asked.body(Body::empty()).unwrap()).await;
            let may = needed.as_ref().is_none_or(|needed| rank(role) >= rank(needed));
            let refused = response.status() == StatusCode::FORBIDDEN;
            assert_eq!(refused, !may, "{role} {method} {path}: {}", response.status());
            assert_ne!(response.status(), StatusCode::UNAUTHORIZED, "{role} {method} {path}");
        }
        let nobody = server.open(request(method.clone(), &path).body(Body::empty()).unwrap()).await;
        assert_eq!(nobody.status() == StatusCode::UNAUTHORIZED, needed.is_some(), "{method} {path}");
    }
}

#[tokio::test]
async fn refusal_names_the_role_that_is_needed() {
    let server = Server::start().await;
    let (_, token) = server.api_token("reader", "viewer").await;
    let body = json!({"kill_switch": {"enabled": true}});
    let refused = server.ask_as(&token, Method::PUT, "/api/settings", Some(body)).await;
    let problem = refused.json();
    assert_eq!((refused.status, &problem["code"]), (StatusCode::FORBIDDEN, &json!("role_needed")));
    assert_eq!(problem["detail"], "This needs the role admin; yours is viewer.");
}

/// The pages for a person who is logged in.
const PAGES: [&str; 13] = [
    "/",
    "/agents",
    "/agents/looper",
    "/agents/looper?done=deactivated",
    "/incidents",
    "/incidents/{incident}",
    "/requests",
    "/alerts",
    "/drill",
    "/costs",
    "/settings",
    "/search?text=looper",
    "/wall",
];

/// Links in alerts lead to pages: following one, once or again, changes nothing.
#[tokio::test]
async fn following_a_link_changes_nothing() {
    let (server, incident) = with_a_kill().await;
    let state = async || {
        let answers = [server.get("/api/agents").await.text, server.get("/api/incidents").await.text];
        (answers, server.get("/api/audit").await.text)
    };
    let before = state().await;
    let operations =
        stated_roles().into_iter().filter(|(method, path, _)| *method == Method::GET && path != "/api/stream");
    let links = operations.map(|(_, path, _)| path.replace("{name}", "openai"));
    for path in links.chain(PAGES.map(str::to_owned)) {
        let path = path.replace("/agents/{id}", "/agents/looper").replace("{id}", &incident);
        let path = path.replace("{incident}", &incident);
        for _ in 0..2 {
            let answer = server.get(&path).await;
            assert!(!answer.status.is_server_error(), "{path}: {}", answer.status);
        }
    }
    for action in ["/agents/looper/activate", "/agents/looper/delete", "/groups/a/stop", "/settings/token"] {
        assert_eq!(server.get(action).await.status, StatusCode::METHOD_NOT_ALLOWED, "{action}");
    }
    assert_eq!(state().await, before);
}

/// The targets of the forms of a page that change something.
fn forms(html: &str) -> Vec<String> {
    let starts = html.split("<form").skip(1).map(|form| form.split('>').next().unwrap());
    let posts = starts.filter(|start| start.contains("method=\"post\""));
    posts.map(|start| start.split("action=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect()
}

async fn with_a_kill() -> (Server, String) {
    let server = Server::start().await;
    let incident = server.kill("looper").await;
    server.put("/api/agents/quiet/kill-switch", json!({})).await;
    (server, incident.to_string())
}

#[tokio::test]
async fn pages_show_no_form_that_would_be_refused() {
    let (server, incident) = with_a_kill().await;
    for role in ROLES {
        server.user(role, role).await;
    }
    for role in ROLES {
        let browser = log_in(&server, role).await;
        let mut found: Vec<String> = Vec::new();
        for page in PAGES {
            found.extend(forms(&browser.page(&page.replace("{incident}", &incident)).await));
        }
        found.sort();
        found.dedup();
        assert!(found.contains(&"/theme".to_owned()));
        assert_eq!(found.iter().any(|form| form.ends_with("/activate")), role != "viewer", "{role}: {found:?}");
        assert_eq!(found.contains(&"/settings/retention".to_owned()), role == "admin", "{role}: {found:?}");
        // None that ends the session or deletes what the next one is about; an admin may do all.
        found.retain(|form| !form.starts_with("/logout") && role != "admin");
        for form in found {
            let answer = browser.post(&form, "").await;
            assert_ne!(answer.status, StatusCode::FORBIDDEN, "{role} {form}");
        }
    }
}

/// Forms of the dashboard, and the weakest role that may send them.
const FORMS: [(&str, &str); 54] = [
    ("/agents/looper/kill-switch", "admin"),
    ("/agents/looper/policy", "admin"),
    ("/agents/looper/policy/reset", "admin"),
    ("/agents/looper/activate", "operator"),
    ("/agents/looper/deactivate", "operator"),
    ("/agents/looper/name", "operator"),
    ("/agents/looper/delete", "admin"),
    ("/agents/looper/exemptions/none/revoke", "operator"),
    ("/incidents/none/feedback", "operator"),
    ("/incidents/none/exempt", "operator"),
    ("/incidents/none/activate", "operator"),
    ("/incidents/none/delete", "admin"),
    ("/alerts/channels", "admin"),
    ("/alerts/channels/none", "admin"),
    ("/alerts/channels/none/test", "operator"),
    ("/alerts/channels/none/switch", "admin"),
    ("/alerts/channels/none/delete", "admin"),
    ("/alerts/rules", "admin"),
    ("/alerts/rules/none", "admin"),
    ("/alerts/rules/none/switch", "admin"),
    ("/alerts/rules/none/delete", "admin"),
    ("/alerts/history/none/retry", "operator"),
    ("/drill", "operator"),
    ("/settings/defaults", "admin"),
    ("/keys", "admin"),
    ("/keys/none/revoke", "admin"),
    ("/groups", "admin"),
    ("/groups/none/stop", "operator"),
    ("/groups/none/activate", "operator"),
    ("/groups/none/delete", "admin"),
    ("/agents/looper/recording", "admin"),
    ("/settings/mail", "admin"),
    ("/settings/mail/reset", "admin"),
    ("/settings/mail/test", "admin"),
    ("/settings/retention", "admin"),
    ("/settings/reset", "admin"),
    ("/settings/policy", "admin"),
    ("/settings/policy/reset", "admin"),
    ("/settings/token", "admin"),
    ("/settings/providers", "admin"),
    ("/settings/providers/openai/remove", "admin"),
    ("/settings/people/users", "admin"),
    ("/settings/people/users/none", "admin"),
    ("/settings/people/users/none/delete", "admin"),
    ("/settings/people/tokens", "admin"),
    ("/settings/people/tokens/none/revoke", "admin"),
    ("/settings/people/sessions/none/end", "admin"),
    ("/agents", "operator"),
    ("/agents?on", "admin"),
    ("/agents?off", "admin"),
    ("/agents?activate", "operator"),
    ("/settings/password", "viewer"),
    ("/theme", "viewer"),
    ("/logout", "viewer"),
];

#[tokio::test]
async fn form_of_a_stronger_role_is_refused() {
    let (server, _) = with_a_kill().await;
    for role in ["viewer", "operator"] {
        server.user(role, role).await;
        let browser = log_in(&server, role).await;
        for (path, _) in FORMS.into_iter().filter(|(_, needed)| rank(needed) > rank(role)) {
            let (path, action) = path.split_once('?').unwrap_or((path, "on"));
            let answer = browser.post(path, &format!("do={action}&agent=looper")).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{role} {path} {action}: {}", answer.text);
            assert!(answer.text.contains("This needs the role "), "{role} {path}: {}", answer.text);
        }
    }
    let listed = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/routes.rs")).unwrap();
    let posts = listed.matches("post(").count();
    // The login needs no role; selected agents stand here once for each action, `theme` and so on
    // once.
    assert!(posts <= FORMS.len() + 2, "{posts} forms are routed: add the new one to this list");
}

#[tokio::test]
async fn viewer_sees_no_bodies() {
    let (server, incident) = with_a_kill().await;
    server.user("viewer", "viewer").await;
    server.user("operator", "operator").await;
    let secret = "please fix the";
    assert!(PROMPT.starts_with(secret));
    let pages = PAGES.map(|page| page.replace("{incident}", &incident));
    let viewer = log_in(&server, "viewer").await;
    for page in &pages {
        assert!(!viewer.page(page).await.contains(secret), "{page}");
    }
    let operator = log_in(&server, "operator").await;
    assert!(operator.page(&pages[5]).await.contains(secret));

    let call = server.json(&format!("/api/incidents/{incident}/evidence")).await;
    let call = call.to_string();
    let id = call.split("\"call_id\":\"").nth(1).or_else(|| call.split("\"id\":\"").nth(1)).unwrap();
    let id = id.split('"').next().unwrap();
    let body = format!("/incidents/{incident}/evidence/{id}/request");
    let check = async |browser: &Browser<'_>, expected: StatusCode| {
        for path in [&body, &format!("/api/incidents/{incident}/evidence"), "/api/agents/looper/exemptions"] {
            assert_eq!(browser.get(path).await.status, expected, "{path}");
        }
    };
    check(&viewer, StatusCode::FORBIDDEN).await;
    check(&operator, StatusCode::OK).await;
}

/// An operator of one group stops its agents and sees their bodies; to other agents a viewer.
#[tokio::test]
async fn operator_of_a_group_is_a_viewer_of_other_agents() {
    let (server, incident) = with_a_kill().await;
    let ask = async |token: &str, method: Method, path: &str, body: Option<Value>| {
        server.ask_as(token, method, path, body).await.status
    };
    for (group, pattern) in [("own", "looper"), ("others", "other-*")] {
        let body = json!({"agents": [pattern]});
        assert_eq!(ask(TOKEN, Method::PUT, &format!("/api/groups/{group}"), Some(body)).await, StatusCode::OK);
    }
    let token_of = async |group: &str| {
        let body = json!({"name": group, "role": "operator", "groups": [group]});
        let made = server.ask_as(TOKEN, Method::POST, "/api/tokens", Some(body)).await.json();
        assert_eq!(made["groups"], json!([group]), "{made}");
        made["token"].as_str().unwrap().to_owned()
    };
    let (own, others) = (token_of("own").await, token_of("others").await);
    let evidence = format!("/api/incidents/{incident}/evidence");
    for (token, expected) in [(&own, StatusCode::OK), (&others, StatusCode::FORBIDDEN)] {
        assert_eq!(ask(token, Method::GET, &evidence, None).await, expected);
        assert_eq!(ask(token, Method::GET, "/api/agents/looper/exemptions", None).await, expected);
        assert_eq!(ask(token, Method::POST, "/api/groups/own/activate", None).await, expected);
        let body = json!({"active": false});
        assert_eq!(ask(token, Method::PATCH, "/api/agents/looper", Some(body)).await, expected);
        assert_eq!(ask(token, Method::GET, "/api/agents/looper", None).await, StatusCode::OK, "both may look");
        let body = json!({"enabled": true});
        let forbidden = ask(token, Method::PUT, "/api/agents/looper/kill-switch", Some(body)).await;
        assert_eq!(forbidden, StatusCode::FORBIDDEN, "an operator is no admin");
    }
    let limited_admin = json!({"name": "x", "role": "admin", "groups": ["own"]});
    assert_eq!(ask(TOKEN, Method::POST, "/api/tokens", Some(limited_admin)).await, StatusCode::BAD_REQUEST);
    let unknown = json!({"name": "x", "role": "operator", "groups": ["nobody"]});
    assert_eq!(ask(TOKEN, Method::POST, "/api/tokens", Some(unknown)).await, StatusCode::BAD_REQUEST);
    assert_eq!(ask(TOKEN, Method::DELETE, "/api/groups/own", None).await, StatusCode::CONFLICT);
}

/// The pages of agents outside the groups of an operator show no bodies, and their forms are
/// refused.
#[tokio::test]
async fn pages_of_agents_of_other_groups_show_no_bodies() {
    let (server, incident) = with_a_kill().await;
    let group = json!({"agents": ["other-*"]});
    server.ask_as(TOKEN, Method::PUT, "/api/groups/others", Some(group)).await;
    server.user("operator", "operator").await;
    let users = server.json("/api/users").await;
    let path = format!("/api/users/{}", users["items"][0]["id"].as_str().unwrap());
    let changed = server.ask_as(TOKEN, Method::PATCH, &path, Some(json!({"groups": ["others"]}))).await;
    assert_eq!(changed.json()["groups"], json!(["others"]));
    let operator = log_in(&server, "operator").await;
    let page = format!("/incidents/{incident}");
    assert!(!operator.page(&page).await.contains("please fix the"));
    for path in ["/agents/looper/activate".to_owned(), format!("{page}/activate")] {
        let answer = operator.post(&path, "").await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}: {}", answer.text);
    }
    operator.post("/agents", "do=activate&agent=looper").await;
    assert_eq!(server.json("/api/agents/looper").await["active"], false, "selected agents are checked each");
    server.ask_as(TOKEN, Method::PATCH, &path, Some(json!({"groups": null}))).await;
    let operator = log_in(&server, "operator").await;
    assert!(operator.page(&page).await.contains("please fix the"));
}
