//! A page whose server is down says so in the headline, and continues when it is back.

use http::Method;
use serde_json::{Value, json};

use crate::driver::{Browser, Kind};
use crate::scene;
use crate::support::{ServerBuilder, eventually, provider};

#[tokio::test]
async fn page_says_at_the_top_that_the_server_is_gone() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let browser = Browser::logged_in(&server, Kind::PHONE).await;
    browser.wait_for_text("#connection", "Live").await;
    assert_eq!(browser.run("return document.getElementById('lost').hidden").await, true);
    let is_calm = "return document.getElementById('summary').checkVisibility()";
    assert_eq!(browser.run(is_calm).await, true);

    drop(server);
    browser.wait_for_text("#lost", "No connection to the server since").await;
    let is_seen = "const box = document.getElementById('lost').getBoundingClientRect();\
        return box.height > 0 && box.bottom < innerHeight / 2";
    assert_eq!(browser.run(is_seen).await, true);
    assert_eq!(browser.run(is_calm).await, false, "a page without a server must not look calm");
}

/// Sets a mark that is lost when the page is loaded again.
async fn mark(browser: &Browser) {
    browser.run("window.mark = true").await;
}

async fn is_marked(browser: &Browser) -> bool {
    browser.run("return window.mark === true").await == json!(true)
}

#[tokio::test]
async fn page_says_that_the_server_hangs_and_goes_on_when_it_does() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for_text("#connection", "Live").await;
    mark(&browser).await;

    // No connection ends and nothing is answered, as after a cable was pulled.
    server.signal("STOP");
    browser.wait_for_text("#lost", "No connection to the server since").await;
    server.signal("CONT");
    browser.wait_for_text("#connection", "Live").await;
    server.agent("late").ask("Are you there?").await;
    browser.wait_for_text("#summary", "Nothing needs you.").await;
    assert_eq!(browser.run("return document.getElementById('lost').hidden").await, true);
    assert!(is_marked(&browser).await, "the same page all the time");
}

/// A page that gets no answer is not live, even while its event stream is open.
#[tokio::test]
async fn page_without_answers_does_not_say_that_it_is_live() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for_text("#connection", "Live").await;
    browser
        .run("window.answered = window.fetch; window.fetch = () => Promise.reject(new TypeError('no network'))")
        .await;
    server.agent("late").ask("Are you there?").await;
    browser.wait_for_text("#lost", "No connection to the server since").await;
    browser.wait_for("#connection.lost").await;
    assert_eq!(browser.text("#connection").await, "Not live.");
    browser.run("window.fetch = window.answered").await;
    browser.wait_for_text("#connection", "Live").await;
    assert_eq!(browser.run("return document.getElementById('lost').hidden").await, true);
}

#[tokio::test]
async fn page_goes_on_after_a_restart() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let port = server.dashboard.rsplit_once(':').unwrap().1.to_owned();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/agents").await;
    browser.wait_for_text("#connection", "Live").await;
    mark(&browser).await;
    let builder = server.kill();
    browser.wait_for_text("#lost", "No connection").await;
    let server = builder.port(&port).start();
    browser.wait_for_text("#connection", "Live").await;
    server.agent("newcomer").ask("Are you there?").await;
    browser.wait_for("tr[data-key=newcomer]").await;
    assert!(is_marked(&browser).await, "the same page all the time");
}

#[tokio::test]
async fn page_of_a_deleted_agent_says_that_it_is_gone() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    server.agent("short-lived").ask("Are you there?").await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/agents/short-lived").await;
    browser.wait_for_text("#connection", "Live").await;
    server.api(Method::DELETE, "/api/agents/short-lived", None).await;
    browser.wait_for_text("main [role=alert]:not([hidden])", "short-lived").await;
    assert!(browser.find("#switch").await.is_none(), "nothing of the agent is left to operate");
}

#[tokio::test]
async fn kill_of_another_agent_is_in_the_title_of_every_page() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    server.agent("calm").ask("Are you there?").await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/agents/calm").await;
    browser.wait_for_text("#connection", "Live").await;
    scene::kill(&server, scene::STUCK).await;
    eventually("the title counts it", async || {
        let title = browser.run("return document.title").await;
        title.as_str().unwrap().starts_with("(1) calm").then_some(())
    })
    .await;
    browser.wait_for_text("#stopped", "1").await;
}

/// Opens a second window and switches to it.
async fn open_window(browser: &Browser) -> Value {
    let window = browser.post("/window/new", json!({"type": "window"})).await["handle"].clone();
    go_to_window(browser, &window).await;
    window
}

async fn go_to_window(browser: &Browser, window: &Value) {
    browser.post("/window", json!({"handle": window})).await;
}

#[tokio::test]
async fn logging_out_in_one_window_shows_the_login_in_all() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for_text("#connection", "Live").await;
    let mut windows = Vec::new();
    for path in ["/agents", "/requests", "/"] {
        windows.push(open_window(&browser).await);
        browser.go(path).await;
        browser.wait_for_text("#connection", "Live").await;
    }
    browser.click(".foot form[action='/logout'] button").await;
    browser.wait_for("form#login").await;
    for window in &windows[..2] {
        go_to_window(&browser, window).await;
        browser.wait_for("form#login").await;
    }
    let first = browser.run("return location.pathname + location.search").await;
    assert_eq!(first, json!("/login?next=/requests"), "each leads back to where it was");
    eventually("no page is shown to a stranger", async || browser.find("nav#navigation").await.is_none().then_some(()))
        .await;
}
