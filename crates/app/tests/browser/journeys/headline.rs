//! The headline of Overview and Agents names what needs a person, each with its button, and says
//! that all is well only if it is.

use fake_provider::{Behaviour, FakeProvider, Fault, Script};
use http::{Method, StatusCode};
use serde_json::json;
use sqlx::{Connection, Executor, SqliteConnection};

use crate::agents::policy::ask;
use crate::driver::{Browser, Kind};
use crate::scene;
use crate::support::{Receiver, Server, ServerBuilder, provider, skip_without_sqlite};

/// Waits until the headlines of both pages say `expected` and nothing reassuring.
async fn both_say(browser: &Browser, expected: &str) {
    for path in ["/", "/agents"] {
        browser.go(path).await;
        browser.wait_for_text("#summary", expected).await;
        assert!(!browser.text("#summary").await.contains("Nothing needs you"), "{path}");
        browser.wait_for("#summary.alarm").await;
    }
}

/// A day of the week that is neither today nor next to it.
fn another_day() -> &'static str {
    let days = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    // The first of January 1970 was a Thursday.
    ["thu", "fri", "sat", "sun", "mon", "tue", "wed"][(days as usize + 3) % 7]
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
    // The page of each agent says it too, with the button that fits.
    browser.go("/agents/watched").await;
    browser.wait_for_text(".needs", "watched is looping and nothing stops it: its kill switch only observes.").await;
    assert!(browser.text(".needs form[action$='/kill-switch'] button").await.contains("Let its kill switch stop it"));
    browser.go("/agents/switched-off").await;
    browser.click(".needs form[action='/agents/switched-off/kill-switch'] button").await;
    // No one would be notified, so the page asks first.
    browser.click("[role=alertdialog] button[name=anyway]").await;
    browser.wait_for_text("#notice", "The kill switch is on").await;
    assert_eq!(server.get("/api/agents/switched-off").await["kill_switch"]["enabled"], json!(true));
}

#[tokio::test]
async fn stopped_agent_without_notification_is_activated_from_the_list() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    scene::kill(&server, scene::STUCK).await;
    let browser = Browser::logged_in(&server, Kind::PHONE).await;
    both_say(&browser, "1 of 1 agent is stopped. No one was told of 1 kill.").await;
    assert!(browser.find(".needs a[href='/alerts']").await.is_some(), "leads to who is told");
    browser.go(&format!("/agents/{}", scene::STUCK)).await;
    browser.wait_for_text("#stop", "No one was told.").await;
    browser.go("/agents").await;
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
    // None of its calls is ever let through, so the detector does not know it.
    let hours = json!({"allowed_hours": [{"days": [another_day()], "from": "10:00", "to": "11:00"}]});
    server.api(Method::PUT, "/api/agents/early/policy", Some(hours)).await;
    for number in 0..12 {
        server.agent("early").ask(&format!("A question out of hours, number {number}?")).await;
    }
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    both_say(&browser, "Most calls of 3 agents fail or are refused.").await;
    browser.wait_for_text("table.agents tr[data-key=early]", "Most calls are refused").await;
    browser.go("/").await;
    browser.click(".needs a[href^='/requests?agent=failing&show=failed']").await;
    browser.wait_for_text("#summary", "12 calls: 12 failed.").await;
    browser.go("/").await;
    browser.click(".needs a[href^='/requests?agent=hurried&show=blocked']").await;
    browser.wait_for_text("#requests", "too many calls").await;
    for (agent, said) in [
        ("failing", "Newest error: 500"),
        ("hurried", "Newest refusal: too many calls."),
        ("early", "Newest refusal: outside allowed hours."),
    ] {
        browser.go(&format!("/agents/{agent}")).await;
        browser.wait_for_text(".needs", &format!("{agent} made 1")).await;
        browser.wait_for_text(".needs", said).await;
    }
}

#[tokio::test]
async fn provider_s_own_message_is_the_cause_of_a_failing_agent() {
    let broken = Script::chosen(|_| Behaviour::fault(Fault::Status(StatusCode::UNAUTHORIZED)));
    let upstream = FakeProvider::start(0, broken).await.unwrap();
    let server = ServerBuilder::new(&upstream.url()).start();
    for number in 0..12 {
        server.agent("failing").ask(&format!("Question {number} about the weather in town {number}?")).await;
    }
    let browser = Browser::logged_in(&server, Kind::PHONE).await;
    both_say(&browser, "Most calls of 1 agent fail or are refused.").await;
    for path in ["/", "/agents/failing"] {
        browser.go(path).await;
        browser.wait_for_text(".needs", "Newest error: 401, The built-in provider was told to answer 401").await;
    }
    browser.click(".needs a[href^='/requests?agent=failing&show=failed']").await;
    browser.wait_for_text("#requests tbody tr:first-child .event", "told to answer 401").await;
    browser.click("#requests tbody tr:first-child .when a").await;
    browser.wait_for_text("#error", "told to answer 401").await;
}

