//! A person creates an agent key and a group in the dashboard, and clients use them.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::driver::{Browser, Kind};
use crate::support::{Server, ServerBuilder, eventually, openai_request, provider};

async fn status(server: &Server, path: &str, key: &str) -> u16 {
    let request = Request::post(format!("{}{path}", server.proxy))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .body(Full::new(Bytes::from(openai_request("Which lamps are out of stock?").to_string())));
    server.http.send(request.unwrap()).await.unwrap().status.as_u16()
}

/// Creates a key with the form, and returns it.
async fn make_key(browser: &Browser) -> String {
    browser.go("/keys").await;
    browser.wait_for_text("h1", "No agent keys").await;
    browser.type_into("#key-form input[name=agent]", "a b").await;
    browser.click("#key-form button").await;
    browser.wait_for_text("p.alarm", "No key was made").await;
    browser.type_into("#key-form input[name=agent]", "my-agent").await;
    browser.type_into("#key-form input[name=name]", "laptop").await;
    browser.click("#key-form button").await;
    browser.wait_for_text("#made", "shown this once").await;
    browser.text("#new-key").await
}

async fn make_and_revoke_a_key(kind: Kind) {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let stored = serde_json::json!({"key": "sk-stored"});
    server.api(http::Method::PUT, "/api/providers/openai", Some(stored)).await;
    let browser = Browser::logged_in(&server, kind).await;
    let key = make_key(&browser).await;
    assert_eq!(status(&server, "/openai/v1/chat/completions", &key).await, 200);

    browser.go("/keys").await;
    browser.wait_for_text("#keys", "laptop").await;
    assert!(!browser.text("main").await.contains("agk_"), "it is not shown again");
    browser.click("#keys summary").await;
    browser.click("#keys button.danger").await;
    browser.wait_for_text("#notice", "The key is revoked").await;
    assert_eq!(status(&server, "/openai/v1/chat/completions", &key).await, 401);
    browser.go("/keys").await;
    browser.wait_for_text("main", "1 with a key that is revoked or never existed").await;
}

async fn make_and_stop_a_group(kind: Kind) {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    assert_eq!(status(&server, "/agents/team-a:bot/openai/v1/chat/completions", "sk").await, 200);
    let browser = Browser::logged_in(&server, kind).await;
    browser.go("/groups").await;
    browser.type_into("#group-form input[name=name]", "team-a").await;
    browser.type_into("#group-form input[name=agents]", "team-a/*, x").await;
    browser.type_into("#group-form input[name=daily]", "5").await;
    browser.click("#group-form button").await;
    browser.wait_for_text("#notice", "The group is saved").await;
    browser.wait_for_text("#groups", "of $5.00 today").await;
    browser.click("#groups summary").await;
    browser.click("#groups button.danger").await;
    browser.wait_for_text("#notice", "The group is stopped").await;
    assert_eq!(status(&server, "/agents/team-a:bot/openai/v1/chat/completions", "sk").await, 400);
    browser.wait_for("#groups .alarm").await;
    // Activated elsewhere: the open page shows it.
    server.api(http::Method::POST, "/api/groups/team-a/activate", None).await;
    eventually("the group is not stopped", async || browser.find("#groups .alarm").await.is_none().then_some(())).await;
}

#[tokio::test]
async fn person_makes_and_revokes_a_key() {
    make_and_revoke_a_key(Kind::DESKTOP).await;
}

#[tokio::test]
async fn person_makes_and_revokes_a_key_without_script() {
    make_and_revoke_a_key(Kind::WITHOUT_SCRIPT).await;
}

#[tokio::test]
async fn person_makes_and_stops_a_group() {
    make_and_stop_a_group(Kind::PHONE).await;
}
