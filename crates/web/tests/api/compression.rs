//! Answers are compressed where the client accepts it and where that does no harm.

use std::io::Read;

use axum::body::Body;
use axum::http::{HeaderMap, Method, StatusCode};
use flate2::read::GzDecoder;
use http_body_util::BodyExt;
use model::AgentId;

use crate::server::{Server, TOKEN, request};

/// Requests `path` with these encodings, and returns the head and the body as sent.
async fn ask(server: &Server, method: Method, path: &str, encodings: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
    let request = request(method, path).header("authorization", format!("Bearer {TOKEN}"));
    let request = request.header("accept-encoding", encodings).body(Body::empty()).unwrap();
    let (head, body) = server.open(request).await.into_parts();
    (head.status, head.headers, body.collect().await.unwrap().to_bytes().to_vec())
}

fn inflate(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn pages_and_answers_are_compressed() {
    let server = Server::start().await;
    for name in 0..40 {
        server.call(&AgentId::parse(&format!("agent-{name}")).unwrap());
    }
    for path in ["/settings", "/api/openapi.json", "/api/events/export?format=csv"] {
        let (_, plain_head, plain) = ask(&server, Method::GET, path, "identity").await;
        assert!(!plain_head.contains_key("content-encoding"), "{path}");
        let (status, head, sent) = ask(&server, Method::GET, path, "gzip, deflate, br").await;
        assert_eq!((status, head["content-encoding"].to_str().unwrap()), (StatusCode::OK, "gzip"), "{path}");
        assert_eq!(head["vary"], "accept-encoding", "{path}");
        assert!(!head.contains_key("content-length"), "{path}");
        assert_eq!(inflate(&sent).len(), plain.len(), "{path}");
    }
    let (_, _, sent) = ask(&server, Method::GET, "/api/openapi.json", "gzip").await;
    assert!(sent.len() * 5 < web::openapi_json().len(), "{} bytes", sent.len());
}

#[tokio::test]
async fn short_answers_events_and_heads_are_sent_as_they_are() {
    let server = Server::start().await;
    let (_, head, sent) = ask(&server, Method::GET, "/api/providers", "gzip").await;
    assert!(!head.contains_key("content-encoding") && sent.starts_with(b"{"));
    let (_, head, _) = ask(&server, Method::HEAD, "/api/openapi.json", "gzip").await;
    assert!(!head.contains_key("content-encoding"));
    let stream = request(Method::GET, "/api/stream").header("authorization", format!("Bearer {TOKEN}"));
    let stream = server.open(stream.header("accept-encoding", "gzip").body(Body::empty()).unwrap()).await;
    assert!(!stream.headers().contains_key("content-encoding"));
}
