//! A looping agent is stopped: guarantees around the kill itself.

use fake_provider::{Behaviour, FakeProvider, Script};
use serde_json::json;

use crate::support::{ServerBuilder, eventually, messages_request, openai_request, provider, requests};

const QUESTION: &str = "Why does the import of customer records fail?";

#[tokio::test]
async fn two_hundred_calls_in_flight_make_one_incident() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("swarm", json!({"enabled": true})).await;
    let agent = server.agent("swarm");
    let calls: Vec<_> = (0..200)
        .map(|_| {
            let agent = agent.clone();
            tokio::spawn(async move { agent.ask(QUESTION).await })
        })
        .collect();
    let mut refused = 0;
    for call in calls {
        let answer = call.await.unwrap();
        assert!(answer.status == 200 || answer.is_inactive_response(), "{answer:?}");
        refused += u64::from(answer.status != 200);
    }
    assert_eq!(requests(&provider) + refused, 200, "what was refused was not sent, what was sent was answered");
    assert!(refused > 0);
    assert_eq!(server.incidents("swarm").await.len(), 1);
    assert_eq!(server.events("swarm", "kill_switch").await.len(), 1);

    let seen = requests(&provider);
    assert!(agent.ask("Anything at all?").await.is_inactive_response());
    assert_eq!(requests(&provider), seen);
}

#[tokio::test]
async fn a_config_change_holds_from_the_next_call() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let agent = server.agent("tuned");
    for _ in 0..8 {
        assert_eq!(agent.ask(QUESTION).await.status, 200);
    }
    server.kill_switch("tuned", json!({"enabled": true})).await;
    assert!(agent.ask(QUESTION).await.is_inactive_response(), "the window was kept while the switch was off");
}

#[tokio::test]
async fn observe_lets_calls_through_and_records_one_incident_per_episode() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let settings = json!({"enabled": true, "threshold": 5.0, "window_size": 6, "action": "observe"});
    server.kill_switch("watched", settings).await;
    let agent = server.agent("watched");
    for _ in 0..6 {
        assert_eq!(agent.ask(QUESTION).await.status, 200);
    }
    let incident = eventually("the episode is recorded", async || server.incidents("watched").await.pop()).await;
    assert_eq!(incident["state"], "observed");
    assert_eq!(server.incidents("watched").await.len(), 1);
    assert_eq!(server.get("/api/agents/watched").await["active"], true);
    assert_eq!(requests(&provider), 6);
}

#[tokio::test]
async fn the_evidence_says_why_each_call_matched() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("evident", json!({"enabled": true, "threshold": 5.0})).await;
    let agent = server.agent("evident");
    let mut calls = Vec::new();
    for _ in 0..4 {
        calls.push(agent.ask(QUESTION).await.header("x-agentgazer-request-id").to_owned());
    }
    let incident = &server.incidents("evident").await[0];
    assert_eq!(incident["evidence_count"], 4);
    assert_eq!(incident["provider"], "openai");
    assert_eq!(incident["model"], "gpt-test");
    let evidence = server.get(&format!("/api/incidents/{}/evidence", incident["id"].as_str().unwrap())).await;
    let evidence = evidence["items"].as_array().unwrap();
    let sent = openai_request(QUESTION).to_string();
    for (item, call) in evidence.iter().zip(&calls) {
        assert_eq!(item["call_id"], *call);
        assert_eq!(item["request_body"], sent);
        assert_eq!(item["request_chars"], sent.chars().count());
        assert_eq!(item["truncated"], false);
    }
    for item in &evidence[..3] {
        assert_eq!(item["matched"], json!(["prompt", "response"]));
        let body: serde_json::Value = serde_json::from_str(item["response_body"].as_str().unwrap()).unwrap();
        assert!(body["choices"].is_array());
    }
    assert_eq!(evidence[3]["matched"], json!(["trigger"]));
    assert!(evidence[3]["response_body"].is_null());
}

#[tokio::test]
async fn an_anthropic_agent_is_stopped_in_its_own_format() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("claude", json!({"enabled": true})).await;
    let agent = server.agent("claude");
    for _ in 0..5 {
        assert_eq!(agent.messages(&messages_request(QUESTION)).await.status, 200);
    }
    let refusal = agent.messages(&messages_request(QUESTION)).await;
    assert!(refusal.is_inactive_response());
    assert_eq!(refusal.json()["type"], "error");
    assert_eq!((refusal.status.as_u16(), &refusal.json()["error"]["type"]), (403, &json!("permission_error")));
}

#[tokio::test]
async fn a_streamed_loop_is_stopped_and_refused_with_plain_json() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("streamer", json!({"enabled": true})).await;
    let agent = server.agent("streamer");
    let mut request = openai_request(QUESTION);
    request["stream"] = json!(true);
    for _ in 0..5 {
        let answer = agent.chat(&request).await;
        assert!(answer.header("content-type").starts_with("text/event-stream"));
        assert!(answer.body.ends_with(b"data: [DONE]\n\n"));
    }
    let refusal = agent.chat(&request).await;
    assert!(refusal.is_inactive_response());
    assert_eq!(refusal.header("content-type"), "application/json");
}

#[tokio::test]
async fn a_healthy_agent_with_fifty_tool_steps_is_left_alone() {
    let script = Script::chosen(|asking| Behaviour::tool_call("read_file", json!({"path": file(asking.number())})));
    let provider = FakeProvider::start(0, script).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("worker", json!({"enabled": true})).await;
    let agent = server.agent("worker");
    let mut messages = vec![json!({"role": "user", "content": QUESTION})];
    for step in 0..50 {
        let answer = agent.chat(&json!({"model": "gpt-test", "messages": messages})).await;
        assert_eq!(answer.status, 200, "step {step}: {:?}", answer.body);
        let said = answer.json()["choices"][0]["message"].clone();
        let call = said["tool_calls"][0]["id"].clone();
        messages.push(said);
        messages.push(json!({"role": "tool", "tool_call_id": call, "content": format!("mod {};", file(step))}));
    }
}

/// A different path for each number.
fn file(number: u64) -> String {
    let letters = (0..6).map(|place| char::from(b'a' + (number >> (4 * place) & 15) as u8));
    format!("src/{}.rs", letters.collect::<String>())
}

#[tokio::test]
async fn deleting_an_agent_deletes_its_data() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("gone", json!({"enabled": true, "threshold": 5.0})).await;
    let agent = server.agent("gone");
    for _ in 0..4 {
        agent.ask(QUESTION).await;
    }
    server.api(http::Method::DELETE, "/api/agents/gone", None).await;
    assert!(server.incidents("gone").await.is_empty());
    assert!(server.events("gone", "kill_switch").await.is_empty());
    assert_eq!(agent.ask(QUESTION).await.status, 200, "a new agent of that name starts afresh");
}
