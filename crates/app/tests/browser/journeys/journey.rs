//! From the first login to an agent that was stopped and runs again.

use fake_provider::FakeProvider;
use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::support::{Receiver, Server, ServerBuilder, eventually, provider};

pub(crate) const AGENT: &str = "import-fixer";
pub(crate) const QUESTION: &str = "Why does the import of customer records fail?";

/// Repeats a call until it is refused.
async fn loop_until_refused(server: &Server) {
    for _ in 0..20 {
        if server.agent(AGENT).ask(QUESTION).await.is_inactive_response() {
            return;
        }
    }
    panic!("never refused");
}

/// Compares every number of the incident's page with the API.
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
        let shown = format!("[id='call-{}']", call["call_id"].as_str().unwrap());
        assert!(browser.text(&format!("{shown} summary")).await.starts_with("Call "), "{shown}");
        let prompt = browser.run(&format!("return document.querySelector(\"{shown} pre\").textContent")).await;
        assert!(prompt.as_str().is_some_and(|prompt| prompt.contains(QUESTION)), "{shown}: {prompt}");
    }
    id
}

/// The server and the browser of a journey.
struct Journey {
    server: Server,
    browser: Browser,
    receiver: Receiver,
}

impl Journey {
    async fn start(provider: &FakeProvider, kind: Kind) -> Journey {
        let receiver = Receiver::start(http::StatusCode::NO_CONTENT, std::time::Duration::ZERO).await;
        let server = ServerBuilder::new(&provider.url()).arguments(&["--allow-private-targets"]).start();
        let browser = Browser::logged_in(&server, kind).await;
        Journey { server, browser, receiver }
    }

    /// Opens a page and waits until it receives live updates.
    async fn watch(&self, path: &str) {
        self.browser.go(path).await;
        if self.browser.kind.has_script {
            self.browser.wait_for_text("#connection", "Live").await;
            self.browser.run("window.stays = true").await;
        }
    }

    /// Waits until the page says `text`, live or, without script, after a reload.
    async fn sees(&self, selector: &str, text: &str) {
        if self.browser.kind.has_script {
            self.browser.wait_for_text(selector, text).await;
            assert_eq!(self.browser.run("return window.stays").await, true, "the page was not loaded again");
            return;
        }
        eventually(&format!("{selector} says {text:?}"), async || {
            self.browser.reload().await;
            self.browser.text(selector).await.contains(text).then_some(())
        })
        .await;
    }

    async fn agent(&self) -> serde_json::Value {
        self.server.get(&format!("/api/agents/{AGENT}")).await
    }

    /// Enables the kill switch.
    async fn enable(&self) {
        self.browser.go(&format!("/agents/{AGENT}")).await;
        self.browser.click("#switch button").await;
    }

    async fn the_agent_appears_by_itself(&self) {
        assert!(self.browser.text("main").await.contains("No agents yet"));
        self.watch("/agents").await;
        self.server.agent(AGENT).ask("Are you there?").await;
        self.sees("#agents", AGENT).await;
        self.browser.click(&format!("#agents a[href='/agents/{AGENT}']")).await;
        self.browser.wait_for_text("#switch-title", "Kill Switch").await;
    }

    async fn without_a_channel_it_asks_first(&self) {
        self.enable().await;
        self.browser.wait_for_text("[role=alertdialog]", "No one would be notified.").await;
        assert_eq!(self.agent().await["kill_switch"]["enabled"], false);
        self.browser.click("[role=alertdialog] a").await;
    }

    /// After this the page asks no more.
    async fn a_channel_is_added_and_tested(&self) {
        self.browser.type_into("#add-channel input[name=name]", "ops").await;
        self.browser.type_into("#add-channel input[name=url]", &self.receiver.url).await;
        self.browser.click("#add-channel button").await;
        self.browser.wait_for_text("#secret", "whsec_").await;
        self.browser.click("form[action$='/test'] button").await;
        self.browser.wait_for_text("#tested", "Delivered").await;
        assert_eq!(self.receiver.all().len(), 1, "the test was told");
        self.enable().await;
        self.browser.wait_for_text("#notice", "The kill switch is on").await;
        assert_eq!(self.agent().await["kill_switch"]["enabled"], true);
    }

    /// Returns the incident.
    async fn it_loops_and_the_badge_appears(&self) -> String {
        self.watch("/agents").await;
        loop_until_refused(&self.server).await;
        self.sees("#agents .badge", "Deactivated by Kill Switch").await;
        self.sees("#stopped", "1").await;
        self.browser.click("#agents td a[href^='/incidents/']").await;
        let incident = check_incident(&self.server, &self.browser).await;
        self.watch("/alerts").await;
        self.sees("#history", "Delivered").await;
        eventually("the kill was told", async || (self.receiver.all().len() == 2).then_some(())).await;
        incident
    }

