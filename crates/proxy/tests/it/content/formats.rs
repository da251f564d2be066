//! Formats and endpoints beside Chat Completions: chains of calls, Google's paths, other protocols,
//! other encodings.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use model::{Action, Counting, Event, KillSwitch};
use serde_json::{Value, json};

use crate::provider::{FakeProvider, Received, Step, whole};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, config, enabled_kill_switch, json, post, question};

const RESPONSES: &str = "/agents/bot/openai/v1/responses";

/// A provider of Responses that numbers its answers, and calls `run` each time with the result of
/// `arguments`.
async fn chain_provider(arguments: impl Fn(usize) -> Value + Send + Sync + 'static) -> FakeProvider {
    let answers = AtomicUsize::new(1);
    FakeProvider::new(move |_: &Received| {
        let number = answers.fetch_add(1, Ordering::SeqCst);
        let call = json!({ "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"), "name": "run", "arguments": arguments(number).to_string() });
        let body = json!({ "id": format!("resp_{number}"), "object": "response", "status": "completed", "model": "gpt-5", "output": [call] });
        vec![Step::Send(whole("200 OK", "application/json", body.to_string()))]
    })
    .await
}

/// A call that continues the answer with this number, with the result of its tool.
fn step_after(number: usize, output: &str) -> Request<Full<Bytes>> {
    let output = json!([{ "type": "function_call_output", "call_id": format!("call_{number}"), "output": output }]);
    post(RESPONSES, json!({ "previous_response_id": format!("resp_{number}"), "input": output }).to_string())
}

async fn event_of(proxy: &mut TestProxy, request: Request<Full<Bytes>>) -> Event {
    proxy.call(request).await;
    proxy.event().await
}

#[tokio::test]
async fn continued_response_belongs_to_its_turn() {
    let provider = chain_provider(|number| json!({ "n": number })).await;
    let mut proxy = TestProxy::new(&provider).await;
    let first = event_of(&mut proxy, post(RESPONSES, json!({ "input": PROMPT }).to_string())).await;
    let second = event_of(&mut proxy, step_after(1, "one")).await;
    let third = event_of(&mut proxy, step_after(2, "two")).await;
    let asked = json!({ "previous_response_id": "resp_3", "input": "Now do something else entirely" });
    let fourth = event_of(&mut proxy, post(RESPONSES, asked.to_string())).await;

    let prints = [&first, &second, &third, &fourth].map(|event| event.fingerprint.unwrap());
    assert!([&second, &third, &fourth].iter().all(|event| event.conversation == first.conversation));
    assert_eq!((prints[1].turn, prints[2].turn), (prints[0].turn, prints[0].turn));
    assert_eq!((prints[1].prompt, prints[2].prompt), (prints[0].prompt, prints[0].prompt));
    assert!(prints[0].step.depth < prints[1].step.depth && prints[1].step.depth < prints[2].step.depth);
    assert!(prints[1].tools.is_some() && prints[1].tools != prints[2].tools);
    assert_eq!((prints[3].turn.position, prints[3].step.depth, prints[3].tools), (1, 0, None));
}

#[tokio::test]
async fn item_reference_is_resolved_to_its_tool_call() {
    let provider = chain_provider(|number| json!({ "n": number })).await;
    let mut proxy = TestProxy::new(&provider).await;
    let user = json!({ "role": "user", "content": PROMPT });
    let step = |number: usize| {
        let reference = json!({ "type": "item_reference", "id": format!("fc_{number}") });
        [reference, json!({ "type": "function_call_output", "call_id": format!("call_{number}"), "output": "same" })]
    };
    event_of(&mut proxy, post(RESPONSES, json!({ "input": [user] }).to_string())).await;
    let mut input = vec![user];
    let mut prints = Vec::new();
    for number in 1..=3 {
        input.extend(step(number));
        let event = event_of(&mut proxy, post(RESPONSES, json!({ "input": input }).to_string())).await;
        prints.push(event.fingerprint.unwrap());
    }
    assert!(prints.iter().all(|print| print.tools.is_some()));
    assert!(prints[0].tools != prints[1].tools && prints[1].tools != prints[2].tools, "other arguments, other calls");
}

