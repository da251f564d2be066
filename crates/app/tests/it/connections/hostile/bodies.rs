//! Bodies that are too large, not JSON, too deep, compressed or expanding.

#![allow(clippy::print_stderr, reason = "how much memory it took is worth seeing")]

use std::fmt::Write as _;
use std::io::Write as _;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{CHAT, chat, request, send, statuses};
use crate::support::{Answer, Server, ServerBuilder, eventually, provider, requests};

const MIB: usize = 1 << 20;

async fn post(server: &Server, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
    let mut request = Request::post(format!("{}{CHAT}", server.proxy));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.http.send(request.body(Full::new(body.into())).unwrap()).await.unwrap()
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_its_client_can_read_why() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let whole = "x".repeat(33 * MIB);
    let mut chunks = String::new();
    for _ in 0..33 {
        write!(chunks, "{MIB:x}\r\n{}\r\n", "x".repeat(MIB)).unwrap();
    }
    chunks.push_str("0\r\n\r\n");
    for path in [CHAT, "/agents/bot/openai/v1/files"] {
        let chunked = request(&format!("POST {path}"), "transfer-encoding: chunked\r\n", &chunks);
        let lengthy = request(&format!("POST {path}"), &format!("content-length: {}\r\n", whole.len()), &whole);
        for bytes in [chunked, lengthy] {
            let answer = send(&server.proxy, &bytes).await;
            assert_eq!(statuses(&answer), [413], "{path}");
            assert!(answer.contains("at most 33554432 bytes"), "{answer}");
        }
    }
    let finished = provider.seen().counts().finished;
    assert_eq!(finished, 0, "nothing of it came to a provider as a whole");
}

#[tokio::test]
async fn unreadable_bodies_are_forwarded_unchanged_and_unscored() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let deep = format!(r#"{{"messages":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let bodies: [(&[u8], &str); 6] = [
        (b"{\"messages\": [", "not valid JSON"),
        (b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}", "not UTF-8"),
        (deep.as_bytes(), "nested too deeply"),
        (b"", "not valid JSON"),
        (b"[1,2]", "not an object"),
        (b"\x1f\x8bnot gzip after all", "not UTF-8"),
    ];
    for (body, _) in bodies {
        let answer = post(&server, &[("content-type", "application/json")], body.to_vec()).await;
        assert_eq!((answer.status.as_u16(), answer.header("x-agentgazer-loop-score")), (200, ""));
        assert_eq!(provider.seen().last().unwrap().body, body);
    }
    let events = eventually("all are recorded", async || {
        let events = server.events("bot", "llm_call").await;
        (events.len() == bodies.len()).then_some(events)
    })
    .await;
    for (event, (_, why)) in events.iter().rev().zip(bodies) {
        assert!(event["score"].is_null(), "{event}");
        assert!(event.to_string().contains(&format!("unread: {why}")), "{why}: {event}");
    }
    let stats = server.get("/api/agents/bot/stats").await;
    let expected = serde_json::json!([
        { "reason": "invalid_json", "requests": 2 }, { "reason": "not_utf8", "requests": 2 },
        { "reason": "not_an_object", "requests": 1 }, { "reason": "too_deep", "requests": 1 },
    ]);
    assert_eq!(stats["unscored"], expected);
}

#[tokio::test]
async fn compressed_requests_are_read_and_forwarded_compressed() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let body = gzip(super::BODY.as_bytes());
    let answer = post(&server, &[("content-encoding", "gzip")], body.clone()).await;
    assert_eq!(answer.header("x-agentgazer-loop-score"), "0.0/10.0");
    let seen = provider.seen().last().unwrap();
    assert_eq!((seen.body.as_ref(), &seen.headers["content-encoding"]), (body.as_slice(), &"gzip".parse().unwrap()));
}

