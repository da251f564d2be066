//! Wrong tokens over real connections, from several addresses of this machine.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use crate::support::{Server, ServerBuilder, provider};

/// The status of a request that is sent from `127.0.0.<last>`.
async fn status_from(server: &Server, last: u8, request: &str) -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).unwrap();
    let address = server.dashboard.strip_prefix("http://").unwrap().parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

fn ask(token: &str) -> String {
    let head = "GET /api/agents HTTP/1.1\r\nhost: localhost\r\nconnection: close";
    format!("{head}\r\nauthorization: Bearer {token}\r\n\r\n")
}

fn log_in(token: &str) -> String {
    let head = "POST /login HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
        content-type: application/x-www-form-urlencoded\r\ncontent-length:";
    format!("{head} {}\r\n\r\ntoken={token}", 6 + token.len())
}

#[tokio::test]
async fn wrong_tokens_are_limited_per_address_and_the_right_one_is_always_let_in() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    // The right token between wrong ones neither counts nor resets the limit.
    for guess in [ask, log_in] {
        let mut refused = 0;
        while status_from(&server, 2, &guess("wrong-secret")).await != "429" {
            refused += 1;
            assert!(refused < 100, "nobody limits wrong tokens");
            assert_eq!(status_from(&server, 2, &ask(&server.token)).await, "200");
            assert_eq!(status_from(&server, 2, &log_in(&server.token)).await, "303");
        }
        assert_eq!(status_from(&server, 2, &ask(&server.token)).await, "200");
        assert_eq!(status_from(&server, 2, &log_in(&server.token)).await, "303");
    }
    assert_eq!(status_from(&server, 3, &ask("wrong-secret")).await, "401");
    assert_eq!(status_from(&server, 4, &log_in("wrong-secret")).await, "401");
    let log = server.log();
    assert_eq!(log.matches("too many wrong tokens").count(), 1, "{log}");
    assert!(log.contains("127.0.0.2") && !log.contains("wrong-secret"), "{log}");
}

#[tokio::test]
async fn pipelined_guesses_count_one_by_one() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let guess = ask("wrong-secret").replace("connection: close\r\n", "");
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
    let address = server.dashboard.strip_prefix("http://").unwrap().parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(format!("{}{}", guess.repeat(19), ask("wrong-secret")).as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let count = |status: &str| answer.matches(&format!("HTTP/1.1 {status} ")).count();
    assert_eq!(count("401") + count("429"), 20, "{answer}");
    assert!(count("401") >= 10 && count("429") > 0, "{answer}");
}
