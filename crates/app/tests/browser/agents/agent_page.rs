//! The page of one agent: conversations by their first words, a burst of refusals in one row, and
//! the recording switch.

use http::Method;
use serde_json::{Value, json};

use crate::driver::{Browser, Kind};
use crate::support::{ServerBuilder, eventually, provider};

const AGENT: &str = "scribe";

#[tokio::test]
async fn conversations_are_named_by_their_first_words() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let mut messages = vec![json!({"role": "user", "content": "Tidy up the source folder, please.\n\nFile by file."})];
    for step in 0..3 {
        server.agent(AGENT).chat(&json!({"model": "gpt-4o", "messages": messages})).await;
        messages.push(json!({"role": "assistant", "content": format!("Step {step} is done.")}));
        messages.push(json!({"role": "user", "content": format!("Go on with step {}.", step + 1)}));
    }
    server.agent(AGENT).ask("What is the <b>weather</b> in Bergen?").await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    eventually("both conversations are listed", async || {
        browser.go(&format!("/agents/{AGENT}")).await;
        let said = browser.text("#conversations").await;
        let both = said.contains("Tidy up the source folder, please. File by file.")
            && said.contains("What is the <b>weather</b> in Bergen?");
        both.then_some(())
    })
    .await;
    browser.click("#conversations a").await;
    browser.wait_for_text("#summary", "calls: none failed.").await;
}

#[tokio::test]
async fn storm_of_refusals_is_one_row() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    server.agent(AGENT).ask("Are you there?").await;
    server.api(Method::PATCH, &format!("/api/agents/{AGENT}"), Some(json!({"active": false}))).await;
    for _ in 0..30 {
        server.agent(AGENT).ask("And now?").await;
    }
    let browser = Browser::logged_in(&server, Kind::PHONE).await;
    eventually("all are counted", async || {
        browser.go(&format!("/agents/{AGENT}")).await;
        browser.text("#requests").await.contains("30 calls").then_some(())
    })
    .await;
    // One row for the burst, one for the deactivation, one for the call before.
    assert_eq!(browser.run("return document.querySelectorAll('#requests tbody tr').length").await, json!(3));
    let facts_first = "const top = (id) => document.getElementById(id).getBoundingClientRect().top;\
        return top('facts') < top('score') && top('score') < top('kill-switch')";
    assert_eq!(browser.run(facts_first).await, json!(true));
}

#[tokio::test]
async fn recording_is_switched_on_and_off_on_the_page() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let ask = async |question: &str| -> String {
        server.agent(AGENT).ask(question).await;
        let calls: Vec<Value> = server.events(AGENT, "llm_call").await;
        calls[0]["id"].as_str().unwrap().to_owned()
    };
    let before = ask("Which rivers flow through Prague?").await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.click("#recording summary").await;
    browser.wait_for_text("#recording form", "Operators and administrators can read them.").await;
    browser.click("#recording form button").await;
    browser.wait_for_text("#notice", "are recorded from now on").await;
    let path = format!("/api/agents/{AGENT}/recording");
    assert_eq!(server.get(&path).await["enabled"], json!(true));

    let recorded = ask("Which rivers flow through Vienna?").await;
    eventually("the call is recorded", async || {
        browser.go(&format!("/requests/{recorded}")).await;
        browser.find("#recorded").await
    })
    .await;
    browser.go(&format!("/requests/{before}")).await;
    assert_eq!(browser.find("#recorded").await, None, "nothing of before is recorded");

    browser.go(&format!("/agents/{AGENT}")).await;
    browser.click("#recording form button").await;
    browser.wait_for_text("#notice", "Nothing more is recorded.").await;
    assert_eq!(server.get(&path).await["enabled"], json!(false));
    let server = server.kill().start();
    assert_eq!(server.get(&path).await["enabled"], json!(false));
}
