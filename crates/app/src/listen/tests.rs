#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use http_body_util::Full;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, Semaphore};

use super::*;

const LIMITS: ListenLimits = ListenLimits {
    max_header_size: 8 << 10,
    header_timeout: Duration::from_secs(60),
    idle_timeout: Duration::from_secs(300),
    max_connections: 8,
    unauthenticated: None,
    stop_grace: Duration::from_millis(50),
};
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";
const LONG: Duration = Duration::from_secs(60);

/// A listener whose answers wait for permits, and a connection to it.
struct Scene {
    arrived: Arc<Notify>,
    /// One permit for each answer.
    may_go: Arc<Semaphore>,
    listener: Listener,
    address: SocketAddr,
}

impl Scene {
    async fn with(limits: ListenLimits) -> Scene {
        let (arrived, may_go) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
        let signals = (Arc::clone(&arrived), Arc::clone(&may_go));
        let socket = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = socket.local_addr().unwrap();
        let listener = Listener::start(socket, limits, None, move |_, _| {
            let (arrived, may_go) = signals.clone();
            async move {
                arrived.notify_one();
                may_go.acquire().await.unwrap().forget();
                Response::new(Full::from("done"))
            }
        });
        Scene { arrived, may_go, listener, address }
    }

    async fn connect(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }
}

/// Reads until the connection ends, in whatever way.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn calls_in_flight_finish_when_it_stops() {
    let scene = Scene::with(LIMITS).await;
    let stream = scene.connect(REQUEST).await;
    scene.arrived.notified().await;
    let stopping = tokio::spawn(scene.listener.stop(LONG));
    scene.may_go.add_permits(1);
    let answer = rest(stream).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("done"), "{answer}");
    assert!(stopping.await.unwrap(), "all should have finished");
    assert!(TcpStream::connect(scene.address).await.is_err(), "nobody should accept any more");
}

#[tokio::test]
async fn idle_connections_do_not_delay_the_stop() {
    let scene = Scene::with(LIMITS).await;
    let mut stream = scene.connect(REQUEST).await;
    scene.may_go.add_permits(1);
    let mut answer = vec![0; 15];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 200 OK");
    assert!(scene.listener.stop(LONG).await);
}

#[tokio::test]
async fn idle_connections_get_a_last_answer_that_announces_the_close() {
    let scene = Scene::with(ListenLimits { stop_grace: LONG, ..LIMITS }).await;
    let mut idle = scene.connect(REQUEST).await;
    scene.may_go.add_permits(1);
    let mut answer = [0; 512];
    let length = idle.read(&mut answer).await.unwrap();
    assert!(answer[..length].ends_with(b"done") && !answer[..length].windows(5).any(|part| part == b"close"));
    scene.listener.announce_stop();
    idle.write_all(REQUEST).await.unwrap();
    scene.may_go.add_permits(1);
    let answer = rest(idle).await;
    assert!(answer.ends_with("done") && answer.contains("connection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn clients_that_connect_again_are_answered_while_others_are_connected() {
    let scene = Scene::with(ListenLimits { stop_grace: LONG, ..LIMITS }).await;
    let in_flight = scene.connect(REQUEST).await;
    scene.arrived.notified().await;
    scene.listener.announce_stop();
    let stopping = tokio::spawn(scene.listener.stop(LONG));
    let mut again = TcpStream::connect(scene.address).await.unwrap();
    again.write_all(REQUEST).await.unwrap();
    scene.arrived.notified().await;
    scene.may_go.add_permits(2);
    let (first, second) = (rest(in_flight).await, rest(again).await);
    assert!(first.ends_with("done") && second.ends_with("done"), "{first} {second}");
    assert!(stopping.await.unwrap());
}

#[tokio::test]
async fn calls_that_do_not_finish_in_time_are_cut() {
    let scene = Scene::with(LIMITS).await;
    let stream = scene.connect(REQUEST).await;
    scene.arrived.notified().await;
    assert!(!scene.listener.stop(Duration::ZERO).await);
    assert_eq!(rest(stream).await, "");
}

#[tokio::test]
async fn a_head_that_takes_too_long_ends_the_connection() {
    let scene = Scene::with(ListenLimits { header_timeout: Duration::from_millis(1), ..LIMITS }).await;
    let stream = scene.connect(b"GET / HTTP/1.1\r\nhost:").await;
    assert!(!rest(stream).await.contains("200 OK"));
}

#[tokio::test]
async fn a_client_that_stops_reading_ends_the_connection() {
    let socket = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = socket.local_addr().unwrap();
    let limits = ListenLimits { idle_timeout: Duration::from_millis(1), ..LIMITS };
    // Far more than all buffers on the path hold.
    let listener = Listener::start(socket, limits, None, async |_, _| Response::new(Full::from(vec![0; 64 << 20])));
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    stream.readable().await.unwrap();
    assert!(listener.stop(LONG).await, "the server must not wait for it");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let scene = Scene::with(LIMITS).await;
    let request = format!("GET / HTTP/1.1\r\nhost: test\r\nlarge: {}\r\n\r\n", "x".repeat(9 << 10));
    let answer = rest(scene.connect(request.as_bytes()).await).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn connections_over_the_limit_wait() {
    let scene = Scene::with(ListenLimits { max_connections: 1, ..LIMITS }).await;
    let first = scene.connect(REQUEST).await;
    scene.arrived.notified().await;
    let second = scene.connect(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").await;
    drop(first);
    scene.arrived.notified().await;
    scene.may_go.add_permits(1);
    assert!(rest(second).await.ends_with("done"));
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_after_the_keep_alive_time() {
    let scene = Scene::with(LIMITS).await;
    let mut stream = scene.connect(REQUEST).await;
    scene.arrived.notified().await;
    scene.may_go.add_permits(1);
    let mut answer = [0; 512];
    let length = stream.read(&mut answer).await.unwrap();
    assert!(answer[..length].ends_with(b"done"));
    let answered = tokio::time::Instant::now();
    assert_eq!(rest(stream).await, "");
    assert_eq!(answered.elapsed(), KEEP_ALIVE);
}

#[tokio::test]
async fn one_address_cannot_hold_all_connections() {
    let by_address = UnauthenticatedLimits { per_network: 2, total: usize::MAX, can_authenticate: false };
    let scene = Scene::with(ListenLimits { unauthenticated: Some(by_address), ..LIMITS }).await;
    let mut idle = scene.connect(REQUEST).await;
    scene.arrived.notified().await;
    scene.may_go.add_permits(1);
    let length = idle.read(&mut [0; 512]).await.unwrap();
    assert!(length > 0);

    let busy = scene.connect(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").await;
    scene.arrived.notified().await;
    let third = scene.connect(REQUEST).await;
    assert_eq!(rest(idle).await, "", "the idle connection is closed");
    scene.arrived.notified().await;
    scene.may_go.add_permits(1);
    assert!(rest(busy).await.ends_with("done"), "a call in flight goes on");
    drop(third);
}
