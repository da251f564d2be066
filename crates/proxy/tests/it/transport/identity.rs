//! Forwarding is transparent: bytes, status and headers, both ways.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use model::{Format, Provider};
use proptest::prelude::*;

use crate::provider::{FakeProvider, LAST_CHUNK, Step, chat_answer, chat_stream, chunk, stream_head, whole};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, post, question, streamed_question};

/// The offsets at which to cut the stream, from a header of the request: the provider sees nothing
/// else of the test.
fn cuts(head: &str) -> Vec<usize> {
    let line = head.lines().find_map(|line| line.strip_prefix("x-cuts: ")).unwrap_or_default();
    line.split(',').filter_map(|cut| cut.parse().ok()).collect()
}

fn in_chunks(body: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([body.len()]) {
        if cut > from && cut <= body.len() {
            out.extend(chunk(&body[from..cut]));
            from = cut;
        }
    }
    out.extend_from_slice(LAST_CHUNK);
    out
}

#[tokio::test]
async fn a_stream_cut_at_any_offset_arrives_as_it_was_sent() {
    let events = chat_stream(&["Hel", "lo", " wörld", "!"]);
    let sent = events.clone();
    let provider = FakeProvider::new(move |received| {
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(in_chunks(&sent, &cuts(&received.head)))]
    })
    .await;
    let mut proxy = TestProxy::new(&provider).await;
    for cut in 1..events.len() {
        let mut request = post(CHAT, streamed_question(PROMPT));
        request.headers_mut().insert("x-cuts", cut.to_string().parse().unwrap());
        let response = proxy.call(request).await;
        assert_eq!(response.body(), &events, "cut at {cut}");
        let event = proxy.event().await;
        assert_eq!((event.status, event.error), (Some(200), None), "cut at {cut}");
        assert!(event.fingerprint.unwrap().response.is_some(), "cut at {cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_bytes_pass_untouched_both_ways(
        request in proptest::collection::vec(any::<u8>(), 0..70_000),
        response in proptest::collection::vec(any::<u8>(), 1..70_000),
        mut cuts in proptest::collection::vec(1..70_000usize, 0..8),
        is_chat in any::<bool>(),
    ) {
        cuts.sort_unstable();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let answer = [stream_head("application/octet-stream"), in_chunks(&response, &cuts)].concat();
            let mut provider = FakeProvider::sending(answer).await;
            let proxy = TestProxy::new(&provider).await;
            let path = if is_chat { CHAT } else { "/agents/bot/openai/v1/files" };
            let answered = proxy.call(post(path, request.clone())).await;
            assert_eq!(answered.body(), &response);
            assert_eq!(provider.received().await.body, request);
        });
    }
}

#[tokio::test]
async fn path_and_query_are_forwarded_as_written() {
    let mut provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let proxy = TestProxy::new(&provider).await;
    for target in ["/v1/models?limit=2&after=a%20b", "//v1/%2ehidden/x;y=1", "/v1/files/a%2Fb?", "/"] {
        let request = Request::get(format!("/agents/bot/openai{target}")).header("host", "localhost");
        proxy.call(request.body(Full::default()).unwrap()).await;
        assert_eq!(provider.received().await.line(), format!("GET {target} HTTP/1.1"));
    }
}

#[tokio::test]
async fn a_call_that_names_only_the_provider_goes_to_its_chat_endpoint() {
    let mut provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = TestProxy::new(&provider).await;
    proxy.call(post("/agents/bot/openai", question(PROMPT))).await;
    assert_eq!(provider.received().await.line(), "POST /v1/chat/completions HTTP/1.1");
    assert!(proxy.event().await.score.is_some());
}

