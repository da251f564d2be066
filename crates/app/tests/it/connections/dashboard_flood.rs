//! Thousands of connections that try to block the dashboard.
//!
//! `FLOOD_SOCKETS=10050 cargo test --test it flood` for more of them.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use http::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::{Http, Server, ServerBuilder, eventually, provider};

const HALF_A_LOGIN: &str = "POST /login HTTP/1.1\r\nhost: localhost\r\n\
     content-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\ntoken=a";
const HEAD_THAT_EXPECTS: &str = "POST /login HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n\
     content-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\n";
const HALF_A_HEAD: &str = "GET /login HTTP/1.1\r\nhost: loc";

fn sockets() -> usize {
    std::env::var("FLOOD_SOCKETS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// A connection to the dashboard from `127.0.0.<last>`.
async fn connect_from(server: &Server, last: u8) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0)))?;
    let address: SocketAddr = server.dashboard.strip_prefix("http://").unwrap().parse().unwrap();
    tokio::time::timeout(Duration::from_secs(30), socket.connect(address)).await.expect("nobody accepts")
}

/// Opens connections, each with the beginning of a request.
async fn flood(server: &Server, addresses: u8, bytes: &str) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for number in 0..sockets() {
        let last = 1 + (number % usize::from(addresses)) as u8;
        let mut stream = connect_from(server, last).await.expect("enough file descriptors: ulimit -n");
        // The server may have closed it already.
        let _ = stream.write_all(bytes.as_bytes()).await;
        held.push(stream);
    }
    held
}

/// Checks that health, a command, the API and a login work from the address of the flood.
async fn check_is_open(server: &Server) {
    check_health(server).await;
    server.api(Method::PATCH, "/api/agents/bot", Some(json!({"active": false}))).await;
    let run = server.run(&["activate", "bot"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = server.run(&["deactivate", "bot"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(server.agent("bot").ask("Are you there?").await.is_inactive_response());
}

async fn check_health(server: &Server) {
    let http = Http::new();
    for path in ["/healthz", "/readyz", "/login"] {
        let answer = http.json(Method::GET, &format!("{}{path}", server.dashboard), None, None).await.unwrap();
        assert_eq!(answer.status, 200, "{path}");
    }
}

async fn is_open_during(addresses: u8, bytes: &str) {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.agent("bot").ask("Why does the import fail?").await;
    let held = flood(&server, addresses, bytes).await;
    check_is_open(&server).await;
    drop(held);
}

#[tokio::test]
async fn half_sent_logins_do_not_hold_the_dashboard_shut() {
    is_open_during(1, HALF_A_LOGIN).await;
}

#[tokio::test]
async fn half_sent_heads_from_many_addresses_do_not_hold_the_dashboard_shut() {
    is_open_during(250, HALF_A_HEAD).await;
}

#[tokio::test]
async fn bodies_that_are_asked_for_and_never_come_do_not_hold_the_dashboard_shut() {
    is_open_during(1, HEAD_THAT_EXPECTS).await;
}

#[tokio::test]
async fn silent_connections_do_not_hold_the_dashboard_shut() {
    is_open_during(1, "").await;
}

#[tokio::test]
async fn a_flood_does_not_end_connections_that_have_shown_the_token() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let mut operator = connect_from(&server, 1).await.unwrap();
    let request =
        format!("GET /api/agents HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n", server.token);
    for _ in 0..2 {
        operator.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 4096];
        let length = operator.read(&mut answer).await.unwrap();
        assert!(answer[..length].starts_with(b"HTTP/1.1 200"));
        drop(flood(&server, 1, HALF_A_LOGIN).await);
    }
}

/// Clients that request more than all buffers on the path hold and read none of it.
#[tokio::test]
async fn clients_that_do_not_read_their_answers_are_ended_too() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let login = Http::new().json(Method::GET, &format!("{}/login", server.dashboard), None, None).await.unwrap();
    let page = String::from_utf8(login.body.to_vec()).unwrap();
    let style = page.split('"').find(|part| part.ends_with("/style.css")).unwrap();
    let requests = format!("GET {style} HTTP/1.1\r\nhost: localhost\r\n\r\n").repeat(250);
    let mut held = Vec::new();
    // More than one address may hold, and few enough for a slow machine to answer.
    for _ in 0..140 {
        let mut stream = connect_from(&server, 1).await.unwrap();
        stream.write_all(requests.as_bytes()).await.unwrap();
        held.push(stream);
    }
    // A new connection makes the server close one that waits for its client: on a slow machine the
    // oldest starts to wait after others. A write shows that a connection is closed.
    let (oldest, further) = (held.remove(0), Mutex::new(held));
    eventually("the oldest is ended", async || {
        let connected = connect_from(&server, 1).await.unwrap();
        further.lock().unwrap().push(connected);
        let written = oldest.try_write(b"x");
        written.is_err_and(|error| error.kind() != std::io::ErrorKind::WouldBlock).then_some(())
    })
    .await;
    check_health(&server).await;
}

#[tokio::test]
async fn half_a_body_is_not_waited_for() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", "limits.header_timeout=300ms"]).start();
    let authorised = HALF_A_LOGIN.replace("POST /login", "PUT /api/agents/bot/kill-switch").replace(
        "application/x-www-form-urlencoded",
        &format!("application/json\r\nauthorization: Bearer {}", server.token),
    );
    for request in [HALF_A_LOGIN, &authorised] {
        let mut stream = connect_from(&server, 1).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = dawdle(stream).await;
        assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("body_timeout"), "{answer}");
    }
}

/// Sends a byte at intervals until there is an answer.
async fn dawdle(mut stream: TcpStream) -> String {
    let mut answer = [0; 4096];
    loop {
        tokio::select! {
            biased;
            length = stream.read(&mut answer) => return String::from_utf8_lossy(&answer[..length.unwrap()]).into_owned(),
            () = tokio::time::sleep(Duration::from_millis(100)) => stream.write_all(b"x").await.unwrap(),
        }
    }
}
