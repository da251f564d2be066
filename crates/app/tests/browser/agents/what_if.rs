//! The what-if of an agent's page: it answers while its sliders move, even if answers come late.

use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::journeys::journey::{AGENT, QUESTION};
use crate::support::{Server, ServerBuilder, eventually, provider};

/// Holds back the next request of the page until `window.release` is called, and reports when its
/// answer has come.
const HOLD_THE_NEXT: &str = "
    const send = XMLHttpRequest.prototype.send;
    const ask = window.fetch;
    window.answered = false;
    const restore = () => {
        XMLHttpRequest.prototype.send = send;
        window.fetch = ask;
    };
    XMLHttpRequest.prototype.send = function (...fields) {
        restore();
        this.addEventListener('loadend', () => (window.answered = true));
        window.release = () => send.apply(this, fields);
    };
    window.fetch = (...fields) => {
        restore();
        return new Promise((resolve) => {
            window.release = async () => {
                const answer = await ask(...fields);
                const copy = answer.clone();
                resolve(answer);
                await copy.text();
                setTimeout(() => (window.answered = true));
            };
        });
    };";

/// A server whose agent has asked the same six times, and its page.
async fn open(server: &Server) -> Browser {
    for _ in 0..6 {
        server.agent(AGENT).ask(QUESTION).await;
    }
    let browser = Browser::logged_in(server, Kind::DESKTOP).await;
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.wait_for_text("#connection", "Live").await;
    browser
}

async fn slide(browser: &Browser, slider: &str, value: u32) {
    browser
        .run(&format!(
            "const slider = document.querySelector('{slider}'); slider.value = {value}; \
         slider.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        ))
        .await;
}

async fn is_held(browser: &Browser) {
    eventually("a request is held", async || {
        (browser.run("return typeof window.release").await == "function").then_some(())
    })
    .await;
}

/// Releases the held request, and waits for its answer.
async fn release(browser: &Browser) {
    browser.run("window.release(); window.release = undefined").await;
    eventually("the late answer has come", async || {
        (browser.run("return window.answered").await == true).then_some(())
    })
    .await;
}

/// The positions of the sliders and what is written beside them.
async fn sliders(browser: &Browser) -> serde_json::Value {
    browser
        .run(
            "return ['try-window', 'try-threshold'].flatMap((id) => \
         [document.getElementById(id).value, document.getElementById(`${id}-value`).textContent])",
        )
        .await
}

#[tokio::test]
async fn the_what_if_answers_while_its_sliders_move() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let browser = open(&server).await;
    browser.wait_for_text("#what-if", "It would have stopped 1 time in 6 calls").await;
    browser.wait_for_text("#recent", "1 call since the last activation scored above the threshold").await;
    slide(&browser, "#try-threshold", 40).await;
    browser.wait_for_text("#what-if", "It would have stopped nothing in 6 calls.").await;
    slide(&browser, "#try-threshold", 3).await;
    slide(&browser, "#try-window", 4).await;
    browser.wait_for_text("#what-if", "Window 4, threshold 3.").await;
    assert_eq!(sliders(&browser).await, json!(["4", "4", "3", "3"]));
    browser.click("#what-if form button").await;
    browser.wait_for_text("#notice", "Saved.").await;
    let settings = server.get(&format!("/api/agents/{AGENT}")).await["kill_switch"].clone();
    assert_eq!((&settings["window_size"], &settings["threshold"]), (&json!(4), &json!(3.0)));
}

#[tokio::test]
async fn late_answer_does_not_reset_the_sliders() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let browser = open(&server).await;

    // The page fetches itself because of a call, and gets the answer after the sliders were moved
    // twice.
    browser.run(HOLD_THE_NEXT).await;
    server.agent(AGENT).ask("Are you there?").await;
    is_held(&browser).await;
    slide(&browser, "#try-threshold", 3).await;
    slide(&browser, "#try-window", 4).await;
    browser.wait_for_text("#what-if", "Window 4, threshold 3.").await;
    release(&browser).await;
    assert!(browser.text("#what-if").await.contains("Window 4, threshold 3."), "what is shown is what was asked last");
    assert_eq!(sliders(&browser).await, json!(["4", "4", "3", "3"]));

    // A form is sent, and its answer comes after a slider was moved again.
    browser.run(HOLD_THE_NEXT).await;
    browser.click("#what-if form button").await;
    is_held(&browser).await;
    slide(&browser, "#try-threshold", 7).await;
    release(&browser).await;
    browser.wait_for_text("#notice", "Saved.").await;
    browser.wait_for_text("#what-if", "Window 4, threshold 7.").await;
    assert_eq!(sliders(&browser).await, json!(["4", "4", "7", "7"]));
    let settings = server.get(&format!("/api/agents/{AGENT}")).await["kill_switch"].clone();
    assert_eq!((&settings["window_size"], &settings["threshold"]), (&json!(4), &json!(3.0)));
}