#[tokio::test]
async fn hop_by_hop_headers_are_dropped_and_all_others_forwarded() {
    let answer = "HTTP/1.1 418 Short and stout\r\nconnection: keep-alive, x-hop\r\nx-hop: 1\r\nkeep-alive: timeout=5\r\n\
        set-cookie: a=1\r\nset-cookie: b=2\r\nx-request-id: req_7\r\ncontent-length: 2\r\n\r\n{}";
    let mut provider = FakeProvider::sending(answer).await;
    let proxy = TestProxy::new(&provider).await;
    let request = Request::builder()
        .method(Method::POST)
        .uri(CHAT)
        .header("host", "localhost")
        .header("connection", "x-private")
        .header("x-private", "secret")
        .header("te", "gzip")
        .header("proxy-authorization", "Basic abc")
        .header("authorization", "Bearer client")
        .header("accept-encoding", "gzip")
        .header("x-twice", "1")
        .header("x-twice", "2")
        .body(Full::from(question(PROMPT)))
        .unwrap();
    let response = proxy.call(request).await;

    let received = provider.received().await;
    assert_eq!(received.header("host"), [provider.address.to_string()]);
    assert_eq!(received.header("authorization"), ["Bearer client"]);
    assert_eq!(received.header("accept-encoding"), ["gzip"]);
    assert_eq!(received.header("x-twice"), ["1", "2"]);
    for dropped in ["connection", "x-private", "te", "proxy-authorization", "via", "x-forwarded-for"] {
        assert_eq!(received.header(dropped), Vec::<&str>::new(), "{dropped}");
    }

    assert_eq!(response.status(), StatusCode::IM_A_TEAPOT);
    assert_eq!(response.headers().get_all("set-cookie").iter().collect::<Vec<_>>(), ["a=1", "b=2"]);
    assert_eq!(response.headers()["x-request-id"], "req_7");
    assert_eq!(response.headers()["x-agentgazer-loop-score"], "0.0/10.0");
    assert!(response.headers().contains_key("x-agentgazer-request-id"));
    for dropped in ["x-hop", "keep-alive"] {
        assert!(!response.headers().contains_key(dropped), "{dropped}");
    }
}

#[tokio::test]
async fn a_stored_key_replaces_the_client_s_credential() {
    let mut provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let proxy = TestProxy::new(&provider).await;
    let base = format!("http://{}", provider.address);
    let mut stored = Provider::new("anthropic", &base, Format::Anthropic).unwrap();
    stored.key = Some("sk-stored".into());
    proxy.providers.put(stored);

    let mut request = post("/agents/bot/anthropic/v1/messages", "{}");
    request.headers_mut().insert("authorization", "Bearer client".parse().unwrap());
    request.headers_mut().insert("x-api-key", "client".parse().unwrap());
    proxy.call(request).await;
    let received = provider.received().await;
    assert_eq!(received.header("x-api-key"), ["sk-stored"]);
    assert!(received.header("authorization").is_empty());
}

#[tokio::test]
async fn trailers_are_passed_on() {
    use http_body_util::BodyExt;
    let mut answer = b"HTTP/1.1 200 OK\r\ntrailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    answer.extend(chunk(b"abc"));
    answer.extend(b"0\r\nx-sum: 7\r\n\r\n");
    let provider = FakeProvider::sending(answer).await;
    let proxy = TestProxy::new(&provider).await;
    let mut request = post("/agents/bot/openai/v1/files", "{}");
    request.headers_mut().insert("te", "trailers".parse().unwrap());
    let body = proxy.begin(request).await.into_body().collect().await.unwrap();
    assert_eq!(body.trailers().unwrap()["x-sum"], "7");
    assert_eq!(body.to_bytes(), Bytes::from_static(b"abc"));
}

fn gzipped(plain: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn compressed_bodies_are_forwarded_unchanged_and_read() {
    let body = gzipped(br#"{"choices":[{"message":{"role":"assistant","content":"It is repaired."}}]}"#);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut provider = FakeProvider::sending([head.as_bytes(), &body].concat()).await;
    let mut proxy = TestProxy::new(&provider).await;
    let asked = gzipped(question(PROMPT).as_bytes());
    let mut request = post(CHAT, asked.clone());
    request.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
    let response = proxy.call(request).await;
    assert_eq!(response.body(), &body);
    assert_eq!(response.headers()["content-encoding"], "gzip");
    assert_eq!(provider.received().await.body, asked);
    let event = proxy.event().await;
    assert_eq!((event.model.as_deref(), event.error), (Some("gpt-5-mini"), None));
    assert!(event.fingerprint.unwrap().response.is_some());
}
