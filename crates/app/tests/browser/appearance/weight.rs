//! The traffic of an open page while agents are busy, extrapolated to an hour. `WEIGHT_SECONDS=180
//! cargo test -p agentgazer --test browser -- --ignored weight --nocapture`

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::driver::{Browser, Kind};
use crate::support::{Server, ServerBuilder, provider};

/// The limit for a busy page in an hour.
const MOST_AN_HOUR: f64 = 5e6;
const AGENTS: usize = 20;
const CALLS_A_SECOND: u64 = 5;

/// Makes calls of agents in turn, one of them always the same.
async fn keep_busy(server: &Server, for_so_long: Duration) {
    let (began, mut ticks) = (Instant::now(), tokio::time::interval(Duration::from_millis(1000 / CALLS_A_SECOND)));
    for number in 0.. {
        if began.elapsed() > for_so_long {
            return;
        }
        ticks.tick().await;
        let agent = server.agent(&format!("worker-{:02}", number % AGENTS));
        let repeats = number % AGENTS == 7;
        let question =
            if repeats { "Read the same page again.".to_owned() } else { format!("Question {number}, please?") };
        agent.ask(&question).await;
    }
}

/// The bytes that the browser has received since the last call, by path.
async fn received(browser: &Browser) -> u64 {
    let entries = browser.post("/se/log", json!({"type": "performance"})).await;
    let mut by_request: HashMap<String, (u64, u64)> = HashMap::new();
    for entry in entries.as_array().unwrap() {
        let Ok(message) = serde_json::from_str::<Value>(entry["message"].as_str().unwrap_or_default()) else {
            continue;
        };
        let (message, bytes) = (&message["message"], |value: &Value| value["encodedDataLength"].as_u64().unwrap_or(0));
        let id = message["params"]["requestId"].as_str().unwrap_or_default().to_owned();
        let (streamed, whole) = by_request.entry(id).or_default();
        match message["method"].as_str() {
            Some("Network.dataReceived") => *streamed += bytes(&message["params"]),
            Some("Network.loadingFinished") => *whole = bytes(&message["params"]),
            _ => {}
        }
    }
    by_request.values().map(|(streamed, whole)| streamed.max(whole)).sum()
}

#[tokio::test]
#[ignore = "measures for minutes; WEIGHT_SECONDS says how long"]
#[allow(clippy::print_stdout, reason = "the figures are the result")]
async fn busy_page_takes_less_than_five_megabytes_an_hour() {
    let seconds = std::env::var("WEIGHT_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    keep_busy(&server, Duration::from_secs(10)).await;
    let mut heavy = Vec::new();
    for path in ["/", "/agents", "/requests", "/agents/worker-07", "/wall"] {
        let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
        browser.go(path).await;
        browser.wait_for_text("#connection", "Live").await;
        keep_busy(&server, Duration::from_secs(10)).await;
        received(&browser).await;
        keep_busy(&server, Duration::from_secs(seconds)).await;
        let an_hour = received(&browser).await as f64 * 3600.0 / seconds as f64;
        println!("{path}: {:.2} MB an hour at {CALLS_A_SECOND} calls a second", an_hour / 1e6);
        heavy.extend((an_hour > MOST_AN_HOUR).then_some(path));
    }
    assert!(heavy.is_empty(), "{heavy:?} take more than 5 MB an hour");
}
