//! The recorded error of a provider. The client gets its bytes unchanged.

use std::io::Write as _;

use crate::provider::{FakeProvider, Step, chunk};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, post, question};

const ERROR: &str =
    r#"{"error":{"message":"Incorrect API key provided: sk-live-0123456789. See the docs.","code":"x"}}"#;
const RECORDED: &str = "Incorrect API key provided: ***. See the docs.";

/// A failed answer with these headers and this body, in one piece.
fn failed(headers: &str, body: &[u8]) -> Vec<Vec<u8>> {
    let head = format!("HTTP/1.1 401 Unauthorized\r\n{headers}content-length: {}\r\n\r\n", body.len());
    vec![[head.as_bytes(), body].concat()]
}

/// The same answer in chunks of a few bytes.
fn in_chunks(body: &[u8]) -> Vec<Vec<u8>> {
    let head = b"HTTP/1.1 401 Unauthorized\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let end = b"0\r\n\r\n".to_vec();
    std::iter::once(head).chain(body.chunks(7).map(chunk)).chain([end]).collect()
}

fn gzipped(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn message_of_a_failed_answer_is_recorded_without_its_key() {
    let compressed = gzipped(ERROR.as_bytes());
    let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "too many tokens, ".repeat(40));
    let endless = format!(r#"{{"error":{{"message":"read before the cut"}},"rest":"{}"}}"#, "x".repeat(100_000));
    let html = b"<html>Bad gateway</html>".to_vec();
    let cases = [
        (CHAT, failed("", ERROR.as_bytes()), ERROR.as_bytes().to_vec(), Some(RECORDED.to_owned())),
        (CHAT, in_chunks(ERROR.as_bytes()), ERROR.as_bytes().to_vec(), Some(RECORDED.to_owned())),
        (CHAT, failed("content-encoding: gzip\r\n", &compressed), compressed.clone(), Some(RECORDED.to_owned())),
        (CHAT, failed("", long.as_bytes()), long.clone().into_bytes(), None),
        (CHAT, failed("", endless.as_bytes()), endless.clone().into_bytes(), Some("read before the cut".to_owned())),
        (CHAT, failed("", &html), html.clone(), None),
        // No conversation: the message is recorded all the same.
        (
            "/agents/bot/openai/v1/images",
            failed("", ERROR.as_bytes()),
            ERROR.as_bytes().to_vec(),
            Some(RECORDED.to_owned()),
        ),
    ];
    for (path, pieces, expected, error) in cases {
        let sent = pieces.clone();
        let provider = FakeProvider::new(move |_| sent.iter().cloned().map(Step::Send).collect()).await;
        let mut proxy = TestProxy::new(&provider).await;
        let response = proxy.call(post(path, question(PROMPT))).await;
        assert_eq!((response.status().as_u16(), &response.body()[..]), (401, &expected[..]), "{path}: untouched");
        let event = proxy.event().await;
        assert_eq!(event.status, Some(401));
        match error {
            Some(_) => assert_eq!(event.error, error, "{path}"),
            None if expected == html => assert_eq!(event.error, None),
            None => assert_eq!(event.error.unwrap().chars().count(), 300, "cut, with a mark"),
        }
    }
}

#[tokio::test]
async fn message_in_a_successful_answer_is_no_error() {
    let body = br#"{"message":"all is well","choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}"#;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let answer = [answer.as_bytes(), body].concat();
    let provider = FakeProvider::new(move |_| vec![Step::Send(answer.clone())]).await;
    let mut proxy = TestProxy::new(&provider).await;
    proxy.ask(PROMPT).await;
    assert_eq!(proxy.event().await.error, None);
}
