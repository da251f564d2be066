//! The end of bodies whose framing is contradictory or unusual.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::provider::{FakeProvider, LAST_CHUNK, chunk, whole};
use crate::test_proxy::{PROMPT, TestProxy, json};

/// An answer in chunks with these additional header lines.
fn in_chunks(headers: &str, body: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{headers}\r\n");
    [head.as_bytes(), &chunk(body.as_bytes()), LAST_CHUNK].concat()
}

#[tokio::test]
async fn content_length_of_a_chunked_answer_is_ignored() {
    let body = r#"{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":5,"completion_tokens":3}}"#;
    for headers in [
        "content-length: 10\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: Chunked\r\ncontent-length: 1000\r\n",
    ] {
        let provider = FakeProvider::sending(in_chunks(headers, body)).await;
        let mut proxy = TestProxy::new(&provider).await;
        let response = proxy.ask(PROMPT).await;
        assert_eq!(String::from_utf8_lossy(response.body()), body, "{headers}");
        assert!(!response.headers().contains_key("content-length"), "{headers}");
        assert_eq!(proxy.event().await.usage.output, Some(3), "{headers}");
    }
}

#[tokio::test]
async fn answer_in_an_unknown_transfer_coding_is_a_502() {
    let provider = FakeProvider::sending(in_chunks("transfer-encoding: gzip, chunked\r\n", "not really gzip")).await;
    let mut proxy = TestProxy::new(&provider).await;
    let response = proxy.ask(PROMPT).await;
    assert_eq!(response.status(), 502);
    assert!(json(&response)["error"]["message"].as_str().unwrap().contains("transfer coding"));
    assert_eq!(proxy.event().await.status, Some(502));
}

#[tokio::test]
async fn a_body_in_chunks_reaches_the_provider_whatever_the_method() {
    let mut provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let proxy = TestProxy::new(&provider).await;
    for method in ["GET", "DELETE", "PUT"] {
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        let head = format!("{method} /agents/bot/openai/v1/files HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        let request = format!("{head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{method}");
        let received = provider.received().await;
        assert_eq!((received.body.as_slice(), received.header("transfer-encoding")), (&b"hello"[..], vec!["chunked"]));
    }
}
