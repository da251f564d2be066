//! The first steps of a new user, and actions on several agents at once.

use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::support::{Receiver, ServerBuilder, provider};

#[tokio::test]
async fn first_steps_say_by_themselves_when_they_are_done() {
    let upstream = provider().await;
    let receiver = Receiver::start(http::StatusCode::OK, std::time::Duration::ZERO).await;
    let server = ServerBuilder::new(&upstream.url()).arguments(&["--allow-private-targets"]).start();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for_text("#start-call", "Waiting for the first call…").await;
    browser.click("#start-call summary").await;
    browser
        .wait_for_text("#paste-claude", &format!("ANTHROPIC_BASE_URL={}/agents/my-agent/anthropic", server.proxy))
        .await;

    server.agent("my-agent").ask("Are you there?").await;
    browser.wait_for_text("#start-call .badge", "Done").await;
    browser.click("#start-guard button").await;
    browser.wait_for_text("#start-guard .badge", "Done").await;
    assert_eq!(server.get("/api/agents/my-agent").await["kill_switch"]["enabled"], json!(true));

    let channel = json!({"kind": "webhook", "name": "ops", "url": receiver.url});
    server.api(http::Method::POST, "/api/channels", Some(channel)).await;
    browser.go("/drill").await;
    browser.click("form[action='/drill'] button").await;
    browser.wait_for_text("#drill", "and 1 channel was told.").await;
    assert!(browser.text("table").await.contains("delivered"));
    let agents = server.get("/api/agents").await;
    assert_eq!(agents["items"].as_array().unwrap().len(), 1, "the drill leaves nothing behind: {agents}");
}

/// With and without script.
#[tokio::test]
async fn selected_agents_are_switched_together() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    for agent in ["one", "two", "three"] {
        server.agent(agent).ask("Are you there?").await;
    }
    for (kind, button, expected) in [(Kind::DESKTOP, "on", true), (Kind::WITHOUT_SCRIPT, "off", false)] {
        let browser = Browser::logged_in(&server, kind).await;
        browser.go("/agents").await;
        for agent in ["one", "three"] {
            browser.click(&format!("input[name=agent][value={agent}]")).await;
        }
        browser.click(&format!("#selected button[value={button}]")).await;
        browser.wait_for_text("#notice", "every selected agent").await;
        for (agent, is_on) in [("one", expected), ("two", false), ("three", expected)] {
            let settings = server.get(&format!("/api/agents/{agent}")).await["kill_switch"].clone();
            assert_eq!(settings["enabled"], json!(is_on), "{agent} {button}");
        }
    }
}

/// An open page fetches only differences while calls come in.
#[tokio::test]
async fn busy_page_is_sent_what_differs() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    for number in 0..60 {
        server.agent("busy").ask(&format!("Question {number} about the garden?")).await;
    }
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/requests").await;
    browser.wait_for_text("#connection", "Live").await;
    let seen = "return performance.getEntriesByType('resource').filter((it) => it.initiatorType === 'fetch')\
        .map((it) => it.decodedBodySize)";
    for number in 0..3 {
        let before = browser.run(seen).await.as_array().unwrap().len();
        server.agent("busy").ask(&format!("One more, number {number}?")).await;
        crate::support::eventually("the page has asked again", async || {
            (browser.run(seen).await.as_array().unwrap().len() > before).then_some(())
        })
        .await;
    }
    let sizes: Vec<u64> = browser.run(seen).await.as_array().unwrap().iter().filter_map(|it| it.as_u64()).collect();
    let (whole, changes) = (sizes.iter().max().unwrap(), sizes.last().unwrap());
    assert!(changes * 5 < *whole, "{sizes:?}: the last answer holds only what is new");
}
