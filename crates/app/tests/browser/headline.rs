//! The headline of Overview and Agents says what needs a person, each with its button, and says that
//! nothing does only if that is so.

use fake_provider::{Behaviour, FakeProvider, Fault, Script};
use http::{Method, StatusCode};
use serde_json::json;
use sqlx::{Connection, Executor, SqliteConnection};

use crate::driver::{Browser, Kind};
use crate::policy::ask;
use crate::scene;
use crate::support::{Receiver, Server, ServerBuilder, eventually, provider};

/// Waits until both pages say `expected` in their headline, and that no other calms.
async fn both_say(browser: &Browser, expected: &str) {
    for path in ["/", "/agents"] {
        browser.go(path).await;
        browser.wait_for_text("#summary", expected).await;
        assert!(!browser.text("#summary").await.contains("Nothing needs you"), "{path}");
        browser.wait_for("#summary.alarm").await;
    }
}

/// Asks the same until the score is above the threshold.
async fn repeat(server: &Server, agent: &str) {
    for _ in 0..12 {
        server.agent(agent).ask("Why does the import of customer records fail?").await;
    }
}

#[tokio::test]
async fn loop_that_nothing_stops_has_a_button_that_guards_it() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    server.kill_switch("switched-off", json!({"enabled": false})).await;
    server.kill_switch("watched", json!({"enabled": true, "action": "observe"})).await;
    repeat(&server, "switched-off").await;
    repeat(&server, "watched").await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    both_say(&browser, "2 agents loop unguarded.").await;
    let said = browser.text(".needs").await;
    assert!(said.contains("its kill switch is off") && said.contains("its kill switch only observes"), "{said}");
    browser.click(".needs form[action='/agents/switched-off/kill-switch'] button").await;
    // No one would be told: it asks before.
    browser.click("[role=alertdialog] button[name=anyway]").await;
    browser.wait_for_text("#notice", "The kill switch is on").await;
    assert_eq!(server.get("/api/agents/switched-off").await["kill_switch"]["enabled"], json!(true));
}

#[tokio::test]
async fn stopped_agent_of_whose_kill_no_one_was_told_is_activated_where_it_is_listed() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    scene::kill(&server, scene::STUCK).await;
    let browser = Browser::logged_in(&server, Kind::PHONE).await;
    both_say(&browser, "1 of 1 agent is stopped. No one was told of 1 kill.").await;
    assert!(browser.find(".needs a[href='/alerts']").await.is_some(), "leads to who is told");
    browser.click(".needs details:has(form[action$='/activate']) > summary").await;
    browser.click(".needs form[action$='/activate'] button").await;
    browser.wait_for_text("#notice", "Active again").await;
    browser.go("/").await;
    browser.wait_for_text("#summary", "Nothing needs you.").await;
}

#[tokio::test]
async fn agents_that_fail_or_are_refused_most_of_the_time_lead_to_their_requests() {
    let broken = Script::chosen(|_| Behaviour::fault(Fault::Status(StatusCode::INTERNAL_SERVER_ERROR)));
    let upstream = FakeProvider::start(0, broken).await.unwrap();
    let server = ServerBuilder::new(&upstream.url()).start();
    for number in 0..12 {
        server.agent("failing").ask(&format!("Question {number} about the weather in town {number}?")).await;
    }
    let rate = json!({"rate_limits": [{"provider": "*", "requests_per_minute": 1}]});
    server.agent("hurried").ask("Are you there?").await;
    server.api(Method::PUT, "/api/agents/hurried/policy", Some(rate)).await;
    for number in 0..12 {
        server.agent("hurried").ask(&format!("Another question, number {number}?")).await;
    }
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    both_say(&browser, "Most calls of 2 agents fail.").await;
    browser.click(".needs a[href^='/requests?agent=failing&show=failed']").await;
    browser.wait_for_text("#summary", "12 calls: 12 failed.").await;
    browser.go("/").await;
    browser.click(".needs a[href^='/requests?agent=hurried&show=blocked']").await;
    browser.wait_for_text("#requests", "too many calls").await;
}

#[tokio::test]
async fn spent_budget_leads_to_the_budget() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    assert_eq!(ask(&server, "saver", 0).await.status, 200);
    let cost = server.events("saver", "llm_call").await[0]["cost_usd"].as_f64().unwrap();
    let budget = json!({"budget_daily_usd": cost / 2.0});
    server.api(Method::PUT, "/api/agents/saver/policy", Some(budget)).await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    both_say(&browser, "1 budget is spent.").await;
    browser.click(".needs a[href='/agents/saver#policy']").await;
    browser.wait_for_text("h1", "saver").await;
}

#[tokio::test]
async fn failing_channel_is_tested_again_where_it_is_listed() {
    let upstream = provider().await;
    let receiver = Receiver::start(StatusCode::BAD_GATEWAY, std::time::Duration::ZERO).await;
    let server = ServerBuilder::new(&upstream.url()).arguments(&["--allow-private-targets"]).start();
    server.agent("calm").ask("Are you there?").await;
    let channel = json!({"kind": "webhook", "name": "ops", "url": receiver.url});
    let made = server.api(Method::POST, "/api/channels", Some(channel)).await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/agents").await;
    browser.wait_for_text("#summary", "Nothing needs you.").await;
    let test = format!("/api/channels/{}/test", made["id"].as_str().unwrap());
    server.api(Method::POST, &test, None).await;
    both_say(&browser, "1 channel fails.").await;
    assert!(browser.text(".needs").await.contains("ops does not deliver: 502"));
    browser.click(".needs form[action$='/test'] button").await;
    browser.wait_for_text("#tested", "502").await;
    browser.wait_for_text(".badge.killed", "Fails").await;
}

#[tokio::test]
async fn server_that_records_nothing_says_so_before_all_else() {
    let upstream = provider().await;
    let data = tempfile::tempdir().unwrap();
    let server = ServerBuilder::new(&upstream.url()).data_dir(data.path()).start();
    server.agent("calm").ask("Are you there?").await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/").await;
    browser.wait_for_text("#summary", "Nothing needs you.").await;

    let path = data.path().join("agentgazer.db");
    let mut lock = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
    lock.execute("begin immediate").await.unwrap();
    server.agent("calm").ask("Are you still there?").await;
    eventually("the headline says it", async || {
        browser.go("/").await;
        browser.text("#summary").await.starts_with("Nothing is recorded.").then_some(())
    })
    .await;
    both_say(&browser, "Nothing is recorded.").await;
    assert!(browser.text(".needs").await.contains("This server records nothing:"));
    lock.execute("rollback").await.unwrap();
    eventually("it is over", async || {
        browser.go("/").await;
        browser.text("#summary").await.contains("Nothing needs you.").then_some(())
    })
    .await;
}
