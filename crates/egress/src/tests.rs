#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

fn post(url: &str) -> Post {
    Post { target: Target::parse(url).unwrap(), headers: HeaderMap::new(), body: Bytes::from_static(b"{}") }
}

/// A target that answers every connection with `answer` and reports the requests it got.
async fn target(address: Ipv4Addr, answer: Vec<u8>) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (seen, requests) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = vec![0; 8192];
            let read = stream.read(&mut buffer).await.unwrap_or(0);
            let _ = seen.send(String::from_utf8_lossy(&buffer[..read]).into_owned());
            let _ = stream.write_all(&answer).await;
        }
    });
    (port, requests)
}

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn a_private_target_is_refused_before_anything_is_sent() {
    let (port, mut requests) = target(Ipv4Addr::LOCALHOST, answer("200 OK", "", "")).await;
    for host in ["127.0.0.1", "127.1", "0x7f000001", "[::ffff:127.0.0.1]", "localhost"] {
        let refused = Egress::new(false).post(post(&format!("http://{host}:{port}/"))).await.unwrap_err();
        assert!(matches!(&refused, EgressError::Refused(why) if why.contains("private")), "{host}: {refused}");
    }
    assert!(requests.try_recv().is_err());
    assert_eq!(Egress::new(true).post(post(&format!("http://127.0.0.1:{port}/"))).await.unwrap().status, 200);
    assert!(requests.recv().await.unwrap().starts_with("POST / HTTP/1.1\r\n"));
}

/// The name resolves to an allowed address when it is checked, and to another one a moment later.
#[tokio::test]
async fn dns_rebinding_has_no_effect() {
    let (checked, other) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::LOCALHOST);
    let (port, mut requests) = target(checked, answer("200 OK", "", "public")).await;
    let forbidden = TcpListener::bind((other, port)).await.unwrap();
    let lookups = [vec![IpAddr::from(checked)], vec![IpAddr::from(other)], vec![IpAddr::from(other), checked.into()]];
    let script = Arc::new(Mutex::new(VecDeque::from(lookups)));
    let egress = Egress {
        reach: Reach::Only(checked.into()),
        resolver: Resolver::Scripted(Arc::clone(&script)),
        ..Egress::new(false)
    };
    let url = format!("http://rebound.test:{port}/");

    assert_eq!(egress.post(post(&url)).await.unwrap().body, "public");
    assert_eq!(script.lock().unwrap().len(), 2, "one look-up for check and connection");
    assert!(requests.recv().await.unwrap().to_lowercase().contains("host: rebound.test"));
    assert!(matches!(egress.post(post(&url)).await, Err(EgressError::Refused(_))));
    assert_eq!(egress.post(post(&url)).await.unwrap().body, "public", "of several, only the one that may be called");
    let nobody = tokio::time::timeout(Duration::ZERO, forbidden.accept()).await;
    assert!(nobody.is_err(), "the other address was called");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let (private, mut reached) = target(Ipv4Addr::LOCALHOST, answer("200 OK", "", "")).await;
    let location = format!("location: http://127.0.0.1:{private}/secret\r\n");
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let (port, _requests) = target(Ipv4Addr::LOCALHOST, answer(status, &location, "")).await;
        let reply = Egress::new(true).post(post(&format!("http://127.0.0.1:{port}/"))).await.unwrap();
        assert!(reply.status.is_redirection(), "{status}");
    }
    assert!(reached.try_recv().is_err());
}

#[tokio::test]
async fn endless_answer_is_read_up_to_its_limit() {
    let mut endless = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let chunk = [b"4000\r\n".as_slice(), &[b'x'; 0x4000], b"\r\n"].concat();
    endless.extend(chunk.repeat(64));
    let (port, _requests) = target(Ipv4Addr::LOCALHOST, endless).await;
    let reply = Egress::new(true).post(post(&format!("http://127.0.0.1:{port}/"))).await.unwrap();
    assert_eq!((reply.status.as_u16(), reply.body.len()), (200, MAX_ANSWER));
}

#[tokio::test]
async fn a_target_that_never_answers_is_given_up() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let egress = Egress { timeout: Duration::from_millis(20), ..Egress::new(true) };
    assert_eq!(egress.post(post(&url)).await.unwrap_err(), failed("no answer within 20ms"));
}

#[tokio::test]
async fn unreachable_target_fails_with_its_reason() {
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap().local_addr().unwrap();
    let failure = Egress::new(true).post(post(&format!("http://{gone}/"))).await.unwrap_err();
    assert!(matches!(&failure, EgressError::Failed(why) if why.starts_with("no connection")), "{failure}");
    let plain = target(Ipv4Addr::LOCALHOST, answer("200 OK", "", "")).await.0;
    let failure = Egress::new(true).post(post(&format!("https://127.0.0.1:{plain}/"))).await.unwrap_err();
    assert!(failure.to_string().starts_with("no encrypted connection"), "{failure}");
}

/// A connection made elsewhere would not be checked.
#[test]
fn only_egress_and_mailer_connect() {
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["alerts", "control", "identity", "web", "store", "guard", "wire", "model"] {
        let mut folders = vec![sources.join(name).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let place = path.to_string_lossy().into_owned();
                let text = std::fs::read_to_string(&path).unwrap();
                let calls_out = ["TcpStream::connect", "client::legacy", "client::conn", "SmtpTransport"];
                let ours = place.contains("/egress") || place.contains("/mailer") || place.contains("tests");
                assert!(ours || !calls_out.iter().any(|call| text.contains(call)), "{place} calls out by itself");
            }
        }
    }
}
