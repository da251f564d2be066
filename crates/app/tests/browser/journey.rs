//! The way of a person from the first login to an agent that was stopped and runs again.

use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::support::{Receiver, Server, ServerBuilder, eventually, provider};

const AGENT: &str = "import-fixer";
const QUESTION: &str = "Why does the import of customer records fail?";

/// Lets the agent loop until it is refused.
async fn loop_until_refused(server: &Server) {
    for _ in 0..20 {
        if server.agent(AGENT).ask(QUESTION).await.is_inactive_response() {
            return;
        }
    }
    panic!("never refused");
}

/// Every number of the incident's page, against the API.
async fn check_incident(server: &Server, browser: &Browser) -> String {
    let incident = &server.incidents(AGENT).await[0];
    let id = incident["id"].as_str().unwrap().to_owned();
    browser.wait_for_text("#score", "Loop score").await;
    let (score, threshold) = (incident["score"].as_f64().unwrap(), incident["threshold"].as_f64().unwrap());
    let heading = format!("Loop score {score:.1} / {threshold} ({:.0} %)", score / threshold * 100.0);
    assert_eq!(browser.text("#score").await, heading);

    let table = browser.text("main table").await;
    for (name, key) in [
        ("Similar prompts", "similar_prompts"),
        ("Similar responses", "similar_responses"),
        ("Repeated tool calls", "repeated_tool_calls"),
    ] {
        let signal = &incident["signals"][key];
        let (count, weight, score) =
            (&signal["count"], signal["weight"].as_f64().unwrap(), signal["score"].as_f64().unwrap());
        let row = format!("{name} {count} ×{weight:.1} {score:.1}");
        assert!(table.contains(&row), "{row}: {table}");
    }
    assert!(table.contains(&format!("Total {score:.1}")), "{table}");

    let evidence = server.get(&format!("/api/incidents/{id}/evidence")).await;
    let evidence = evidence["items"].as_array().unwrap();
    assert_eq!(browser.run("return document.querySelectorAll('details.evidence').length").await, evidence.len());
    for call in evidence {
        let summary = browser.text(&format!("[id='call-{}'] summary", call["call_id"].as_str().unwrap())).await;
        let characters = format!("{} / {} characters", call["request_chars"], call["response_chars"]);
        assert!(summary.contains(&characters), "{summary}: {characters}");
    }
    id
}

#[tokio::test]
async fn from_the_login_to_an_agent_that_runs_again() {
    let provider = provider().await;
    let receiver = Receiver::start(http::StatusCode::NO_CONTENT, std::time::Duration::ZERO).await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--allow-private-targets"]).start();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for_text("#connection", "Live").await;
    assert!(browser.text("main").await.contains("No agents yet"));

    // The agent appears by itself.
    browser.go("/agents").await;
    browser.wait_for_text("#connection", "Live").await;
    browser.run("window.stays = true").await;
    server.agent(AGENT).ask("Are you there?").await;
    browser.wait_for_text("#agents", AGENT).await;

    // Turning the switch on without a channel asks first.
    browser.click(&format!("#agents a[href='/agents/{AGENT}']")).await;
    browser.click("input[name=enabled]").await;
    browser.click("#kill-switch .row button:not([name])").await;
    browser.wait_for_text("[role=alertdialog]", "No one would hear about it.").await;
    assert_eq!(server.get(&format!("/api/agents/{AGENT}")).await["kill_switch"]["enabled"], false);

    // Its way out: a channel, which is tested. Then nothing is asked any more.
    browser.click("[role=alertdialog] a").await;
    browser.type_into("#add-channel input[name=name]", "ops").await;
    browser.type_into("#add-channel input[name=url]", &receiver.url).await;
    browser.click("#add-channel button").await;
    browser.wait_for_text("#secret", "whsec_").await;
    browser.click("form[action$='/test'] button").await;
    browser.wait_for_text("#tested", "Delivered").await;
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.click("input[name=enabled]").await;
    browser.click("#kill-switch .row button:not([name])").await;
    browser.wait_for_text("#notice", "Saved.").await;
    assert_eq!(server.get(&format!("/api/agents/{AGENT}")).await["kill_switch"]["enabled"], true);

    // It loops: the badge appears without a reload.
    browser.go("/agents").await;
    browser.wait_for_text("#connection", "Live").await;
    browser.run("window.stays = true").await;
    loop_until_refused(&server).await;
    browser.wait_for_text("#agents .badge", "Deactivated by Kill Switch").await;
    browser.wait_for_text("#stopped", "1").await;
    assert_eq!(browser.run("return window.stays").await, true, "the page was not loaded again");

    browser.click("#agents td a[href^='/incidents/']").await;
    let incident = check_incident(&server, &browser).await;

    browser.go("/alerts").await;
    browser.wait_for_text("#history", "Delivered").await;
    assert!(receiver.all().len() >= 2, "the test and the kill were told");
    browser.go(&format!("/incidents/{incident}")).await;

    // Activating asks, then traffic flows and the window is empty.
    browser.click("#story summary").await;
    browser.click(&format!("form[action='/incidents/{incident}/activate'] button")).await;
    browser.wait_for_text("#notice", "Active again.").await;
    let agent = server.get(&format!("/api/agents/{AGENT}")).await;
    assert_eq!((&agent["active"], &agent["current_score"]), (&json!(true), &json!(0.0)));
    assert_eq!(server.agent(AGENT).ask(QUESTION).await.status, 200);
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.wait_for_text("#score", "Loop score 0.0").await;
    browser.click("button[role=switch][aria-checked=true]").await;
    browser.wait_for_text("#state", "Inactive").await;
    assert!(server.agent(AGENT).ask(QUESTION).await.is_inactive_response());
    assert_eq!(browser.log().await, Vec::<String>::new(), "nothing was refused or failed");
}

