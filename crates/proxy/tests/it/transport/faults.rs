//! Providers that die, hang or cannot be reached, and clients that are slow or send too much.

use std::time::Duration;

use http_body_util::BodyExt;
use model::Outcome;
use proxy::ProxyConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::provider::{FakeProvider, Step, chat_answer, chat_stream, chunk, stream_head, whole};
use crate::test_proxy::{
    CHAT, PROMPT, TestProxy, begin, collect, config, json, post, question, read_until_end, streamed_question,
};

#[tokio::test]
async fn a_stream_whose_provider_dies_ends_with_an_error_in_its_own_format() {
    let events = chat_stream(&["one", " two", " three"]);
    let done = events.len() - b"data: [DONE]\n\n".len();
    for cut in [0, 1, 7, 60, events.len() / 2, done - 1, done] {
        let (head, begun) = (stream_head("text/event-stream"), events[..cut].to_vec());
        let provider = FakeProvider::new(move |_| {
            let begun = if begun.is_empty() { Vec::new() } else { chunk(&begun) };
            vec![Step::Send(head.clone()), Step::Send(begun), Step::Close]
        })
        .await;
        let mut proxy = TestProxy::new(&provider).await;
        let response = proxy.begin(post(CHAT, streamed_question(PROMPT))).await;
        let (bytes, broke) = read_until_end(response.into_body()).await;
        assert!(!broke, "cut at {cut}");
        assert!(bytes.starts_with(&events[..cut]), "cut at {cut}");
        let added = String::from_utf8(bytes[cut..].to_vec()).unwrap();
        assert!(added.contains("\"error\"") && added.ends_with("data: [DONE]\n\n"), "cut at {cut}: {added}");
        let event = proxy.event().await;
        assert!(event.error.unwrap().contains("closed the connection"), "cut at {cut}");
        assert_eq!(event.fingerprint.unwrap().outcome, Outcome::Failed, "cut at {cut}");
    }
}

#[tokio::test]
async fn a_body_whose_provider_dies_breaks_and_nothing_is_invented() {
    let answer = chat_answer("a long answer that never comes to its end");
    for keep in [answer.len() - 1, answer.len() - 40] {
        let begun = answer[..keep].to_vec();
        let provider = FakeProvider::new(move |_| vec![Step::Send(begun.clone()), Step::Close]).await;
        let mut proxy = TestProxy::new(&provider).await;
        let response = proxy.begin(post(CHAT, question(PROMPT))).await;
        let (bytes, broke) = read_until_end(response.into_body()).await;
        assert!(broke && answer.windows(bytes.len().max(1)).any(|window| window == bytes || bytes.is_empty()));
        assert_eq!(proxy.event().await.fingerprint.unwrap().outcome, Outcome::Failed);
    }
}

#[tokio::test]
async fn stream_closed_without_a_terminal_event_is_an_error() {
    let check = async |events: Vec<u8>, outcome: Outcome| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec();
        let provider = FakeProvider::new(move |_| vec![Step::Send([&head[..], &events].concat()), Step::Close]).await;
        let mut proxy = TestProxy::new(&provider).await;
        let response = proxy.begin(post(CHAT, streamed_question(PROMPT))).await;
        assert!(!read_until_end(response.into_body()).await.1);
        assert_eq!(proxy.event().await.fingerprint.unwrap().outcome, outcome);
    };
    let events = chat_stream(&["well", " done"]);
    check(events.clone(), Outcome::Answered).await;
    check(events[..events.len() / 2].to_vec(), Outcome::Failed).await;
}

fn impatient() -> ProxyConfig {
    let soon = Duration::from_millis(50);
    ProxyConfig { first_byte_timeout: soon, idle_timeout: soon, connect_timeout: soon, ..config() }
}

#[tokio::test]
async fn a_provider_that_does_not_begin_to_answer_is_a_504() {
    let provider = FakeProvider::new(|_| vec![Step::Hold]).await;
    let mut proxy = TestProxy::with(&provider, impatient(), Default::default()).await;
    let response = proxy.ask(PROMPT).await;
    assert_eq!(response.status(), 504);
    assert!(json(&response)["error"]["message"].is_string());
    assert_eq!(proxy.event().await.status, Some(504));
}

#[tokio::test]
async fn a_provider_that_goes_silent_inside_a_stream_ends_it_with_an_error() {
    let provider = FakeProvider::new(|_| {
        let begun = chunk(b"data: {\"choices\":[]}\n\n");
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(begun), Step::Hold]
    })
    .await;
    let mut proxy = TestProxy::with(&provider, impatient(), Default::default()).await;
    let response = proxy.begin(post(CHAT, streamed_question(PROMPT))).await;
    let (bytes, broke) = read_until_end(response.into_body()).await;
    assert!(!broke && bytes.ends_with(b"data: [DONE]\n\n"));
    assert!(proxy.event().await.error.unwrap().contains("silent"));
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_a_502() {
    let provider = FakeProvider::sending("").await;
    let mut proxy = TestProxy::new(&provider).await;
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    proxy.providers.put(model::Provider::new("openai", &format!("http://{free}"), model::Format::Openai).unwrap());
    let response = proxy.ask(PROMPT).await;
    assert_eq!(response.status(), 502);
    assert!(json(&response)["error"]["message"].as_str().unwrap().contains("could not be reached"));
    assert_eq!(proxy.event().await.fingerprint.unwrap().outcome, Outcome::Failed);
}

#[tokio::test]
async fn a_client_that_stops_sending_is_not_waited_for() {
    let provider = FakeProvider::sending("").await;
    let proxy = TestProxy::with(&provider, impatient(), Default::default()).await;
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 408"));
    assert_eq!(provider.calls(), 0);
}

