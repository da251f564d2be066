//! Formats of particular clients and providers, over real sockets: Claude Code, Bedrock, Cohere.

use model::{Action, Evidence, Record};
use serde_json::{Value, json};

use crate::provider::{FakeProvider, whole};
use crate::test_proxy::{PROMPT, TestProxy, begin, config, enabled_kill_switch, post};

const ANSWER: &str = "I changed the path in the loader; please run the import again.";

/// Repeats a request until the agent is killed, and returns the evidence.
async fn evidence_of_loop(provider: &FakeProvider, path: &str, body: &Value) -> Vec<Evidence> {
    let mut proxy = TestProxy::with(provider, config(), enabled_kill_switch(Action::Deactivate)).await;
    // Three calls that pass; the fourth waits for its kill to be written.
    for _ in 0..3 {
        assert_eq!(proxy.call(post(path, body.to_string())).await.status(), 200);
        let event = proxy.event().await;
        assert!(event.fingerprint.is_some_and(|print| print.response.is_some()), "the answer is read");
    }
    tokio::spawn(begin(proxy.address, post(path, body.to_string())));
    let Record::Kill { incident, .. } = proxy.record().await else { panic!("not a kill") };
    incident.evidence
}

/// A frame of Bedrock's binary streams without headers. The checksums are not read.
fn frame(payload: &Value) -> Vec<u8> {
    let payload = payload.to_string();
    let length = u32::try_from(16 + payload.len()).unwrap().to_be_bytes();
    [&length, &[0; 8][..], payload.as_bytes(), &[0; 4]].concat()
}

#[tokio::test]
async fn evidence_of_claude_code_shows_the_user_s_words() {
    let answer = json!({ "type": "message", "content": [{ "type": "text", "text": ANSWER }], "usage": {} });
    let provider = FakeProvider::sending(whole("200 OK", "application/json", answer.to_string())).await;
    let body = json!({ "model": "claude", "messages": [{ "role": "user", "content": [
        { "type": "text", "text": "<system-reminder>\nThe date is Monday.\n</system-reminder>" },
        { "type": "text", "text": PROMPT, "cache_control": { "type": "ephemeral" } },
        { "type": "text", "text": "<system-reminder>\nThe task list is empty.\n</system-reminder>" },
    ] }] });
    let evidence = evidence_of_loop(&provider, "/agents/bot/anthropic/v1/messages", &body).await;
    assert_eq!(evidence.len(), 4);
    assert!(evidence.iter().all(|call| call.prompt.as_deref() == Some(PROMPT)));
}

#[tokio::test]
async fn a_loop_over_bedrock_s_binary_streams_is_killed_with_its_answers() {
    let stream = [
        frame(&json!({ "role": "assistant" })),
        frame(&json!({ "contentBlockIndex": 0, "delta": { "text": ANSWER } })),
        frame(&json!({ "stopReason": "end_turn" })),
        frame(&json!({ "usage": { "inputTokens": 11, "outputTokens": 7 } })),
    ]
    .concat();
    let provider = FakeProvider::sending(whole("200 OK", "application/vnd.amazon.eventstream", stream)).await;
    let body = json!({ "messages": [{ "role": "user", "content": [{ "text": PROMPT }] }] });
    let evidence = evidence_of_loop(&provider, "/agents/bot/openai/model/m/converse-stream", &body).await;
    assert!(evidence[..3].iter().all(|call| call.response.as_deref() == Some(ANSWER)), "{evidence:?}");
}

#[tokio::test]
async fn a_loop_over_cohere_is_killed_with_its_answers() {
    let message = json!({ "role": "assistant", "content": [{ "type": "text", "text": ANSWER }] });
    let answer = json!({ "id": "c1", "finish_reason": "COMPLETE", "message": message });
    let provider = FakeProvider::sending(whole("200 OK", "application/json", answer.to_string())).await;
    let body = json!({ "model": "command-a", "messages": [{ "role": "user", "content": PROMPT }] });
    let evidence = evidence_of_loop(&provider, "/agents/bot/openai/v2/chat", &body).await;
    assert!(evidence[..3].iter().all(|call| call.response.as_deref() == Some(ANSWER)), "{evidence:?}");
}
