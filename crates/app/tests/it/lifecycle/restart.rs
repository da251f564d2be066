//! State that survives a restart.

use futures_util::future::join_all;
use serde_json::json;

use crate::support::{Server, ServerBuilder, eventually, provider, slow_provider};

const QUESTION: &str = "Why does the import of customer records fail?";

#[tokio::test]
async fn a_kill_survives_a_restart() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..4 {
        server.agent("looper").ask(QUESTION).await;
    }
    let before = server.get("/api/agents/looper").await;
    let server = server.kill().start();
    assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response());
    let after = server.get("/api/agents/looper").await;
    for key in ["active", "deactivated_by", "deactivated_at", "incident_id", "kill_switch"] {
        assert_eq!(before[key], after[key], "{key}");
    }
}

#[tokio::test]
async fn windows_are_restored_before_the_first_call() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true})).await;
    for _ in 0..5 {
        assert_eq!(server.agent("looper").ask(QUESTION).await.status, 200);
    }
    let server = restart(server);
    assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response(), "the sixth, as without a restart");
    assert_eq!(server.incidents("looper").await[0]["score"], 13.0);
}

#[tokio::test]
async fn evidence_is_whole_after_a_restart() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true})).await;
    for _ in 0..5 {
        server.agent("looper").ask(QUESTION).await;
    }
    let evidence = evidence_of_the_sixth_call(restart(server)).await;
    assert_eq!(evidence.len(), 6);
    for call in &evidence {
        assert!(call["request_body"].as_str().is_some_and(|body| body.contains(QUESTION)), "{call}");
        assert_eq!((&call["truncated"], &call["missing"]), (&json!(false), &json!(null)), "{call}");
    }
    assert!(evidence[..5].iter().all(|call| call["response_body"].is_string()), "{evidence:?}");
}

#[tokio::test]
async fn evidence_without_a_copy_on_disk_says_that_a_restart_lost_it() {
    let provider = provider().await;
    let builder = ServerBuilder::new(&provider.url()).arguments(&["--set", "evidence.keep_on_disk=false"]);
    let server = builder.start();
    server.kill_switch("looper", json!({"enabled": true})).await;
    for _ in 0..5 {
        server.agent("looper").ask(QUESTION).await;
    }
    let evidence = evidence_of_the_sixth_call(restart(server)).await;
    let missing: Vec<_> = evidence.iter().map(|call| call["missing"].as_str().unwrap_or("-")).collect();
    assert_eq!(missing, ["restart", "restart", "restart", "restart", "restart", "-"]);
    assert!(evidence.iter().all(|call| call["timestamp"].is_string()), "{evidence:?}");
}

#[tokio::test]
async fn evidence_is_whole_although_its_file_was_deleted() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true})).await;
    for _ in 0..5 {
        server.agent("looper").ask(QUESTION).await;
    }
    let path = server.data_dir().join("evidence.db");
    std::fs::remove_file(&path).unwrap();
    eventually("there is a new file", async || path.exists().then_some(())).await;
    let evidence = evidence_of_the_sixth_call(restart(server)).await;
    assert_eq!(evidence.len(), 6);
    for call in &evidence {
        assert!(call["request_body"].as_str().is_some_and(|body| body.contains(QUESTION)), "{call}");
    }
}

/// A start restores the newest 4,096 calls before the first call, and the others after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_of_older_calls_is_whole_soon_after_the_first_call() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    // Each makes five calls, in whose windows there are no others.
    for number in 0..LOOPERS {
        server.kill_switch(&format!("looper-{number}"), json!({"enabled": true})).await;
        for _ in 0..5 {
            server.agent(&format!("looper-{number}")).ask(QUESTION).await;
        }
    }
    let fill = async |worker: usize| {
        for number in (worker..210).step_by(8) {
            let filler = server.agent(&format!("filler-{number}"));
            for _ in 0..20 {
                assert_eq!(filler.ask(QUESTION).await.status, 200);
            }
        }
    };
    join_all((0..8).map(fill)).await;
    let server = restart(server);
    assert_eq!(server.agent("first").ask(QUESTION).await.status, 200);
    for number in 0..LOOPERS {
        let evidence = evidence_of_the_next_call(&server, &format!("looper-{number}")).await;
        assert_eq!(evidence.len(), 6);
        let is_whole = |call: &serde_json::Value| {
            let request = call["request_body"].as_str().is_some_and(|body| body.contains(QUESTION));
            request && (call["response_body"].is_string() || *call == evidence[5])
        };
        if evidence.iter().all(is_whole) {
            return;
        }
    }
    panic!("the bodies are not restored while {LOOPERS} agents are stopped");
}

/// Agents that are stopped one after the other, until the bodies are restored.
const LOOPERS: usize = 60;

/// Makes one more call, which is refused, and returns the evidence.
async fn evidence_of_the_sixth_call(server: Server) -> Vec<serde_json::Value> {
    evidence_of_the_next_call(&server, "looper").await
}

async fn evidence_of_the_next_call(server: &Server, agent: &str) -> Vec<serde_json::Value> {
    assert!(server.agent(agent).ask(QUESTION).await.is_inactive_response());
    let incident = server.incidents(agent).await.remove(0);
    let path = format!("/api/incidents/{}/evidence", incident["id"].as_str().unwrap());
    server.get(&path).await["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_activation_survives_a_restart_with_empty_windows() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..4 {
        server.agent("looper").ask(QUESTION).await;
    }
    server.activate("looper").await;
    let server = server.kill().start();
    assert_eq!(server.agent("looper").ask(QUESTION).await.header("x-agentgazer-loop-score"), "0.0/5.0");
}

#[tokio::test]
async fn an_exemption_survives_a_restart() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..4 {
        server.agent("looper").ask(QUESTION).await;
    }
    let incident = server.incidents("looper").await[0]["id"].clone();
    let until = model::Timestamp::from_millis(model::Clock::System.now().as_millis() + 60 * 60 * 1000);
    let body = json!({"incident_id": incident, "what": "prompt", "until": until});
    server.api(http::Method::POST, "/api/agents/looper/exemptions", Some(body)).await;
    server.activate("looper").await;
    let server = server.kill().start();
    for _ in 0..8 {
        assert_eq!(server.agent("looper").ask(QUESTION).await.header("x-agentgazer-loop-score"), "0.0/5.0");
    }
}

#[tokio::test]
async fn stop_waits_for_calls_in_flight_and_records_their_answers() {
    let provider = slow_provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let agent = server.agent("slow");
    let call = tokio::spawn(async move { agent.ask(QUESTION).await });
    provider.seen().wait_for(|counts| counts.requests == 1).await;
    let stopping = tokio::task::spawn_blocking(move || server.terminate());
    let answer = call.await.unwrap();
    assert_eq!(answer.status, 200);
    let (builder, status) = stopping.await.unwrap();
    assert_eq!(status.code(), Some(0));
    let server = builder.start();
    assert_eq!(server.events("slow", "llm_call").await.len(), 1);
}

/// Stops the server gracefully and starts it again on the same data.
fn restart(server: Server) -> Server {
    let (builder, status) = server.terminate();
    assert!(status.success());
    builder.start()
}