#[tokio::test]
async fn a_slow_client_slows_the_provider() {
    // What the kernel may buffer for the four sockets on the path.
    const BUFFERS: usize = 96 << 20;
    let mut provider = FakeProvider::new(|_| vec![Step::Send(stream_head("text/event-stream")), Step::Flood]).await;
    let proxy = TestProxy::new(&provider).await;
    let mut body = proxy.begin(post(CHAT, streamed_question(PROMPT))).await.into_body();
    body.frame().await.unwrap().unwrap();
    // The client stops reading. The proxy has stopped too when other calls see no more bytes taken.
    let (mut taken, mut calls_without) = (provider.flooded(), 0);
    while calls_without < 20 {
        proxy.make_other_call().await;
        calls_without = if provider.flooded() == taken { calls_without + 1 } else { 0 };
        taken = provider.flooded();
        assert!(taken < BUFFERS, "{taken} bytes were taken for a client that does not read");
    }
    drop(body);
    provider.hung_up_on().await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_a_413_in_the_caller_s_format() {
    let provider = FakeProvider::sending("").await;
    let small = ProxyConfig { max_request_body: 1000, ..config() };
    let mut proxy = TestProxy::with(&provider, small, Default::default()).await;
    for path in [CHAT, "/agents/bot/openai/v1/files"] {
        let response = proxy.call(post(path, vec![b'x'; 400_000])).await;
        assert_eq!(response.status(), 413);
        assert_eq!(response.headers()["connection"], "close");
        assert!(json(&response)["error"]["message"].as_str().unwrap().contains("1000"));
        assert_eq!(proxy.event().await.status, Some(413));
    }
    assert_eq!(provider.calls(), 0);
}

#[tokio::test]
async fn a_body_of_unknown_length_over_the_limit_is_a_413_too() {
    let provider = FakeProvider::new(|_| vec![Step::Hold]).await;
    let small = ProxyConfig { max_request_body: 1000, ..config() };
    let proxy = TestProxy::with(&provider, small, Default::default()).await;
    for path in [CHAT, "/agents/bot/openai/v1/files"] {
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
        let body = chunk(&[b'x'; 600]).repeat(2);
        stream.write_all(&[head.as_bytes(), &body, b"0\r\n\r\n"].concat()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 413"), "{path}");
    }
}

#[tokio::test]
async fn call_waits_while_the_body_budget_is_used_up() {
    // More than the system buffers before someone reads: once it is sent, much of it has been read.
    const HALF: usize = 8 << 20;
    let provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let small = ProxyConfig { bodies_in_flight: 1, max_request_body: 2 * HALF, ..config() };
    let proxy = TestProxy::with(&provider, small, Default::default()).await;
    let length = 2 * HALF;
    let (half, head) =
        (vec![b'x'; HALF], format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"));
    // Takes the whole budget, and the overdraft.
    let mut first = TcpStream::connect(proxy.address).await.unwrap();
    first.write_all(&[head.as_bytes(), &half].concat()).await.unwrap();
    let second = tokio::spawn({
        let address = proxy.address;
        async move { collect(begin(address, post(CHAT, vec![b'x'; 900_000])).await).await.status() }
    });
    assert_eq!(proxy.ask("Small bodies take no room").await.status(), 200);
    assert_eq!(provider.calls(), 1);

    first.write_all(&half).await.unwrap();
    assert_eq!(second.await.unwrap(), 200);
    assert_eq!(provider.calls(), 3);
}

#[tokio::test]
async fn consecutive_calls_reuse_a_connection() {
    let streamed =
        [stream_head("text/event-stream"), chunk(&chat_stream(&["one", " two"])), b"0\r\n\r\n".to_vec()].concat();
    for answer in [chat_answer("whole"), streamed, b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()] {
        let provider = FakeProvider::sending(answer).await;
        let proxy = TestProxy::new(&provider).await;
        for _ in 0..3 {
            assert!(proxy.ask(PROMPT).await.status().is_success());
            proxy.make_other_call().await;
        }
        assert_eq!((provider.calls(), provider.connections()), (3, 1));
    }
}

#[tokio::test]
async fn connection_closed_while_idle_is_not_reused() {
    let provider = FakeProvider::new(|_| vec![Step::Send(chat_answer("whole")), Step::Close]).await;
    let proxy = TestProxy::new(&provider).await;
    for _ in 0..3 {
        assert_eq!(proxy.ask(PROMPT).await.status(), 200);
        proxy.make_other_call().await;
    }
    assert_eq!((provider.calls(), provider.connections()), (3, 3));
}

#[tokio::test]
async fn connection_with_an_unread_answer_is_not_reused() {
    let begun = [stream_head("text/event-stream"), chunk(&chat_stream(&["one"])[..20])].concat();
    let mut provider = FakeProvider::new(move |_| vec![Step::Send(begun.clone()), Step::Hold]).await;
    let proxy = TestProxy::new(&provider).await;
    for calls in 1..=2 {
        drop(proxy.begin(post(CHAT, streamed_question(PROMPT))).await);
        provider.hung_up_on().await;
        assert_eq!(provider.connections(), calls);
    }
}

#[tokio::test]
async fn refused_client_that_is_still_sending_gets_the_reason() {
    let provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let proxy = TestProxy::new(&provider).await;
    // Larger than what fits into the buffers of both sockets.
    let response = proxy.call(post("/agents/bot/nobody/v1/x", vec![b'x'; 900_000])).await;
    assert_eq!(response.status(), 404);
}