#[tokio::test]
async fn agent_whose_calls_succeed_again_needs_no_one() {
    let script = Script::chosen(|asking| match asking.last_user_text() {
        asked if asked.contains("weather") => Behaviour::fault(Fault::Status(StatusCode::INTERNAL_SERVER_ERROR)),
        asked => Behaviour::text(&format!("About “{asked}”: done.")),
    });
    let upstream = FakeProvider::start(0, script).await.unwrap();
    let server = ServerBuilder::new(&upstream.url()).start();
    for number in 0..20 {
        server.agent("patient").ask(&format!("Question {number} about the weather in town {number}?")).await;
    }
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    both_say(&browser, "Most calls of 1 agent fail or are refused.").await;
    for word in ["tides", "copper", "bridges", "violins", "kilns", "comets", "ferries", "looms", "orchards", "saffron"]
    {
        server.agent("patient").ask(&format!("Write one line about {word} for the museum.")).await;
    }
    browser.go("/agents/patient").await;
    browser.wait_for_text("#facts", "30").await;
    assert_eq!(browser.find(".needs").await, None);
    browser.go("/").await;
    browser.wait_for_text("#summary", "Nothing needs you.").await;
}

#[tokio::test]
async fn kills_reach_someone_as_soon_as_a_channel_delivers() {
    let upstream = provider().await;
    let receiver = Receiver::start(StatusCode::OK, std::time::Duration::ZERO).await;
    let server = ServerBuilder::new(&upstream.url()).arguments(&["--allow-private-targets"]).start();
    scene::kill(&server, scene::STUCK).await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/").await;
    browser.wait_for_text(".needs", "Kills reach no one until a channel is on and delivers.").await;
    let channel = json!({"kind": "webhook", "name": "ops", "url": receiver.url});
    server.api(Method::POST, "/api/channels", Some(channel)).await;
    both_say(&browser, "No one was told of 1 kill.").await;
    assert!(!browser.text(".needs").await.contains("Kills reach no one"), "the next kill is told");
}

/// Every agent that is counted has a line or is counted in one.
#[tokio::test]
async fn more_agents_than_are_listed_are_counted() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    for number in 0..7 {
        let agent = format!("looper-{number}");
        server.kill_switch(&agent, json!({"enabled": true})).await;
        repeat(&server, &agent).await;
    }
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    both_say(&browser, "7 of 7 agents are stopped.").await;
    let said = browser.text(".needs").await;
    assert_eq!(said.matches(" is stopped by the kill switch.").count(), 5, "{said}");
    assert!(said.contains("2 more agents are stopped by the kill switch."), "{said}");
    browser.click(".needs a[href='/agents?state=stopped']").await;
    browser.wait_for("tr[data-key=looper-6]").await;
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
    browser.wait_for_text(".needs", "saver has spent its budget: its calls are refused.").await;
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
    browser.wait_for_text("#tested .notice.amber", "502").await;
    browser.wait_for_text(".badge.killed", "Fails").await;
    browser.wait_for_text("#summary.alarm", "No one is notified of kills: the only channel fails.").await;
    let incident = scene::kill(&server, scene::STUCK).await;
    browser.go(&format!("/incidents/{incident}")).await;
    browser.wait_for_text("#told", "No one was told yet: ops trying again").await;
}

#[tokio::test]
async fn channel_that_begins_to_fail_is_red_on_the_open_page() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).arguments(&["--allow-private-targets"]).start();
    let (mut receivers, mut rows, mut path) = (Vec::new(), Vec::new(), String::new());
    for (name, status) in [("gone", StatusCode::GONE), ("ops", StatusCode::BAD_GATEWAY)] {
        let receiver = Receiver::start(status, std::time::Duration::ZERO).await;
        let channel = json!({"kind": "webhook", "name": name, "url": receiver.url});
        let made = server.api(Method::POST, "/api/channels", Some(channel)).await;
        let id = made["id"].as_str().unwrap();
        path = format!("/api/channels/{id}");
        rows.push(format!("tr[data-key='{id}']"));
        receivers.push(receiver);
    }
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/alerts").await;
    browser.wait_for("#connection.live").await;
    for row in &rows {
        browser.wait_for_text(&format!("{row} .badge.active"), "On").await;
    }
    scene::kill(&server, scene::STUCK).await;
    browser.wait_for_text(&format!("{} .badge.killed", rows[1]), "Fails").await;
    browser.wait_for_text(&format!("{} .tone.red", rows[1]), "502").await;
    // The server switches off what is gone for good: that is no decision of a person.
    browser.wait_for_text(&format!("{} .badge.killed", rows[0]), "Off").await;
    browser.wait_for_text(&format!("{} .tone.red", rows[0]), "410").await;

    let listed = server.run(&["alerts"]);
    assert!(listed.said().contains("fails: 502"), "{listed:?}");
    assert!(server.get(&path).await["failing"].as_str().unwrap().starts_with("502"));
    // Switched off elsewhere: the open page offers to switch it on.
    server.api(Method::PATCH, &path, Some(json!({"enabled": false}))).await;
    browser.wait_for_text(&format!("{} .badge.inactive", rows[1]), "Off").await;
    browser.wait_for_text(&format!("{} form[action$='/switch'] button", rows[1]), "Turn on").await;
}

#[tokio::test]
async fn server_that_records_nothing_says_so_before_all_else() {
    if skip_without_sqlite() {
        return;
    }
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
    // The open page says it without a reload, although no event is recorded.
    browser.wait_for_text("#summary", "Nothing is recorded.").await;
    both_say(&browser, "Nothing is recorded.").await;
    assert!(browser.text(".needs").await.contains("This server records nothing:"));
    lock.execute("rollback").await.unwrap();
    browser.wait_for_text("#summary", "Nothing needs you.").await;
}