#[tokio::test]
async fn expanding_bodies_cost_no_more_than_large_ones() {
    let bombs =
        [("gzip", gzip(&vec![b' '; 512 * MIB])), ("zstd", zstd::bulk::compress(&vec![b' '; 512 * MIB], 1).unwrap())];
    for (encoding, bomb) in bombs {
        let head = format!("content-type: application/json\r\ncontent-encoding: {encoding}\r\n");
        let provider = scripted(&head, &bomb).await;
        let server = ServerBuilder::new(&provider).start();
        let before = server.memory();
        for _ in 0..3 {
            let answer = post(&server, &[("content-encoding", encoding)], bomb.clone()).await;
            assert_eq!(answer.body, bomb, "{encoding}: what came goes on as it came");
        }
        let growth = server.memory().saturating_sub(before);
        eprintln!("{encoding}: {} bytes that are 512 MiB took {} MiB at the most", bomb.len(), growth / MIB);
        assert!(growth < 128 * MIB, "{encoding}: {growth}");
    }
}

#[tokio::test]
async fn a_malformed_stream_is_forwarded_as_it_is() {
    let streams: [&[u8]; 4] = [
        b"data: {broken\n\ndata\ndata: \xff\xfe\n\n:\r\r\n\nevent: x\n\ndata: [DONE]\n\n",
        b"\xef\xbb\xbfdata: {\"choices\":[{\"index\":18446744073709551615,\"delta\":{\"content\":7}}]}\n\n",
        b"data: {\"choices\":{\"0\":[]},\"usage\":[],\"error\":{}}\n\n",
        b"not a stream at all\0\0\0",
    ];
    for stream in streams {
        let provider = scripted("content-type: text/event-stream\r\n", stream).await;
        let server = ServerBuilder::new(&provider).start();
        let answer = post(&server, &[], super::BODY).await;
        assert_eq!(answer.body, stream);
    }
}

#[tokio::test]
async fn a_hundred_large_bodies_at_once_are_forwarded() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let text = "The import of customers fails. ".repeat(10 * MIB / 31);
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"first"}},{{"role":"system","content":"{text}"}},{{"role":"user","content":"What now?"}}]}}"#
    );
    let bytes = Bytes::from(chat("", &body));
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let (url, bytes) = (server.proxy.clone(), bytes.clone());
            tokio::spawn(async move { statuses(&send(&url, &bytes).await) })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), [200]);
    }
    eprintln!("100 bodies of 10 MiB at once took {} MiB at the most", server.memory() / MIB);
    assert_eq!(requests(&provider), 100);
    assert!(server.memory() < 2500 * MIB);
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A provider that reads a request's head and length, and always answers with these bytes.
async fn scripted(head: &str, body: &[u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\n{head}content-length: {length}\r\nconnection: close\r\n\r\n");
    let answer = [head.as_bytes(), body].concat();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut seen = Vec::new();
                while !is_whole(&seen) {
                    stream.read_buf(&mut seen).await.unwrap();
                }
                let _ = stream.write_all(&answer).await;
            });
        }
    });
    url
}

/// Whether a request with a length is complete.
fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.trim().parse().ok());
    request.len() >= end + 4 + length.unwrap_or(0)
}

#[tokio::test]
async fn large_bodies_one_after_another_stay_within_the_evidence_budget() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", "evidence_budget=64MiB"]).start();
    let text = "The import of customers fails. ".repeat(30_000_000 / 31);
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"system","content":"{text}"}},{{"role":"user","content":"What now?"}}]}}"#
    );
    for number in 0..100 {
        // A separate agent each, so that none of the calls leaves a window.
        let line = format!("POST /agents/bot-{number}/openai/v1/chat/completions");
        let bytes = request(&line, &format!("content-length: {}\r\n", body.len()), &body);
        assert_eq!(statuses(&send(&server.proxy, &bytes).await), [200]);
    }
    eprintln!("100 bodies of 30 MB one after another took {} MiB at the most", server.memory() / MIB);
    // The budget, and a few copies of the one body that is read, sent and compressed.
    assert!(server.memory() < (64 + 256) * MIB);
}
