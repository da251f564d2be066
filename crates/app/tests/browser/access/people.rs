//! People log in by name, see what their role allows, and appear in the audit log.

use http::Method;
use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::scene;
use crate::support::{Server, ServerBuilder, provider};

const PASSWORD: &str = "a-password-of-the-test";

async fn log_in(server: &Server, kind: Kind, name: &str) -> Browser {
    let browser = Browser::start(server, kind).await;
    browser.go("/agents").await;
    browser.type_into("#name", name).await;
    browser.type_into("#password", PASSWORD).await;
    browser.click("form#people button").await;
    browser.wait_for("nav#navigation").await;
    browser
}

#[tokio::test]
async fn admin_adds_an_operator_who_activates_with_a_reason() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let incident = scene::kill(&server, scene::STUCK).await;
    let admin = Browser::logged_in(&server, Kind::DESKTOP).await;
    admin.go("/settings/people").await;
    admin.click("#add-user > summary").await;
    admin.type_into("#add-user input[name=name]", "ann").await;
    admin.type_into("#add-user input[name=password]", PASSWORD).await;
    admin.run("document.querySelector('#add-user select').value = 'operator'").await;
    admin.click("#add-user form button").await;
    admin.wait_for_text("#notice", "added").await;

    let ann = log_in(&server, Kind::PHONE, "ann").await;
    ann.go(&format!("/incidents/{incident}")).await;
    ann.click("details:has(form[action$='/activate']) > summary").await;
    ann.type_into("form[action$='/activate'] input[name=reason]", "the import is fixed").await;
    ann.click("form[action$='/activate'] button").await;
    ann.wait_for_text("#notice", "Active again").await;
    assert!(ann.find("form[action$='/delete']").await.is_none(), "an operator deletes nothing");

    let log = server.get("/api/audit?action=agent.activate").await;
    assert_eq!(log["items"][0]["reason"], json!("the import is fixed"), "{log}");
    admin.go("/settings/audit?action=agent.activate").await;
    admin.wait_for_text("#audit", "the import is fixed").await;
    admin.wait_for_text("#audit", "ann").await;
    admin.go("/settings/people").await;
    admin.click("tr:not(:has(.badge.active)) form[action^='/settings/people/sessions/'] button").await;
    admin.wait_for_text("#notice", "has to log in again").await;
    ann.go("/agents").await;
    ann.wait_for("form#people").await;
}

#[tokio::test]
async fn token_is_shown_once_and_revoked() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let admin = Browser::logged_in(&server, Kind::PHONE).await;
    admin.go("/settings/people").await;
    admin.click("#add-token > summary").await;
    admin.type_into("#add-token input[name=name]", "grafana").await;
    admin.click("#add-token form button").await;
    admin.wait_for("#new-token").await;
    let token = admin.text("#new-token").await;
    let url = format!("{}/api/agents", server.dashboard);
    let status = async || server.http.json(Method::GET, &url, Some(&token), None).await.unwrap().status;
    assert_eq!(status().await, 200);
    admin.go("/settings/people").await;
    assert!(admin.find("#new-token").await.is_none());
    admin.click("details:has(form[action$='/revoke']) > summary").await;
    admin.click("form[action$='/revoke'] button").await;
    admin.wait_for_text("#notice", "revoked").await;
    assert_eq!(status().await, 401);
}

#[tokio::test]
async fn viewer_finds_no_switch_and_no_prompt() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let incident = scene::kill(&server, scene::STUCK).await;
    let body = json!({"name": "vic", "role": "viewer", "password": PASSWORD});
    server.api(Method::POST, "/api/users", Some(body)).await;
    let vic = log_in(&server, Kind::DESKTOP, "vic").await;
    for path in [format!("/agents/{}", scene::STUCK), format!("/incidents/{incident}"), "/settings".to_owned()] {
        vic.go(&path).await;
        vic.wait_for("nav#navigation").await;
        let forms = "return [...document.querySelectorAll('form[method=post]')].map(form => form.getAttribute('action'))\
            .filter(action => !['/theme', '/logout', '/logout/everywhere'].includes(action))";
        assert_eq!(vic.run(forms).await, json!([]), "{path}");
    }
}
