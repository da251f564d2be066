//! Notifications: the browser's own, changes of channels and rules, and the mail server.

use http::Method;
use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::scene;
use crate::support::{MailServer, ServerBuilder, provider};

#[tokio::test]
async fn browser_notifies_of_a_kill_if_it_may() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for_text("#connection", "Live").await;
    assert_eq!(browser.run("return Notification.permission").await, "default");
    browser.wait_for("#notifications:not([hidden])").await;

    let grant = json!({"cmd": "Browser.grantPermissions",
        "params": {"origin": server.dashboard, "permissions": ["notifications"]}});
    browser.post("/goog/cdp/execute", grant).await;
    browser.reload().await;
    browser.wait_for_text("#connection", "Live").await;
    assert_eq!(browser.run("return document.getElementById('notifications').hidden").await, true, "nothing to ask");
    let keep = "window.notes = []; window.Notification = class extends Notification {\
        constructor(title, options) { super(title, options); window.notes.push([title, options.body, options.tag]); } }";
    browser.run(keep).await;
    let incident = scene::kill(&server, scene::STUCK).await;
    let note = crate::support::eventually("a notification", async || {
        browser.run("return window.notes[0] ?? null").await.as_array().cloned()
    })
    .await;
    let said = format!("{} is stopped by the kill switch", scene::STUCK);
    assert_eq!(note, [json!(said), json!("See the incident"), json!(incident)]);
    assert_eq!(browser.run("return window.notes.length").await, 1, "one kill, one notification");
    crate::support::eventually("the title counts", async || {
        browser.run("return document.title").await.as_str()?.starts_with("(1) ").then_some(())
    })
    .await;
}

#[tokio::test]
async fn channels_and_rules_are_changed_on_the_page() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let channel = json!({"kind": "webhook", "name": "ops", "url": "https://example.com/hook"});
    let channel = server.api(Method::POST, "/api/channels", Some(channel)).await;
    let rule = json!({"rule_type": "error_rate", "percent": 20.0, "minutes": 10});
    let rule = server.api(Method::POST, "/api/alerts", Some(rule)).await;
    for kind in [Kind::DESKTOP, Kind::PHONE, Kind::WITHOUT_SCRIPT] {
        let browser = Browser::logged_in(&server, kind).await;
        browser.go("/alerts").await;
        let id = channel["id"].as_str().unwrap();
        let form = format!("form[action='/alerts/channels/{id}']");
        let name = format!("night shift {}", kind.width + u32::from(kind.has_script));
        browser.click(&format!("details:has({form}) > summary")).await;
        browser.type_into(&format!("{form} input[name=name]"), &name).await;
        browser.click(&format!("{form} button")).await;
        browser.wait_for_text("#notice", "Saved.").await;
        assert_eq!(server.get(&format!("/api/channels/{id}")).await["name"], json!(name), "{kind:?}");

        let id = rule["id"].as_str().unwrap();
        let form = format!("form[action='/alerts/rules/{id}']");
        browser.click(&format!("details:has({form}) > summary")).await;
        browser.type_into(&format!("{form} input[name=percent]"), "lots").await;
        browser.click(&format!("{form} button")).await;
        // The form is still open, says what is wrong, and keeps what was typed.
        browser.wait_for_text(&format!("{form} p[role=alert]"), "Percent").await;
        let field = browser.wait_for(&format!("{form} input[name=percent]")).await;
        assert_eq!(browser.property(&field, "value").await, "lots", "{kind:?}");
        let percent = if kind.has_script { "35" } else { "36" };
        browser.type_into(&format!("{form} input[name=percent]"), percent).await;
        browser.click(&format!("{form} button")).await;
        browser.wait_for_text("#notice", "Saved.").await;
        assert_eq!(server.get(&format!("/api/alerts/{id}")).await["percent"].to_string(), format!("{percent}.0"));
    }
}

#[tokio::test]
async fn mail_server_is_set_tested_and_used() {
    let (upstream, mails) = (provider().await, MailServer::start().await);
    let data = tempfile::tempdir().unwrap();
    let server =
        ServerBuilder::new(&upstream.url()).data_dir(data.path()).arguments(&["--allow-private-targets"]).start();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/alerts").await;
    browser.click("a[href='/settings#mail']").await;
    browser.wait_for_text("#mail ~ p", "There is none yet").await;
    browser.type_into("#mail-form [name=host]", "127.0.0.1").await;
    browser.type_into("#mail-form [name=port]", &mails.port.to_string()).await;
    browser.type_into("#mail-form [name=from]", "AgentGazer <gazer@example.com>").await;
    browser.click("#mail-form [name=security] option[value=none]").await;
    browser.click("#mail-form button").await;
    browser.wait_for_text("#notice", "The next mail goes through this server.").await;
    browser.type_into("#mail-test [name=to]", "me@example.com").await;
    browser.click("#mail-test button").await;
    browser.wait_for_text("#tested", "Delivered").await;

    // The same server after a restart, for a channel.
    let port = server.dashboard.rsplit_once(':').unwrap().1.to_owned();
    let server = server.kill().port(&port).start();
    browser.go("/alerts?add=email#channel-box").await;
    browser.type_into("#add-channel input[name=name]", "on call").await;
    browser.type_into("#add-channel input[name=to]", "ops@example.com").await;
    browser.click("#add-channel button").await;
    browser.click("form[action$='/test'] button").await;
    browser.wait_for_text("#tested", "Delivered").await;
    let sent = mails.until(2).await;
    assert_eq!((&sent[0].to[0], &sent[1].to[0]), (&"me@example.com".to_owned(), &"ops@example.com".to_owned()));
    drop(server);
}
