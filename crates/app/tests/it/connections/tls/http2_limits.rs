//! The limits of an HTTP/1 connection apply to HTTP/2 too.

use fake_provider::{Behaviour, FakeProvider};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::Certificates;
use super::client::{Body, Http2, text, whole};
use crate::support::{openai_request, provider, slow_provider};

const WINDOW: u32 = 1 << 20;

#[tokio::test]
async fn a_client_that_takes_no_bytes_loses_its_stream_and_not_its_connection() {
    // More than the buffers of all sockets on the path hold.
    let endless = Behaviour { chunks: 1_000_000, ..Behaviour::text(&"word ".repeat(4_000_000)) };
    let (provider, certificates) = (FakeProvider::start(0, endless).await.unwrap(), Certificates::new());
    let server = certificates.server(&provider, &["--set", "limits.idle_timeout=500ms"]);
    let mut connection = Http2::connect(&server.proxy, &certificates, 1024).await;
    let mut body = openai_request("Why?");
    body["stream"] = json!(true);
    let stalled = connection.chat("a", &body).await.unwrap();
    provider.seen().wait_for(|counts| counts.cancelled == 1).await;
    assert!(stalled.into_body().collect().await.is_err(), "the stream is reset");
    let models = connection.request("GET", "/agents/a/openai/v1/models").body(whole("")).unwrap();
    assert_eq!(connection.send(models).await.unwrap().status(), 200);
}

#[tokio::test]
async fn large_heads_are_refused() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &["--set", "limits.max_header_size=8KiB"]);
    let mut connection = Http2::connect(&server.proxy, &certificates, WINDOW).await;
    let request = connection.request("GET", "/agents/a/openai/v1/models").header("large", "x".repeat(9 << 10));
    let answer = connection.send(request.body(whole("")).unwrap()).await;
    assert!(answer.is_err() || answer.unwrap().status() == 431);
    assert_eq!(crate::support::requests(&provider), 0);
}

/// A body of which only the first half comes.
fn half_body() -> (Body, mpsc::Sender<Frame<bytes::Bytes>>) {
    let (sender, receiver) = mpsc::channel(1);
    sender.try_send(Frame::data("{\"key\":".into())).unwrap();
    (StreamBody::new(ReceiverStream::new(receiver).map(Ok)).boxed(), sender)
}

#[tokio::test]
async fn half_a_body_is_not_waited_for() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let limits = ["--set", "limits.header_timeout=300ms", "--set", "limits.idle_timeout=300ms"];
    let server = certificates.server(&provider, &limits);
    for (url, key, method, path) in [
        (&server.dashboard, server.token.as_str(), "PUT", "/api/providers/openai"),
        (&server.proxy, "sk", "POST", "/agents/a/openai/v1/chat/completions"),
    ] {
        let mut connection = Http2::connect(url, &certificates, WINDOW).await;
        let (body, _rest) = half_body();
        let bearer = format!("Bearer {key}");
        let request = connection.request(method, path).header("authorization", bearer).body(body).unwrap();
        let answer = connection.send(request).await.unwrap();
        assert_eq!(answer.status(), 408, "{url}");
        assert!(text(answer).await.contains("time") || path.contains("agents"));
    }
}

#[tokio::test]
async fn client_that_cancels_many_requests_loses_its_connection() {
    let (provider, certificates) = (slow_provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    let mut connection = Http2::connect(&server.proxy, &certificates, WINDOW).await;
    let mut sent = 0;
    loop {
        if connection.sender.ready().await.is_err() {
            break;
        }
        let request = connection.request("POST", "/agents/a/openai/v1/chat/completions");
        let request = request.body(whole(&openai_request("Why?").to_string())).unwrap();
        let mut sender = connection.sender.clone();
        let answer = tokio::spawn(async move { sender.send_request(request).await.map(drop) });
        tokio::task::yield_now().await;
        answer.abort();
        sent += 1;
        assert!(sent < 100_000, "the connection should end");
    }
    assert!(sent >= 20, "some requests may be cancelled: {sent}");
    assert_eq!(server.agent("b").ask("Why?").await.status, 200, "others are served");
}
