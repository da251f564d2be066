//! Calls that are not forwarded.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use model::{AgentId, BlockReason, EventType, Timestamp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::provider::{FakeProvider, chat_answer};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, json, post, question};

async fn get(proxy: &TestProxy, path: &str, host: &str) -> Response<Bytes> {
    proxy.call(Request::get(path).header("host", host).body(Full::default()).unwrap()).await
}

fn message(response: &Response<Bytes>) -> String {
    json(response)["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn invalid_path_names_the_expected_form() {
    let provider = FakeProvider::sending("").await;
    let proxy = TestProxy::new(&provider).await;
    for path in ["/", "/v1/chat/completions", "/agents/bot", "/agents/bot/", "/agents/bot/openai"] {
        let response = get(&proxy, path, "localhost").await;
        assert_eq!(response.status(), 404, "{path}");
        assert!(message(&response).contains("/agents/{agent}/{provider}/"), "{path}");
        assert!(response.headers().contains_key("x-agentgazer-request-id"), "{path}");
    }
}

#[tokio::test]
async fn unknown_provider_lists_the_known_ones() {
    let provider = FakeProvider::sending("").await;
    let proxy = TestProxy::new(&provider).await;
    let response = get(&proxy, "/agents/bot/nobody/v1/models", "localhost").await;
    assert_eq!(response.status(), 404);
    assert!(message(&response).contains("anthropic, google, openai"));
}

#[tokio::test]
async fn invalid_agent_name_names_the_rule() {
    let provider = FakeProvider::sending("").await;
    let proxy = TestProxy::new(&provider).await;
    for name in ["-bot", "b%20t", "a%2Fb", "%ff", &"x".repeat(129)] {
        let response = get(&proxy, &format!("/agents/{name}/openai/v1/models"), "localhost").await;
        assert_eq!(response.status(), 400, "{name}");
        assert!(message(&response).contains("1 to 128 characters"), "{name}");
    }
    let anthropic = get(&proxy, "/agents/-/anthropic/v1/models", "localhost").await;
    assert_eq!(json(&anthropic)["type"], "error");
}

#[tokio::test]
async fn foreign_host_is_refused() {
    let provider = FakeProvider::sending("").await;
    let proxy = TestProxy::new(&provider).await;
    for (path, host) in [(CHAT, "evil.test"), (CHAT, ""), ("http://evil.test/agents/a/openai/v1/models", "localhost")] {
        assert_eq!(get(&proxy, path, host).await.status(), 421, "{path} {host}");
    }
    let two = Request::get(CHAT).header("host", "localhost").header("host", "evil.test");
    assert_eq!(proxy.call(two.body(Full::default()).unwrap()).await.status(), 421);
    assert_eq!(provider.calls(), 0);
}

#[tokio::test]
async fn a_websocket_is_refused() {
    let provider = FakeProvider::sending("").await;
    let proxy = TestProxy::new(&provider).await;
    let request = Request::get("/agents/bot/openai/v1/realtime")
        .header("host", "localhost")
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .body(Full::default())
        .unwrap();
    assert_eq!(proxy.call(request).await.status(), 426);
    assert_eq!(provider.calls(), 0);
}

#[tokio::test]
async fn request_in_an_unknown_transfer_coding_is_refused() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    let check = async |coding: &str, expected: u16| {
        let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: {coding}\r\n\r\n");
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        stream.write_all(format!("{head}0\r\n\r\n").as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&status), format!("HTTP/1.1 {expected}"), "{coding}");
    };
    check("Chunked", 200).await;
    check("gzip, chunked", 501).await;
    assert_eq!(provider.calls(), 1);
}

#[tokio::test]
async fn an_inactive_agent_is_refused_before_its_body_is_read() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = TestProxy::new(&provider).await;
    let agent = AgentId::parse("bot").unwrap();
    proxy.guard.deactivate(&agent, Timestamp::from_millis(1_705_314_600_000));
    // Too large, to an unknown provider, or not JSON: none of it is looked at.
    for request in [post(CHAT, question(PROMPT)), post(CHAT, vec![b'x'; 2 << 20]), post("/agents/bot/nobody/x", "{")] {
        let response = proxy.call(request).await;
        assert_eq!(response.status(), 400);
        assert_eq!(response.headers()["x-agentgazer-blocked"], "inactive");
        assert_eq!(json(&response)["block_reason"], "inactive");
        assert_eq!(json(&response)["deactivated_by"], "manual");
        let event = proxy.event().await;
        assert_eq!((event.event_type, event.block_reason), (EventType::Blocked, Some(BlockReason::Inactive)));
        assert_eq!(event.status, Some(400));
    }
    assert_eq!(provider.calls(), 0);
}

#[tokio::test]
async fn refusal_status_follows_the_callers_format() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = TestProxy::new(&provider).await;
    proxy.guard.deactivate(&AgentId::parse("bot").unwrap(), Timestamp::from_millis(1_705_314_600_000));
    for (path, status) in [
        (CHAT, 400),
        ("/agents/bot/anthropic/v1/messages", 403),
        // A provider with both formats: the endpoint decides.
        ("/agents/bot/openai/v1/messages", 403),
        ("/agents/bot/google/v1beta/models/m:generateContent", 400),
    ] {
        let response = proxy.call(post(path, question(PROMPT))).await;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(proxy.event().await.status, Some(status), "{path}");
    }
}