    /// Calls pass and the window is empty.
    async fn activated_it_runs_again(&self, incident: &str) {
        self.browser.go(&format!("/incidents/{incident}")).await;
        self.browser.click("#story summary").await;
        self.browser.click(&format!("form[action='/incidents/{incident}/activate'] button")).await;
        self.browser.wait_for_text("#notice", "Active again.").await;
        let agent = self.agent().await;
        assert_eq!((&agent["active"], &agent["current_score"]), (&json!(true), &json!(0.0)));
        assert_eq!(self.server.agent(AGENT).ask(QUESTION).await.status, 200);
        self.browser.go(&format!("/agents/{AGENT}")).await;
        self.browser.wait_for_text("#score", "Loop score 0.0").await;
    }

    async fn it_is_switched_off_by_hand_and_that_is_taken_back(&self) {
        self.browser.click("form[action$='/deactivate'] button[role=switch]").await;
        self.browser.wait_for_text("#state", "Inactive").await;
        assert!(self.server.agent(AGENT).ask(QUESTION).await.is_inactive_response());
        self.browser.click("#notice form button").await;
        self.browser.wait_for_text("#notice", "Active again.").await;
        assert_eq!(self.server.agent(AGENT).ask(QUESTION).await.status, 200);
    }
}

/// From the first login to an agent that was stopped and runs again.
async fn journey(kind: Kind) {
    let provider = provider().await;
    let journey = Journey::start(&provider, kind).await;
    journey.the_agent_appears_by_itself().await;
    journey.without_a_channel_it_asks_first().await;
    journey.a_channel_is_added_and_tested().await;
    let incident = journey.it_loops_and_the_badge_appears().await;
    journey.activated_it_runs_again(&incident).await;
    journey.it_is_switched_off_by_hand_and_that_is_taken_back().await;
    assert_eq!(journey.browser.log().await, Vec::<String>::new(), "nothing was refused or failed");
}

#[tokio::test]
async fn journey_on_a_desktop() {
    journey(Kind::DESKTOP).await;
}

#[tokio::test]
async fn journey_on_a_phone() {
    journey(Kind::PHONE).await;
}

#[tokio::test]
async fn journey_without_script() {
    journey(Kind::WITHOUT_SCRIPT).await;
}

#[tokio::test]
async fn journey_by_keyboard() {
    journey(Kind::BY_KEYBOARD).await;
}

#[tokio::test]
async fn presets_and_feedback_are_plain_forms() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.agent(AGENT).ask("Are you there?").await;
    let browser = Browser::logged_in(&server, Kind::WITHOUT_SCRIPT).await;
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.click("button[name=preset][value=tight]").await;
    browser.wait_for_text("#notice", "It stops nothing until the kill switch is on.").await;
    browser.click("#switch button").await;
    browser.click("[role=alertdialog] button[name=anyway]").await;
    browser.wait_for_text("#notice", "The kill switch is on").await;
    let settings = server.get(&format!("/api/agents/{AGENT}")).await["kill_switch"].clone();
    assert_eq!((&settings["enabled"], &settings["window_size"]), (&json!(true), &json!(10)));

    loop_until_refused(&server).await;
    browser.reload().await;
    browser.wait_for_text("#state", "Deactivated by Kill Switch").await;
    browser.click("#stop a[href^='/incidents/']").await;
    browser.click("#feedback ~ form button[value=loop]").await;
    browser.wait_for_text("#notice", "Thank you.").await;
    assert!(!server.incidents(AGENT).await[0]["feedback"].is_null());
}

#[tokio::test]
async fn lost_connection_is_shown_and_recovers() {
    let provider = provider().await;
    let data = tempfile::tempdir().unwrap();
    let server = ServerBuilder::new(&provider.url()).data_dir(data.path()).start();
    let port = server.dashboard.rsplit_once(':').unwrap().1.to_owned();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for_text("#connection", "Live").await;
    let stopped = server.kill();
    browser.wait_for_text("#connection", "Not live: trying again in").await;

    let server = stopped.port(&port).start();
    // The session still exists: no action is needed.
    browser.wait_for_text("#connection", "Live").await;
    assert_eq!(browser.run("return document.getElementById('lost').hidden").await, true);
    drop(server);
}
