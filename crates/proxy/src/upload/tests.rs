//! Slow bodies, over a connection in memory and with a manual clock.

#![allow(clippy::unwrap_used, reason = "tests may")]

use std::convert::Infallible;
use std::iter;

use http::{Request, Response};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use http_body_util::Full;

use super::*;

const LENGTH: usize = 300_000;

/// The result for a body of `LENGTH` in these pieces, each after a number of seconds. Ten seconds
/// of silence are allowed.
async fn collected(
    budget: &Arc<BodyBudget>,
    pieces: impl Iterator<Item = (u64, usize)> + Send + 'static,
) -> Result<usize, BrokenUpload> {
    let (client, server) = tokio::io::duplex(LENGTH);
    tokio::spawn(send(client, pieces));
    let (budget, (ended, mut end)) = (Arc::clone(budget), mpsc::unbounded_channel());
    let service = service_fn(move |request: Request<Incoming>| {
        let (budget, ended, idle) = (Arc::clone(&budget), ended.clone(), IdleTimeout::new(Duration::from_secs(10)));
        let (incoming, share) = (request.into_body(), BodyShare::default());
        let mut upload = Upload { incoming, received: 0, limit: LENGTH, idle, progress: None, share };
        async move {
            let whole = upload.collect(&budget).await;
            upload.discard();
            ended.send(whole.map(|whole| whole.len())).unwrap();
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
        }
    });
    tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(server), service));
    end.recv().await.unwrap()
}

async fn send(mut client: DuplexStream, pieces: impl Iterator<Item = (u64, usize)>) {
    let head = format!("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: {LENGTH}\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    for (pause, length) in pieces {
        sleep(Duration::from_secs(pause)).await;
        if client.write_all(&vec![b'x'; length]).await.is_err() {
            return;
        }
    }
    // The connection stays open until the answer has come.
    let _ = client.read(&mut [0; 64]).await;
}

/// Whether a body of `LENGTH` would be read without waiting.
async fn has_budget(budget: &BodyBudget) -> bool {
    timeout(Duration::from_secs(1), BodyShare::default().grow(budget, LENGTH)).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_is_given_up_and_releases_its_budget() {
    let (budget, started) = (Arc::new(BodyBudget::new(LENGTH)), Instant::now());
    let trickle = iter::once((0, 200_000)).chain(iter::repeat((3, 1)));
    let broken = collected(&budget, trickle).await.unwrap_err();
    assert!(matches!(broken, BrokenUpload::TooSlow), "{broken}");
    assert_eq!(Stop::from(&broken).status(), StatusCode::REQUEST_TIMEOUT);
    // Ten seconds, and three for the bytes that came.
    assert_eq!(started.elapsed().as_secs(), 13);
    assert!(has_budget(&budget).await);
}

#[tokio::test(start_paused = true)]
async fn a_body_above_the_least_rate_is_read() {
    let slow = iter::repeat_n((1, LENGTH / 100), 100);
    let budget = Arc::new(BodyBudget::new(LENGTH));
    assert!(matches!(collected(&budget, slow).await, Err(BrokenUpload::TooSlow)));
    let enough = iter::repeat_n((2, LENGTH / 6), 6);
    assert_eq!(collected(&budget, enough).await.unwrap(), LENGTH);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_budget_does_not_count_as_slowness() {
    let (budget, mut other) = (Arc::new(BodyBudget::new(1)), BodyShare::default());
    other.grow(&budget, LENGTH * 2).await;
    assert!(!has_budget(&budget).await);
    tokio::spawn(async move {
        sleep(Duration::from_secs(1000)).await;
        drop(other);
    });
    let pieces = [(0, 100_000), (0, 100_000), (1005, 100_000)];
    assert_eq!(collected(&budget, pieces.into_iter()).await.unwrap(), LENGTH);
}
