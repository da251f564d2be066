//! From a link in an alert to the incident: with and without a session, and safe from other sites.

use http::Method;
use serde_json::json;

use crate::access::foreign_page::{open, serve_page};
use crate::driver::{Browser, Kind};
use crate::scene;
use crate::support::{Server, ServerBuilder, provider};

const TOKEN: &str = "the-token-of-the-operator";
const PASSWORD: &str = "a-password-of-the-test";

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

/// How a person who follows an alert logs in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Login {
    /// With an existing session.
    Session,
    Token,
    /// As a user with a password.
    Password,
}

/// Fills in and sends the login; returns the number of taps. Typing is not counted, because a
/// password manager does it.
async fn log_in(browser: &Browser, login: Login) -> u32 {
    let (fields, button) = match login {
        Login::Session => return 0,
        Login::Token => (vec![("#token", TOKEN)], "form#login button"),
        Login::Password => (vec![("#name", "ann"), ("#password", PASSWORD)], "form#people button"),
    };
    for (field, text) in fields {
        browser.type_into(field, text).await;
    }
    browser.click(button).await;
    1
}

/// The taps from the link in an alert to an active agent, with a reason for the audit log.
async fn taps_to_activate(login: Login) -> u32 {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).token(TOKEN).start();
    let incident = stopped_agent(&server).await;
    let browser = match login {
        Login::Session => Browser::logged_in(&server, Kind::PHONE).await,
        Login::Token | Login::Password => Browser::start(&server, Kind::PHONE).await,
    };
    if login == Login::Password {
        let user = json!({"name": "ann", "role": "operator", "password": PASSWORD});
        server.api(Method::POST, "/api/users", Some(user)).await;
    }
    browser.go(&incident).await;
    let mut taps = log_in(&browser, login).await;
    browser.wait_for("nav#navigation").await;
    assert_eq!(browser.path().await, incident, "the login leads to where one wanted to go");
    let in_view = "const box = document.querySelector(\"details:has(form[action$='/activate']) > summary\").getBoundingClientRect();\
        return box.top >= 0 && box.bottom <= innerHeight";
    assert_eq!(browser.run(in_view).await, true, "activating needs no scrolling");
    browser.click("details:has(form[action$='/activate']) > summary").await;
    browser.type_into("form[action$='/activate'] input[name=reason]", "the import is fixed").await;
    browser.click("form[action$='/activate'] button").await;
    taps += 2;
    browser.wait_for_text("#notice", "Active again").await;
    let agent = server.api(Method::GET, &format!("/api/agents/{}", scene::STUCK), None).await;
    assert_eq!(agent["active"], json!(true));
    let log = server.get("/api/audit?action=agent.activate").await;
    assert_eq!(log["items"][0]["reason"], json!("the import is fixed"), "{login:?}");
    taps
}

#[tokio::test]
async fn three_taps_lead_from_the_link_to_an_active_agent() {
    for login in [Login::Session, Login::Token, Login::Password] {
        let taps = taps_to_activate(login).await;
        assert!(taps <= 3, "{login:?}: {taps} taps");
    }
}

/// The computed background of the open page.
async fn background(browser: &Browser) -> String {
    let colour = browser.run("return getComputedStyle(document.body).backgroundColor").await;
    colour.as_str().unwrap().to_owned()
}

const LIGHT: &str = "rgb(250, 250, 250)";
const DARK: &str = "rgb(14, 17, 22)";

async fn guess(browser: &Browser) {
    browser.type_into("#token", "a guess").await;
    browser.click("form#login button").await;
    browser.wait_for("#error").await;
}

#[tokio::test]
async fn login_page_has_the_theme_that_was_chosen_or_that_of_the_system() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    for (system, expected) in [("light", LIGHT), ("dark", DARK)] {
        let stranger = Browser::start(&server, Kind::PHONE).await;
        stranger.prefer(system).await;
        stranger.go("/login").await;
        assert_eq!(background(&stranger).await, expected, "{system}");
        guess(&stranger).await;
        assert_eq!(background(&stranger).await, expected, "{system}, after a wrong token");
    }

    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.prefer("light").await;
    browser.click(".foot form[action='/theme'] button").await;
    browser.wait_for("html[data-theme=dark]").await;
    browser.click(".foot form[action='/logout'] button").await;
    browser.wait_for("form#login").await;
    assert_eq!(background(&browser).await, DARK, "after logging out");
    guess(&browser).await;
    assert_eq!(background(&browser).await, DARK, "after a wrong token");
}
