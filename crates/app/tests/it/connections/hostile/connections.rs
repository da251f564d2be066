//! Connections that hang, stall or break.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use super::{BODY, CHAT, connect};
use crate::support::{ServerBuilder, eventually, provider};
use fake_provider::{Behaviour, FakeProvider, Script};

#[tokio::test]
async fn a_head_that_never_ends_is_not_waited_for() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", "limits.header_timeout=200ms"]).start();
    let mut stream = connect(&server).await;
    stream.write_all(format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\n").as_bytes()).await.unwrap();
    let (mut reading, mut writing) = stream.split();
    let dawdle = async {
        while writing.write_all(b"x: y\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let mut answer = Vec::new();
    let ended = async { drop(reading.read_to_end(&mut answer).await) };
    let first = async {
        tokio::select! { () = dawdle => {}, () = ended => {} }
    };
    tokio::time::timeout(Duration::from_secs(60), first).await.expect("the connection should end");
    assert!(!answer.starts_with(b"HTTP/1.1 200"));
    assert_eq!(provider.seen().counts().requests, 0);
}

#[tokio::test]
async fn a_client_that_stops_reading_lets_its_provider_go() {
    let endless = Behaviour { chunks: 1_000_000, ..Behaviour::text(&"word ".repeat(4_000_000)) };
    let provider = FakeProvider::start(0, endless).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", "limits.idle_timeout=500ms"]).start();
    let mut stream = connect(&server).await;
    let body = BODY.replace(r#""model""#, r#""stream":true,"model""#);
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    stream.readable().await.unwrap();
    provider.seen().wait_for(|counts| counts.cancelled == 1).await;
}

/// Whenever a client disconnects, its call is recorded exactly once and cancelled at the provider.
#[tokio::test]
async fn a_thousand_clients_that_go_away_at_any_moment_are_all_accounted_for() {
    const CLIENTS: u64 = 1_000;
    let pieces = Script::chosen(|_| Behaviour { chunks: 8, delay: Duration::from_millis(2), ..Behaviour::default() });
    let provider = FakeProvider::start(0, pieces).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).start();
    let body = BODY.replace(r#""model""#, r#""stream":true,"model""#);
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    let bytes = format!("{head}{body}");
    for round in 0..CLIENTS / 50 {
        let mut clients = JoinSet::new();
        for place in 0..50 {
            let (mut stream, bytes) = (connect(&server).await, bytes.clone());
            clients.spawn(async move {
                stream.write_all(bytes.as_bytes()).await.unwrap();
                // From before the request reaches the provider until after the answer.
                let moment = Duration::from_micros((round * 50 + place) * 30_000 / CLIENTS);
                let _ = tokio::time::timeout(moment, stream.read_to_end(&mut Vec::new())).await;
            });
        }
        clients.join_all().await;
    }
    let counts = provider.seen().wait_for(|counts| counts.finished + counts.cancelled == counts.requests).await;
    assert!(counts.requests <= CLIENTS && counts.cancelled > 0, "{counts:?}");
    eventually("every call is recorded once", async || {
        let mut calls = 0;
        let mut page = server.get("/api/events?agent=bot&type=llm_call&limit=500").await;
        loop {
            calls += page["items"].as_array().unwrap().len() as u64;
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            page = server.get(&format!("/api/events?agent=bot&type=llm_call&limit=500&cursor={cursor}")).await;
        }
        assert!(calls <= CLIENTS, "{calls}");
        (calls == CLIENTS).then_some(())
    })
    .await;
}
