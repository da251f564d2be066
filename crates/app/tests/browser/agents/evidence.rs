//! The evidence of an incident on its page.

use fake_provider::FakeProvider;
use serde_json::{Value, json};

use crate::driver::{Browser, Kind};
use crate::support::{Answer, Server, ServerBuilder, provider};

const AGENT: &str = "test-runner";
const RESULT: &str = "error: cannot find module `customers` in src/main.rs";

/// Reports the result of the same command once more, with the whole history.
async fn step(server: &Server, number: usize) -> Answer {
    let mut messages = vec![json!({"role": "user", "content": "Make the tests pass, please."})];
    for turn in 0..=number {
        let call = json!({"id": format!("call_{turn}"), "type": "function",
            "function": {"name": "run", "arguments": "{\"command\":\"cargo test\"}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("call_{turn}"), "content": RESULT}));
    }
    server.agent(AGENT).chat(&json!({"model": "gpt-4o", "messages": messages})).await
}

/// Runs the same command until the agent is stopped; returns the incident.
async fn tool_loop(server: &Server) -> Value {
    server.kill_switch(AGENT, json!({"enabled": true})).await;
    for number in 0..30 {
        if step(server, number).await.is_inactive_response() {
            return server.incidents(AGENT).await.remove(0);
        }
    }
    panic!("it was not stopped");
}

async fn stopped() -> (FakeProvider, Server, String) {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let id = tool_loop(&server).await["id"].as_str().unwrap().to_owned();
    (provider, server, id)
}

#[tokio::test]
async fn evidence_of_a_tool_loop_shows_results_times_and_whole_bodies() {
    let (_provider, server, id) = stopped().await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go(&format!("/incidents/{id}")).await;
    let last = "details.evidence[open]";
    browser.wait_for_text(last, "Result of the tool calls").await;
    let said = browser.text(last).await;
    assert!(said.contains(RESULT), "the cause of the loop: {said}");
    assert!(said.contains(&format!("{} characters", RESULT.chars().count())), "what is counted is shown: {said}");
    assert!(said.contains(" after call "), "the gap to the call before: {said}");
    assert!(said.contains("never sent, so there is no response"), "{said}");
    let clock = browser.text(&format!("{last} time")).await;
    assert_eq!(clock.matches(':').count(), 2, "hours, minutes and seconds: {clock}");

    // The whole body, in place.
    browser.click(&format!("{last} [data-show]")).await;
    browser.wait_for_text(&format!("{last} pre[id^=request]"), "\"role\": \"tool\"").await;
    assert!(browser.path().await.starts_with(&format!("/incidents/{id}")));
    browser.click(&format!("{last} [data-show]")).await;
    assert_eq!(browser.text(&format!("{last} pre[id^=request]")).await, "", "a second click hides it");
    assert_eq!(browser.log().await, Vec::<String>::new());
}

#[tokio::test]
async fn whole_body_is_shown_without_script() {
    let (_provider, server, id) = stopped().await;
    let browser = Browser::logged_in(&server, Kind::WITHOUT_SCRIPT).await;
    browser.go(&format!("/incidents/{id}")).await;
    browser.click("details.evidence[open] [data-show]").await;
    browser.wait_for_text("body", "\"role\": \"tool\"").await;
    assert!(browser.path().await.ends_with("/request?show=true"));
}

#[tokio::test]
async fn any_two_calls_of_the_evidence_are_compared_side_by_side() {
    let (_provider, server, id) = stopped().await;
    let browser = Browser::logged_in(&server, Kind::WITHOUT_SCRIPT).await;
    browser.go(&format!("/incidents/{id}")).await;
    browser.click("select[name=left] option:first-child").await;
    browser.click("#compare ~ form button").await;
    browser.wait_for(".compared").await;
    let said = browser.text("section[aria-labelledby=compare]").await;
    assert!(said.contains("Call 1: Tool calls") && said.contains("run({\"command\":\"cargo test\"})"), "{said}");
    assert!(said.contains("Result of the tool calls") && said.contains(RESULT), "{said}");
}

#[tokio::test]
async fn incident_list_has_duration_calls_and_cost() {
    let (_provider, server, id) = stopped().await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/incidents").await;
    let head = browser.text("table.incidents thead").await;
    assert!(head.contains("Lasted") && head.contains("Calls") && head.contains("Cost"), "{head}");
    let row = browser.text(&format!("tr[data-key='{id}']")).await;
    assert!(row.contains('$') && [" ms", " s"].iter().any(|unit| row.contains(unit)), "{row}");

    // The sentences on its own page agree.
    let incident = server.get(&format!("/api/incidents/{id}")).await;
    let repeats = incident["signals"]["repeated_tool_calls"]["count"].as_u64().unwrap();
    let calls = repeats + 1;
    browser.go(&format!("/incidents/{id}")).await;
    let story = browser.text("#story").await;
    assert!(story.contains(&format!("repeated its tool calls {repeats} times")), "{story}");
    assert!(story.contains(&format!("The same call {calls} times in a row")), "{story}");
    assert!(story.contains(&format!("{calls} calls")), "{story}");
}

/// Two commands in turn: no sentence says that they are the same.
#[tokio::test]
async fn round_of_different_tool_calls_is_told_as_one() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch(AGENT, json!({"enabled": true})).await;
    let mut messages = vec![json!({"role": "user", "content": "Make the tests pass, please."})];
    for turn in 0..30 {
        if server.agent(AGENT).chat(&json!({"model": "gpt-4o", "messages": messages})).await.is_inactive_response() {
            break;
        }
        let (command, result) = [("cargo test", RESULT), ("cat src/main.rs", "fn main() {}")][turn % 2];
        let arguments = json!({"command": command}).to_string();
        let id = format!("call_{turn}");
        let call = json!({"id": id, "type": "function", "function": {"name": "run", "arguments": arguments}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
    let incident = server.incidents(AGENT).await.remove(0);
    let (id, cycle) = (incident["id"].as_str().unwrap(), &incident["cycle"]);
    assert_eq!(cycle["period"], json!(2), "{incident}");
    let repeats = incident["signals"]["repeated_tool_calls"]["count"].as_u64().unwrap();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go(&format!("/incidents/{id}")).await;
    let story = browser.text("#story").await;
    assert!(story.contains(&format!("repeated its tool calls {repeats} times")), "{story}");
    assert!(story.contains(&format!("2 calls in the same order, {} laps", cycle["laps"])), "{story}");

    // Each call names one that reports the same, and none names itself.
    let told = browser
        .run(
            "return [...document.querySelectorAll('details.evidence')].map((call) => [\
        call.querySelector('summary').textContent.replace(/\\s+/g, ' '), call.querySelector('pre')?.textContent])",
        )
        .await;
    let told: Vec<(String, String)> = serde_json::from_value(told).unwrap();
    let number = |summary: &str| summary.trim().split(' ').nth(1).unwrap().to_owned();
    for (summary, tool_calls) in &told {
        let Some((_, rest)) = summary.split_once("same tool calls as call ") else { continue };
        let with = rest.split([' ', ',']).next().unwrap();
        let other = told.iter().find(|(summary, _)| number(summary) == with).unwrap();
        assert_eq!(&other.1, tool_calls, "{summary}");
        assert_ne!(with, number(summary), "{summary}");
    }
    assert!(told.iter().any(|(summary, _)| summary.contains("same tool calls as call")), "{told:?}");
}

#[tokio::test]
async fn evidence_from_before_a_restart_says_what_is_missing_and_why() {
    let provider = provider().await;
    let builder = ServerBuilder::new(&provider.url()).arguments(&["--set", "evidence.keep_on_disk=false"]);
    let server = builder.start();
    server.kill_switch(AGENT, json!({"enabled": true})).await;
    for number in 0..3 {
        step(&server, number).await;
    }
    let (builder, status) = server.terminate();
    assert!(status.success());
    let server = builder.start();
    let id = tool_loop(&server).await["id"].as_str().unwrap().to_owned();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go(&format!("/incidents/{id}")).await;
    browser.click("details.evidence summary").await;
    browser.wait_for_text("details.evidence", "they were in memory only, and the server was restarted since").await;
    let said = browser.text("details.evidence").await;
    assert!(!said.contains("0 / 0") && !said.contains("0 characters"), "{said}");
    assert!(said.contains(':'), "its time is known all the same: {said}");
}

#[tokio::test]
async fn request_page_of_a_kill_says_that_it_was_refused_and_where_its_body_is() {
    let (_provider, server, id) = stopped().await;
    let kill = server.events(AGENT, "kill_switch").await.remove(0);
    let call = kill["id"].as_str().unwrap();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go(&format!("/requests/{call}")).await;
    browser.wait_for_text("#story", "it was refused and never sent, and the agent was stopped").await;
    browser.wait_for_text("#bodies", "Its request is kept as evidence of the incident.").await;
    browser.click("#story a[href^='/incidents']").await;
    browser.wait_for(&format!("details.evidence#call-{call}[open]")).await;
    assert!(browser.path().await.starts_with(&format!("/incidents/{id}")));
}

#[tokio::test]
async fn requests_of_a_recorded_agent_are_shown_with_their_bodies() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", "recording.agents=scribe"]).start();
    let ask = async |agent: &str| {
        server.agent(agent).ask("Which rivers flow through Prague?").await;
        let calls = server.events(agent, "llm_call").await;
        calls[0]["id"].as_str().unwrap().to_owned()
    };
    let (recorded, other) = (ask("scribe").await, ask("passer-by").await);
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    // It is written within a second or two.
    crate::support::eventually("the call is recorded", async || {
        browser.go(&format!("/requests/{recorded}")).await;
        browser.find("#recorded").await
    })
    .await;
    browser.click("#recorded [data-show^=request]").await;
    browser.wait_for_text("#recorded pre[id^=request]", "Which rivers flow through Prague?").await;
    browser.click("#recorded [data-show^=response]").await;
    browser.wait_for_text("#recorded pre[id^=response]", "\"choices\": [").await;

    browser.go(&format!("/requests/{other}")).await;
    browser.wait_for_text("#bodies", "after that only as evidence").await;
    assert_eq!(browser.find("#recorded").await, None, "no other agent is recorded");
}
