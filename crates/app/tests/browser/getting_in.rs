//! From a link in an alert to the incident: with a session and without, and safe from other sites.

use http::Method;
use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::foreign_page::{open, serve_page};
use crate::scene;
use crate::support::{Server, ServerBuilder, provider};

/// Stops an agent; returns the path of its incident.
async fn stopped_agent(server: &Server) -> String {
    format!("/incidents/{}", scene::kill(server, scene::STUCK).await)
}

async fn follow_link(browser: &Browser, url: &str) {
    let script = format!(
        "const link = document.createElement('a'); link.id = 'link'; link.href = {url:?}; link.textContent = 'See the incident';\
         document.body.append(link)"
    );
    browser.run(&script).await;
    browser.click("#link").await;
}

#[tokio::test]
async fn link_on_another_site_shows_the_incident_to_who_is_logged_in() {
    let (upstream, port) = (provider().await, serve_page().await);
    let server = ServerBuilder::new(&upstream.url()).start();
    let incident = stopped_agent(&server).await;
    let browser = Browser::logged_in(&server, Kind::PHONE).await;
    // `localhost` and `127.0.0.1` are two sites to a browser.
    open(&browser, &format!("http://localhost:{port}/")).await;
    follow_link(&browser, &format!("{}{incident}", server.dashboard)).await;
    browser.wait_for("nav#navigation").await;
    assert_eq!(browser.path().await, incident);
}

#[tokio::test]
async fn other_site_changes_nothing_with_the_session_of_a_browser() {
    let (upstream, port) = (provider().await, serve_page().await);
    let server = ServerBuilder::new(&upstream.url()).start();
    stopped_agent(&server).await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    for host in ["localhost", "127.0.0.1"] {
        open(&browser, &format!("http://{host}:{port}/")).await;
        let action = format!("{}/agents/{}/activate", server.dashboard, scene::STUCK);
        let send = format!(
            "const form = document.createElement('form'); form.method = 'POST'; form.action = {action:?};\
             document.body.append(form); form.submit()"
        );
        browser.run(&send).await;
        browser.wait_for_text("body", "cross_site").await;
        assert_eq!(server.get(&format!("/api/agents/{}", scene::STUCK)).await["active"], json!(false), "{host}");
    }
}

#[tokio::test]
async fn session_survives_a_restart_and_ends_with_another_token() {
    let upstream = provider().await;
    let data = tempfile::tempdir().unwrap();
    let server = ServerBuilder::new(&upstream.url()).data_dir(data.path()).start();
    let port = server.dashboard.rsplit_once(':').unwrap().1.to_owned();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    let server = server.kill().port(&port).start();
    browser.go("/agents").await;
    browser.wait_for("nav#navigation").await;

    let server = server.kill().port(&port).token("another-token-of-the-operator").start();
    browser.go("/agents").await;
    browser.wait_for("form#login").await;
    drop(server);
}

/// The person who is woken by an alert: from the link to an active agent. Typing the token is not
/// counted, since a password manager does it.
async fn taps_to_activate(is_logged_in: bool) -> u32 {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let incident = stopped_agent(&server).await;
    let mut taps = 0;
    let browser = if is_logged_in {
        Browser::logged_in(&server, Kind::PHONE).await
    } else {
        Browser::start(&server, Kind::PHONE).await
    };
    browser.go(&incident).await;
    if !is_logged_in {
        browser.type_into("#token", &server.token).await;
        browser.click("form#login button").await;
        taps += 1;
    }
    browser.wait_for("nav#navigation").await;
    assert_eq!(browser.path().await, incident, "the login leads to where one wanted to go");
    let in_view = "const box = document.querySelector(\"details:has(form[action$='/activate']) > summary\").getBoundingClientRect();\
        return box.top >= 0 && box.bottom <= innerHeight";
    assert_eq!(browser.run(in_view).await, true, "activating needs no scrolling");
    browser.click("details:has(form[action$='/activate']) > summary").await;
    browser.click("form[action$='/activate'] button").await;
    taps += 2;
    browser.wait_for_text("#notice", "Active again").await;
    let agent = server.api(Method::GET, &format!("/api/agents/{}", scene::STUCK), None).await;
    assert_eq!(agent["active"], json!(true));
    taps
}

#[tokio::test]
async fn three_taps_lead_from_the_link_to_an_active_agent() {
    assert!(taps_to_activate(true).await <= 3);
    assert!(taps_to_activate(false).await <= 3);
}
