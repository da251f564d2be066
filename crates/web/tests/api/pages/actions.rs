//! What the forms do to agents and incidents.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::Browser;
use crate::server::Server;

#[tokio::test]
async fn an_agent_is_activated_and_deactivated_from_its_page() {
    let server = Server::start().await;
    let incident = server.kill("import-fixer").await;
    let browser = Browser::new(&server).await;
    let text = browser.page("/agents/import-fixer").await;
    assert!(text.contains("The window is cleared and calls go through again."), "asks first");
    assert!(text.contains("It asked the same thing 4 times and got the same answer 3 times."), "{text}");
    assert!(text.contains(&format!("/incidents/{incident}")));

    browser.submit("/agents/import-fixer/activate", "", "/agents/import-fixer?done=activated").await;
    assert_eq!(server.json("/api/agents/import-fixer").await["active"], true);
    assert!(browser.page("/agents/import-fixer?done=activated").await.contains("Active again."));
    browser.submit("/agents/import-fixer/deactivate", "", "/agents/import-fixer?done=deactivated").await;
    assert_eq!(server.json("/api/agents/import-fixer").await["deactivated_by"], "manual");
    let text = browser.page("/agents/import-fixer?done=deactivated").await;
    let notice = text.split("id=\"notice\"").nth(1).unwrap().split("<p class=\"crumbs\"").next().unwrap();
    assert!(notice.contains("action=\"/agents/import-fixer/activate\"") && notice.contains("Undo"), "{notice}");
}

#[tokio::test]
async fn an_incident_takes_feedback_activates_its_agent_and_is_deleted() {
    let server = Server::start().await;
    let incident = server.kill("import-fixer").await;
    let browser = Browser::new(&server).await;
    let page = format!("/incidents/{incident}");
    browser.submit(&format!("{page}/feedback"), "feedback=false_alarm", &format!("{page}?done=thanks")).await;
    assert_eq!(server.json(&format!("/api{page}")).await["feedback"], "false_alarm");
    let odd = browser.post(&format!("{page}/feedback"), "feedback=maybe").await;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);

    browser.submit(&format!("{page}/activate"), "", &format!("{page}?done=activated")).await;
    assert_eq!(server.json(&format!("/api{page}")).await["state"], "closed");
    assert!(!browser.page(&page).await.contains("Activate agent…"), "it is active");

    browser.submit(&format!("{page}/delete"), "", "/incidents?done=deleted").await;
    assert_eq!(browser.get(&page).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_false_alarm_offers_the_narrowest_exemption() {
    let server = Server::start().await;
    let incident = server.kill("import-fixer").await;
    let browser = Browser::new(&server).await;
    let page = format!("/incidents/{incident}");
    assert!(!browser.page(&page).await.contains("Do not count it"), "only of a false alarm");
    browser.submit(&format!("{page}/feedback"), "feedback=false_alarm", &format!("{page}?done=thanks")).await;
    let text = browser.page(&page).await;
    for said in [
        "This prompt</strong>, for import-fixer only",
        "With this, the call would have scored 0.0 / 5: it would have gone through.",
        "value=\"2024-02-14\" min=\"2024-01-15\" max=\"2025-01-14\"",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("This tool call"), "it made none");

    for bad in ["what=prompt&until=soon", "what=tool_call&until=2024-02-14", "what=prompt&until=2023-01-01", "what=all"]
    {
        assert_eq!(browser.post(&format!("{page}/exempt"), bad).await.status, StatusCode::BAD_REQUEST, "{bad}");
    }
    let form = "what=prompt&until=2024-02-14";
    browser.submit(&format!("{page}/exempt"), form, &format!("{page}?done=exempted")).await;
    let exemption = server.json("/api/agents/import-fixer/exemptions").await["items"][0].clone();
    assert_eq!(exemption["until"], "2024-02-15T00:00:00.000Z", "to the end of that day");
    let id = exemption["id"].as_str().unwrap();
    for path in [page.as_str(), "/agents/import-fixer"] {
        let text = browser.page(path).await;
        assert!(text.contains(&format!("/agents/import-fixer/exemptions/{id}/revoke")), "{path}: {text}");
        assert!(text.contains("2024-02-15 00:00 UTC"), "{path}: {text}");
    }
    assert!(!browser.page(&page).await.contains("Do not count it"), "it is exempt already");
    assert!(browser.page("/agents/import-fixer").await.contains("Its newest call was scored before"));
    let revoke = format!("/agents/import-fixer/exemptions/{id}/revoke");
    browser.submit(&revoke, &format!("incident={incident}"), &format!("{page}?done=revoked")).await;
    assert!(!browser.page("/agents/import-fixer").await.contains("Exemptions"));
    assert_eq!(browser.post(&revoke, "").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_body_of_the_evidence_is_a_file_of_plain_text() {
    let server = Server::start().await;
    let incident = server.kill("import-fixer").await;
    let evidence = server.json(&format!("/api/incidents/{incident}/evidence")).await;
    let first = &evidence["items"][0];
    let call = first["call_id"].as_str().unwrap();
    let browser = Browser::new(&server).await;
    let answer = browser.get(&format!("/incidents/{incident}/evidence/{call}/request")).await;
    assert_eq!(Value::String(answer.text.clone()), first["request_body"]);
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    assert!(answer.header("content-disposition").starts_with("attachment"));
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'"));
    for gone in [format!("{call}/other"), "none/request".to_owned()] {
        let answer = browser.get(&format!("/incidents/{incident}/evidence/{gone}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn an_agent_is_named_and_deleted() {
    let server = Server::start().await;
    server.put("/api/agents/plain/kill-switch", json!({})).await;
    let browser = Browser::new(&server).await;
    browser.submit("/agents/plain/name", "name=%20The+plain+one%20", "/agents/plain?done=renamed").await;
    assert_eq!(server.json("/api/agents/plain").await["name"], "The plain one");
    browser.submit("/agents/plain/name", "name=", "/agents/plain?done=renamed").await;
    assert_eq!(server.json("/api/agents/plain").await["name"], Value::Null);
    browser.submit("/agents/plain/delete", "", "/agents?done=deleted").await;
    assert_eq!(browser.get("/agents/plain").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn problem_of_a_page_is_shown_as_a_page() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    for (path, status, said) in [
        ("/agents/nobody", StatusCode::NOT_FOUND, "There is no agent nobody."),
        ("/agents/a%20b", StatusCode::BAD_REQUEST, "Agent is not valid"),
        ("/incidents/none", StatusCode::NOT_FOUND, "There is no incident none."),
        ("/requests/none", StatusCode::NOT_FOUND, "There is no event none."),
        ("/requests?cursor=%21", StatusCode::BAD_REQUEST, "cursor"),
    ] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.header("content-type").starts_with("text/html"), "{path}");
        assert!(answer.text.contains(said), "{path}: {}", answer.text);
    }
}
