//! Reading and scoring: a conversation on any path and in any encoding.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write};
use http::Request;
use http_body_util::Full;
use model::{Event, Unread, Unscored};
use serde_json::json;

use crate::provider::{FakeProvider, whole};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, post, question};

async fn provider() -> FakeProvider {
    FakeProvider::sending(whole("200 OK", "application/json", r#"{"choices":[{"message":{"content":"Done."}}]}"#)).await
}

async fn event_of(proxy: &mut TestProxy, request: Request<Full<Bytes>>) -> Event {
    proxy.call(request).await;
    proxy.event().await
}

fn encoded(coding: &'static str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let mut request = post(CHAT, body);
    request.headers_mut().insert("content-encoding", coding.parse().unwrap());
    request
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = write::GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn conversation_is_scored_on_any_path() {
    let mut provider = provider().await;
    let mut proxy = TestProxy::new(&provider).await;
    for path in [
        "/v1/chat/completions//",
        "//v1//chat/completions",
        "/v1/chat/completions.json",
        "/v1/chat/completions;x=1",
        "/v1/chat%2fcompletions",
        "/v1/chat/completion%73",
        "/V1/Chat/Completions",
        "/v2/chat",
        "/v1/threads.x/ask",
        "/my/own/route",
    ] {
        let event = event_of(&mut proxy, post(&format!("/agents/bot/openai{path}"), question(PROMPT))).await;
        assert!(event.score.is_some() && event.fingerprint.unwrap().response.is_some(), "{path}");
        assert_eq!(event.unscored, None, "{path}");
        let received = provider.received().await;
        assert!(received.line().contains(&format!(" {path} ")), "forwarded as it came: {}", received.line());
    }
    let compact = json!({ "input": [{ "role": "user", "content": PROMPT }] }).to_string();
    let event = event_of(&mut proxy, post("/agents/bot/openai/v1/responses/compact", compact)).await;
    assert!(event.score.is_some());
}

#[tokio::test]
async fn a_content_type_does_not_hide_a_conversation() {
    let provider = provider().await;
    let mut proxy = TestProxy::new(&provider).await;
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/octet-stream"] {
        let mut request = post("/agents/bot/openai/ask", question(PROMPT));
        request.headers_mut().insert("content-type", content_type.parse().unwrap());
        assert!(event_of(&mut proxy, request).await.score.is_some(), "{content_type}");
    }
}

#[tokio::test]
async fn call_without_a_conversation_records_why_it_is_unscored() {
    let mut provider = provider().await;
    let mut proxy = TestProxy::new(&provider).await;
    for (path, body, expected) in [
        ("/v1/embeddings", r#"{"input":"x"}"#, Unscored::NoConversation),
        ("/v1/messages/count_tokens", r#"{"messages":[{"role":"user","content":"x"}]}"#, Unscored::NoConversation),
        ("/v1/unheard-of", r#"{"model":"m","input":"x"}"#, Unscored::NoConversation),
        ("/v1/unheard-of", "plain words", Unscored::Unread(Unread::InvalidJson)),
        ("/v1/unheard-of", "", Unscored::NoConversation),
        ("/v1/threads/t_1/runs", r#"{"assistant_id":"a"}"#, Unscored::Threads),
        ("/v1/messages/batches", r#"{"requests":[]}"#, Unscored::Batch),
    ] {
        let event = event_of(&mut proxy, post(&format!("/agents/bot/openai{path}"), body)).await;
        assert_eq!((event.score, event.unscored), (None, Some(expected)), "{path}");
        assert!(!event.is_error(), "{path}");
        assert_eq!(provider.received().await.body, body.as_bytes());
    }
}

#[tokio::test]
async fn unusual_encodings_are_read_and_forwarded_unchanged() {
    let mut provider = provider().await;
    let mut proxy = TestProxy::new(&provider).await;
    let plain = question(PROMPT);
    let (left, right) = plain.as_bytes().split_at(40);
    let mut bare = write::DeflateEncoder::new(Vec::new(), Compression::fast());
    bare.write_all(plain.as_bytes()).unwrap();
    let utf16: Vec<u8> = plain.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let deep = format!("{},\"deep\":{}{}}}", &plain[..plain.len() - 1], "[".repeat(200), "]".repeat(200));
    let not_a_number = format!("{},\"temperature\":NaN,\"top_p\":-Infinity}}", &plain[..plain.len() - 1]);
    let requests = [
        ("byte order mark", post(CHAT, format!("\u{feff}{plain}"))),
        ("UTF-16", post(CHAT, utf16.clone())),
        ("UTF-16 with a mark", post(CHAT, [b"\xff\xfe", &utf16[..]].concat())),
        ("two members", encoded("gzip", [gzip(left), gzip(right)].concat())),
        ("bare deflate", encoded("deflate", bare.finish().unwrap())),
        ("twice", encoded("gzip, gzip", gzip(&gzip(plain.as_bytes())))),
        ("NaN", post(CHAT, not_a_number)),
        ("depth 200", post(CHAT, deep)),
    ];
    let mut prompt = None;
    for (name, request) in requests {
        let (parts, body) = request.into_parts();
        let sent = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
        let event = event_of(&mut proxy, Request::from_parts(parts, Full::new(sent.clone()))).await;
        let print = event.fingerprint.expect(name);
        assert_eq!(print.prompt, *prompt.get_or_insert(print.prompt), "{name}: the same words, the same hash");
        assert_eq!(provider.received().await.body, sent, "{name}");
    }
}

#[tokio::test]
async fn expanding_body_is_read_up_to_twice_the_limit() {
    let provider = provider().await;
    let mut proxy = TestProxy::new(&provider).await;
    let limit = crate::test_proxy::config().max_request_body;
    let swollen = |length: usize| encoded("gzip", gzip((question(PROMPT) + &" ".repeat(length)).as_bytes()));
    assert!(event_of(&mut proxy, swollen(limit * 5 / 4)).await.score.is_some());
    let bomb = event_of(&mut proxy, swollen(limit * 2)).await;
    assert_eq!((bomb.score, bomb.unscored), (None, Some(Unscored::Unread(Unread::TooLarge))));
}