#[tokio::test]
async fn everything_works_without_script() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.agent(AGENT).ask("Are you there?").await;
    let browser = Browser::logged_in(&server, Kind::WITHOUT_SCRIPT).await;
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.click("input[name=enabled]").await;
    browser.click("button[name=preset][value=tight]").await;
    browser.click("[role=alertdialog] button[name=anyway]").await;
    browser.wait_for_text("#notice", "Saved.").await;
    let settings = server.get(&format!("/api/agents/{AGENT}")).await["kill_switch"].clone();
    assert_eq!((&settings["enabled"], &settings["window_size"]), (&json!(true), &json!(10)));

    loop_until_refused(&server).await;
    browser.reload().await;
    browser.wait_for_text("#state", "Deactivated by Kill Switch").await;
    browser.click("#stop a[href^='/incidents/']").await;
    let incident = check_incident(&server, &browser).await;
    browser.click("#feedback ~ form button[value=loop]").await;
    browser.wait_for_text("#notice", "Thank you.").await;
    browser.click("#story summary").await;
    browser.click(&format!("form[action='/incidents/{incident}/activate'] button")).await;
    browser.wait_for_text("#notice", "Active again.").await;
    assert_eq!(server.agent(AGENT).ask(QUESTION).await.status, 200);
    assert!(!server.incidents(AGENT).await[0]["feedback"].is_null());
}

#[tokio::test]
async fn a_lost_connection_is_said_and_found_again() {
    let provider = provider().await;
    let data = tempfile::tempdir().unwrap();
    let server = ServerBuilder::new(&provider.url()).data_dir(data.path()).start();
    let port = server.dashboard.rsplit_once(':').unwrap().1.to_owned();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for_text("#connection", "Live").await;
    let stopped = server.kill();
    browser.wait_for_text("#connection", "Not live: trying again in").await;

    let server = stopped.port(&port).start();
    eventually("the session has ended with the server: the login is shown", async || {
        (browser.path().await.starts_with("/login")).then_some(())
    })
    .await;
    drop(server);
}

#[tokio::test]
async fn the_what_if_answers_while_its_sliders_move() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for _ in 0..6 {
        server.agent(AGENT).ask(QUESTION).await;
    }
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.wait_for_text("#what-if", "It would have stopped 1 time in 6 calls").await;
    browser.wait_for_text("#recent", "1 calls since the last activation would have been stopped").await;
    slide(&browser, "#try-threshold", 40).await;
    browser.wait_for_text("#what-if", "It would have stopped nothing in 6 calls.").await;
    slide(&browser, "#try-threshold", 3).await;
    browser.wait_for_text("#what-if", "Window 20, threshold 3.").await;
    slide(&browser, "#try-window", 4).await;
    browser.wait_for_text("#what-if", "Window 4, threshold 3.").await;
    browser.click("#what-if form button").await;
    browser.wait_for_text("#notice", "Saved.").await;
    let settings = server.get(&format!("/api/agents/{AGENT}")).await["kill_switch"].clone();
    assert_eq!((&settings["window_size"], &settings["threshold"]), (&json!(4), &json!(3.0)));
}

async fn slide(browser: &Browser, slider: &str, value: u32) {
    browser
        .run(&format!(
            "const slider = document.querySelector('{slider}'); slider.value = {value}; \
         slider.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        ))
        .await;
}