#[tokio::test]
async fn calls_of_a_stored_conversation_belong_to_it() {
    let provider = chain_provider(|number| json!({ "n": number })).await;
    let mut proxy = TestProxy::new(&provider).await;
    let asks =
        |input: Value| post(RESPONSES, json!({ "conversation": { "id": "conv_1" }, "input": input }).to_string());
    let first = event_of(&mut proxy, asks(json!(PROMPT))).await;
    let output = json!([{ "type": "function_call_output", "call_id": "call_1", "output": "one" }]);
    let second = event_of(&mut proxy, asks(output)).await;
    assert_eq!((first.conversation.as_deref(), second.conversation.as_deref()), (Some("conv_1"), Some("conv_1")));
    let (first, second) = (first.fingerprint.unwrap(), second.fingerprint.unwrap());
    assert_eq!((second.turn, second.prompt), (first.turn, first.prompt));
    assert!(second.tools.is_some() && second.step.depth > first.step.depth);
}

fn adaptive() -> KillSwitch {
    KillSwitch { counting: Counting::Adaptive, threshold: 10.0, ..enabled_kill_switch(Action::Deactivate) }
}

#[tokio::test]
async fn looping_chain_is_killed_and_progressing_chain_is_not() {
    let provider = chain_provider(|_| json!({ "command": "cat build.log" })).await;
    let proxy = TestProxy::with(&provider, config(), adaptive()).await;
    proxy.call(post(RESPONSES, json!({ "input": PROMPT }).to_string())).await;
    let mut killed_at = None;
    for number in 1..20 {
        if proxy.call(step_after(number, "No such file or directory, nothing was changed")).await.status() == 400 {
            killed_at = Some(number);
            break;
        }
    }
    assert!(killed_at.is_some_and(|number| number < 10), "{killed_at:?}");

    let provider = chain_provider(|number| json!({ "command": format!("cat module_{number}/source.rs") })).await;
    let proxy = TestProxy::with(&provider, config(), adaptive()).await;
    proxy.call(post(RESPONSES, json!({ "input": PROMPT }).to_string())).await;
    let words = ["alpha", "beta", "gamma", "delta", "omega"];
    for number in 1..40 {
        let output = format!("{} {} uses {}", words[number % 5], words[number / 5 % 5], words[number / 25]);
        assert_eq!(proxy.call(step_after(number, &output)).await.status(), 200, "{number}");
    }
}

