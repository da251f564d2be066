//! Malicious or broken clients and providers: raw bytes over raw sockets.

mod bodies;
mod connections;
mod requests;

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::Server;

/// A valid request, to be damaged.
const BODY: &str = r#"{"model":"m","messages":[{"role":"user","content":"Why does the import fail?"}]}"#;
const CHAT: &str = "/agents/bot/openai/v1/chat/completions";

/// A raw connection to the proxy.
async fn connect(server: &Server) -> TcpStream {
    connect_to(&server.proxy).await
}

async fn connect_to(url: &str) -> TcpStream {
    TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap()
}

/// A request with these header lines after its `Host`, the last on its connection.
fn request(line: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n{body}").into_bytes()
}

/// A chat request with its right length.
fn chat(headers: &str, body: &str) -> Vec<u8> {
    request(&format!("POST {CHAT}"), &format!("content-length: {}\r\n{headers}", body.len()), body)
}

/// Sends `bytes` and reads until the connection ends. The server may end it before all is sent.
async fn send(url: &str, bytes: &[u8]) -> String {
    let mut stream = connect_to(url).await;
    let (mut reading, mut writing) = stream.split();
    let sent = async { drop(writing.write_all(bytes).await) };
    let mut answer = Vec::new();
    let received = async { drop(reading.read_to_end(&mut answer).await) };
    let both = async { tokio::join!(sent, received) };
    tokio::time::timeout(Duration::from_secs(60), both).await.expect("the connection should end");
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status codes of all responses in `answer`, in their order.
fn statuses(answer: &str) -> Vec<u16> {
    answer.split("HTTP/1.").skip(1).filter_map(|rest| rest.get(2..5)?.parse().ok()).collect()
}
