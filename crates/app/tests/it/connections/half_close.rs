//! Clients that close their write side after the request still get their answer; the calls of
//! clients that are gone are cancelled.

use std::time::Duration;

use fake_provider::{Behaviour, FakeProvider, Fault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Server, ServerBuilder, slow_provider};

const BODY: &str = r#"{"model":"m","messages":[{"role":"user","content":"Why does the import fail?"}]}"#;
const STREAMED: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Why does it fail?"}]}"#;

fn chat(body: &str) -> String {
    let head = "POST /agents/bot/openai/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length:";
    format!("{head} {}\r\n\r\n{body}", body.len())
}

async fn send(url: &str, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Closes the write side and reads until the server closes.
async fn rest_after_half_close(mut stream: TcpStream) -> String {
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(Duration::from_secs(60), read).await.expect("the connection should end").unwrap();
    answer
}

#[tokio::test]
async fn a_half_closed_client_gets_its_answer_byte_by_byte_as_it_is() {
    let provider = slow_provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let answer = rest_after_half_close(send(&server.proxy, &chat(BODY)).await).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("It takes its time."), "{answer}");
    assert_eq!(answer.matches("HTTP/1.").count(), 1, "{answer}");

    // The body comes in two parts, and the write side is closed with the second.
    let (first, second) = BODY.split_at(20);
    let head = chat(BODY);
    let mut stream = send(&server.proxy, head.strip_suffix(BODY).unwrap()).await;
    stream.write_all(first.as_bytes()).await.unwrap();
    stream.write_all(second.as_bytes()).await.unwrap();
    assert!(rest_after_half_close(stream).await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(provider.seen().counts().cancelled, 0);
}

#[tokio::test]
async fn a_half_closed_client_gets_all_requests_that_it_pipelined() {
    let provider = slow_provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let answer = rest_after_half_close(send(&server.proxy, &chat(BODY).repeat(3)).await).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 3, "{answer}");
}

#[tokio::test]
async fn a_half_closed_client_gets_the_whole_stream() {
    // The delays are longer than the pauses between two probes.
    let behaviour = Behaviour { chunks: 3, delay: Duration::from_millis(1200), ..Behaviour::text("one two three") };
    let provider = FakeProvider::start(0, behaviour).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).start();
    let answer = rest_after_half_close(send(&server.proxy, &chat(STREAMED)).await).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("transfer-encoding: chunked"), "{head}");
    let body = decode_chunks(body);
    assert!(body.contains("three") && body.trim_end().ends_with("data: [DONE]"), "{body}");
}

#[tokio::test]
async fn a_half_closed_client_of_the_dashboard_gets_its_answer() {
    let provider = slow_provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let login = format!(
        "POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\n\r\ntoken={}",
        6 + server.token.len(),
        server.token
    );
    for (request, status) in [("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n", "200"), (&login, "303")] {
        let answer = rest_after_half_close(send(&server.dashboard, request).await).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
}

#[tokio::test]
async fn half_a_body_and_the_end_is_no_request() {
    let provider = slow_provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let whole = chat(BODY);
    let answer = rest_after_half_close(send(&server.proxy, &whole[..whole.len() - 5]).await).await;
    assert!(!answer.contains("200 OK"), "{answer}");
    assert_eq!(provider.seen().counts().requests, 0);
}

/// Waits until the provider has the request, drops the client, and waits for the cancellation.
async fn leaves(fault: Fault, body: &str) {
    let provider = FakeProvider::start(0, Behaviour::fault(fault)).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).start();
    let stream = send(&server.proxy, &chat(body)).await;
    provider.seen().wait_for(|counts| counts.requests == 1).await;
    if let Fault::StallAfter(_) = fault {
        read_some(&stream).await;
    }
    drop(stream);
    let gone = provider.seen().wait_for(|counts| counts.cancelled == 1);
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the provider should be let go");
    assert!(is_served(&server).await);
}

/// Reads until nothing is left: a client that leaves bytes unread resets the connection, which is
/// easy to detect.
async fn read_some(stream: &TcpStream) {
    stream.readable().await.unwrap();
    while tokio::time::timeout(Duration::from_millis(200), stream.readable()).await.is_ok() {
        let _ = stream.try_read(&mut [0; 4096]);
    }
}

async fn is_served(server: &Server) -> bool {
    server.try_api(http::Method::GET, "/healthz", None).await.is_ok_and(|answer| answer.status == 200)
}

#[tokio::test]
async fn a_client_that_goes_away_before_the_answer_begins_lets_its_provider_go() {
    leaves(Fault::Stall, BODY).await;
}

#[tokio::test]
async fn a_client_that_goes_away_inside_a_silent_stream_lets_its_provider_go() {
    leaves(Fault::StallAfter(200), STREAMED).await;
}

#[tokio::test]
async fn a_half_closed_client_that_goes_away_later_lets_its_provider_go() {
    let provider = FakeProvider::start(0, Behaviour::fault(Fault::Stall)).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).start();
    let mut stream = send(&server.proxy, &chat(BODY)).await;
    stream.shutdown().await.unwrap();
    provider.seen().wait_for(|counts| counts.requests == 1).await;
    let mut first = [0; 1];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"H", "the answer has begun, as far as it is known");
    drop(stream);
    let gone = provider.seen().wait_for(|counts| counts.cancelled == 1);
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the provider should be let go");
}

/// The body of a chunked answer.
fn decode_chunks(mut rest: &str) -> String {
    let mut body = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n").unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return body;
        }
        body.push_str(&after[..size]);
        rest = after[size..].strip_prefix("\r\n").unwrap();
    }
}