#[tokio::test]
async fn gemini_paths_name_the_model_and_select_streaming() {
    let answer = json!({ "candidates": [{ "content": { "parts": [{ "text": "Hi" }] }, "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 7 } });
    let provider = FakeProvider::sending(whole("200 OK", "application/json", format!("[{answer}]"))).await;
    let mut proxy = TestProxy::new(&provider).await;
    let body = json!({ "contents": [{ "parts": [{ "text": PROMPT }] }] }).to_string();
    let event =
        event_of(&mut proxy, post("/agents/bot/google/v1beta/models/gemini-3:streamGenerateContent", body)).await;
    assert_eq!((event.model.as_deref(), event.streamed, event.usage.input), (Some("gemini-3"), true, Some(7)));
    assert!(event.fingerprint.unwrap().response.is_some());
}

#[tokio::test]
async fn errors_have_the_format_of_the_endpoint() {
    let provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let proxy = TestProxy::new(&provider).await;
    proxy.guard.deactivate(&model::AgentId::parse("bot").unwrap(), model::Timestamp::from_millis(1));
    for (path, pointer) in [
        ("/agents/bot/openai/v1/messages", "/error/type"),
        ("/agents/bot/openai/v1/responses", "/error/code"),
        ("/agents/bot/google/v1beta/openai/chat/completions", "/error/code"),
        ("/agents/bot/anthropic/v1beta/models/g:generateContent", "/error/status"),
        ("/agents/bot/google/v1beta/models/g:countTokens", "/error/status"),
    ] {
        let refused = proxy.call(post(path, "{}")).await;
        assert_eq!(refused.status(), if path.ends_with("/messages") { 403 } else { 400 }, "{path}");
        assert!(json(&refused).pointer(pointer).is_some_and(Value::is_string), "{path}: {}", json(&refused));
    }
    let ollama = proxy.call(post("/agents/bot/openai/api/chat", "{}")).await;
    assert!(json(&ollama)["error"].is_string());
}

fn upgrade(path: &str, protocol: &str) -> Request<Full<Bytes>> {
    let request = Request::get(path).header("host", "localhost").header("connection", "upgrade");
    request.header("upgrade", protocol).body(Full::default()).unwrap()
}

#[tokio::test]
async fn a_websocket_is_refused_in_the_caller_s_format_whatever_its_agent_s_state() {
    let provider = FakeProvider::sending("").await;
    let proxy = TestProxy::new(&provider).await;
    for is_inactive in [false, true] {
        for path in ["/agents/bot/openai/v1/responses", "/agents/bot/openai/v1/realtime", "/agents/bot/google/ws/live"]
        {
            let refused = proxy.call(upgrade(path, "websocket")).await;
            assert_eq!((refused.status().as_u16(), &refused.headers()["upgrade"]), (426, &"HTTP/1.1".parse().unwrap()));
            assert!(json(&refused)["error"]["message"].is_string());
        }
        if !is_inactive {
            proxy.guard.deactivate(&model::AgentId::parse("bot").unwrap(), model::Timestamp::from_millis(1));
        }
    }
    assert_eq!(provider.calls(), 0);
}

#[tokio::test]
async fn other_upgrades_are_ignored() {
    let mut provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let proxy = TestProxy::new(&provider).await;
    assert_eq!(proxy.call(upgrade("/agents/bot/openai/v1/models", "h2c")).await.status(), 200);
    let received = provider.received().await;
    assert!(received.header("upgrade").is_empty() && received.header("connection").is_empty());
}

#[tokio::test]
async fn unrequested_upgrade_by_the_provider_is_refused() {
    let provider =
        FakeProvider::sending("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n").await;
    let proxy = TestProxy::new(&provider).await;
    assert_eq!(proxy.ask(PROMPT).await.status(), 502);
}

#[tokio::test]
async fn brotli_bodies_are_forwarded_unchanged_and_read() {
    let answer = brotli(br#"{"choices":[{"message":{"role":"assistant","content":"It is repaired."}}]}"#);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: br\r\ncontent-length: {}\r\n\r\n",
        answer.len()
    );
    let mut provider = FakeProvider::sending([head.as_bytes(), &answer].concat()).await;
    let mut proxy = TestProxy::new(&provider).await;
    let asked = brotli(question(PROMPT).as_bytes());
    let mut request = post(CHAT, asked.clone());
    request.headers_mut().insert("content-encoding", "br".parse().unwrap());
    assert_eq!(proxy.call(request).await.body(), &answer);
    assert_eq!(provider.received().await.body, asked);
    let print = proxy.event().await.fingerprint.unwrap();
    assert!(print.prompt.is_some() && print.response.is_some());
}

/// `plain` in brotli, uncompressed: the window's size and the length, the text, the end.
fn brotli(plain: &[u8]) -> Vec<u8> {
    let head = 0b0011 | u32::try_from(plain.len() - 1).unwrap() << 7 | 1 << 23;
    [&head.to_le_bytes()[..3], plain, &[0b11]].concat()
}

#[tokio::test]
async fn housekeeping_of_a_client_passes_unscored() {
    let provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let mut proxy = TestProxy::new(&provider).await;
    let mut request = post(RESPONSES, json!({ "input": PROMPT }).to_string());
    request.headers_mut().insert("user-agent", "codex_cli_rs/0.166.0".parse().unwrap());
    request.headers_mut().insert("x-openai-subagent", "compact".parse().unwrap());
    let event = event_of(&mut proxy, request).await;
    assert_eq!((event.status, event.score), (Some(200), None));
}
