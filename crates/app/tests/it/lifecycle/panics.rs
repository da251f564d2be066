//! A bug in detection: calls pass, a decided kill holds, the log reports it once.

use serde_json::json;

use crate::support::{Server, ServerBuilder, provider, requests};

const QUESTION: &str = "Why does the import of customer records fail?";

#[tokio::test]
async fn a_panic_in_scoring_lets_the_calls_through() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).fault("scoring").start();
    server.kill_switch("bot", json!({"enabled": true, "threshold": 1.0})).await;
    for _ in 0..4 {
        let answer = server.agent("bot").ask(QUESTION).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("x-agentgazer-loop-score"), "");
    }
    assert_eq!(requests(&provider), 4);
    let events = server.events("bot", "llm_call").await;
    assert_eq!(events.len(), 4);
    assert!(events.iter().all(|event| event["details"]["error"] == "detection failed: not scored"), "{events:?}");
    assert_eq!(server.incidents("bot").await.len(), 0);
    check_logged_once(&server);
    assert_eq!(server.get("/api/status").await["detection_failures"], 4);
    let ready = server.get("/readyz").await;
    let warning = "detection: calls let through because it failed: 4";
    assert_eq!((&ready["status"], &ready["warnings"]), (&json!("ready"), &json!([warning])));
}

#[tokio::test]
async fn a_panic_after_a_kill_was_decided_does_not_undo_it() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).fault("evidence").start();
    server.kill_switch("bot", json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..3 {
        assert_eq!(server.agent("bot").ask(QUESTION).await.status, 200);
    }
    assert!(server.agent("bot").ask(QUESTION).await.is_inactive_response());
    check_logged_once(&server);

    let server = server.kill().start();
    assert!(server.agent("bot").ask(QUESTION).await.is_inactive_response(), "it was on disk before it was answered");
    assert_eq!(requests(&provider), 3);
    let incidents = server.incidents("bot").await;
    assert_eq!((incidents.len(), &incidents[0]["state"]), (1, &json!("open")));
    let path = format!("/api/incidents/{}/evidence", incidents[0]["id"].as_str().unwrap());
    let evidence = server.get(&path).await["items"].as_array().unwrap().clone();
    assert_eq!(evidence.len(), 4, "{evidence:?}");
    assert!(evidence.iter().all(|call| call["truncated"] == true), "{evidence:?}");
}

#[tokio::test]
async fn a_panic_in_the_usage_filter_loses_nothing_of_the_stream() {
    let provider = provider().await;
    let arguments = ["--set", "include_usage=openai=on"];
    let server = ServerBuilder::new(&provider.url()).arguments(&arguments).fault("usage").start();
    let request = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": QUESTION}]});
    let answer = server.agent("bot").chat(&request).await;
    let events = String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!(answer.status, 200);
    assert!(events.contains("missing") && events.trim_end().ends_with("data: [DONE]"), "{events}");
    check_logged_once(&server);
}

fn check_logged_once(server: &Server) {
    let log = server.log();
    assert_eq!(log.lines().filter(|line| line.contains("a bug in detection")).count(), 1, "{log}");
}
