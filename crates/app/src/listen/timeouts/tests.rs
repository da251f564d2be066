#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{sleep, timeout};

use super::*;

const TIMEOUTS: Timeouts =
    Timeouts { head: Duration::from_secs(10), write: Duration::from_secs(300), keep_alive: Duration::from_secs(7200) };
const REST: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(3600);

impl HasUnread for DuplexStream {
    fn has_unread(&self) -> bool {
        false
    }
}

fn connection() -> (DuplexStream, TimedStream<DuplexStream>, ConnectionState) {
    let (client, stream) = duplex(8);
    let state = ConnectionState::default();
    (client, TimedStream::new(stream, TIMEOUTS, state.clone()), state)
}

async fn seconds_until_timeout(started: Instant, work: impl Future<Output = io::Result<usize>>) -> u64 {
    assert_eq!(work.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    started.elapsed().as_secs()
}

#[tokio::test(start_paused = true)]
async fn a_head_must_arrive_in_time_as_a_whole() {
    let (mut client, mut stream, _) = connection();
    let started = Instant::now();
    for _ in 0..3 {
        sleep(Duration::from_secs(3)).await;
        client.write_all(b"x").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 1);
        assert!(timeout(Duration::ZERO, stream.read(&mut [0; 8])).await.is_err());
    }
    assert_eq!(seconds_until_timeout(started, stream.read(&mut [0; 8])).await, 13, "10 s after the first wait");
}

#[tokio::test(start_paused = true)]
async fn a_connection_may_be_idle_between_two_calls() {
    let (mut client, mut stream, state) = connection();
    let call = state.begin();
    assert!(timeout(LONG, stream.read(&mut [0; 8])).await.is_err(), "a call takes as long as it takes");
    drop(call);
    assert!(timeout(LONG, stream.read(&mut [0; 8])).await.is_err());
    client.write_all(b"GET").await.unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
    assert_eq!(seconds_until_timeout(Instant::now(), stream.read(&mut [0; 8])).await, 10);
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_ends_after_the_keep_alive_time() {
    let (mut client, mut stream, state) = connection();
    drop(state.begin());
    assert!(timeout(LONG, stream.read(&mut [0; 8])).await.is_err());
    client.write_all(b"GET").await.unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
    drop(state.begin());
    let started = Instant::now();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0, "the end");
    assert_eq!(started.elapsed().as_secs(), 7200, "counted from the last call");
}

#[tokio::test(start_paused = true)]
async fn a_client_must_read_some_bytes_in_time() {
    let (mut client, mut stream, _) = connection();
    let started = Instant::now();
    assert_eq!(stream.write(&[0; 8]).await.unwrap(), 8);
    assert!(timeout(Duration::from_secs(299), stream.write(&[0; 8])).await.is_err());
    assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 1);
    assert_eq!(stream.write(&[0; 8]).await.unwrap(), 1);
    assert_eq!(seconds_until_timeout(started, stream.write(&[0; 8])).await, 599);
}

#[tokio::test]
async fn a_connection_waits_for_its_client_to_send_and_to_read() {
    let (mut client, mut stream, state) = connection();
    assert!(timeout(Duration::ZERO, stream.read(&mut [0; 8])).await.is_err());
    assert!(state.waits_for_client());
    client.write_all(b"GET").await.unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
    assert!(!state.waits_for_client());
    assert!(timeout(Duration::ZERO, stream.write_all(&[0; 9])).await.is_err());
    assert!(state.waits_for_client());
    assert_eq!(client.read(&mut [0; 8]).await.unwrap(), 8);
    stream.write_all(&[0]).await.unwrap();
    assert!(!state.waits_for_client());
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_ends_soon_after_the_server_stops() {
    let (_client, mut stream, state) = connection();
    drop(state.begin());
    state.set_stopping(REST);
    let started = Instant::now();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0, "the end");
    assert_eq!(started.elapsed().as_secs(), 2);

    let (mut late, mut stream, state) = connection();
    state.set_stopping(REST);
    assert!(timeout(Duration::from_secs(1), stream.read(&mut [0; 8])).await.is_err());
    late.write_all(b"GET").await.unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
    assert_eq!(seconds_until_timeout(Instant::now(), stream.read(&mut [0; 8])).await, 9, "10 s for a head");
}

/// A stream whose bytes have arrived but were not announced to its reader.
struct Unannounced {
    stream: DuplexStream,
    is_announced: Arc<AtomicBool>,
}

impl AsyncRead for Unannounced {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.is_announced.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl HasUnread for Unannounced {
    fn has_unread(&self) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_the_runtime_has_not_announced_is_not_late() {
    let (mut client, stream) = duplex(8);
    let is_announced = Arc::new(AtomicBool::new(false));
    let unannounced = Unannounced { stream, is_announced: Arc::clone(&is_announced) };
    let mut stream = TimedStream::new(unannounced, TIMEOUTS, ConnectionState::default());
    client.write_all(b"GET").await.unwrap();
    assert!(timeout(LONG, stream.read(&mut [0; 8])).await.is_err(), "it waits");
    is_announced.store(true, Ordering::Relaxed);
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
}
