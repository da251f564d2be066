//! A provider that sends exactly the bytes of a script and keeps what it receives, for tests of
//! framing, cut streams and silence that an HTTP server would not allow.
#![allow(clippy::expect_used, reason = "only tests use it, where a failed expectation is a failed test")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A step of a provider's script.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends until the connection ends.
    Flood,
    /// Stays silent until the connection ends.
    Hold,
    /// Closes the connection.
    Close,
}

/// A request as received.
#[derive(Clone, Debug)]
pub struct Received {
    /// Request line and headers.
    pub head: String,
    /// The body, without its chunk framing.
    pub body: Vec<u8>,
}

impl Received {
    /// All values of a header.
    pub fn header(&self, name: &str) -> Vec<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    /// The request line.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }
}

type Script = dyn Fn(&Received) -> Vec<Step> + Send + Sync;

/// A provider that follows a script of bytes.
#[derive(Debug)]
pub struct ByteProvider {
    /// The address it listens on.
    pub address: SocketAddr,
    received: mpsc::UnboundedReceiver<Received>,
    gone: mpsc::UnboundedReceiver<()>,
    accepted: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    flooded: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct Reports {
    received: mpsc::UnboundedSender<Received>,
    gone: mpsc::UnboundedSender<()>,
    accepted: Arc<AtomicUsize>,
    flooded: Arc<AtomicUsize>,
}

impl ByteProvider {
    /// Starts a provider that follows `script`.
    pub async fn new(script: impl Fn(&Received) -> Vec<Step> + Send + Sync + 'static) -> ByteProvider {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("the loopback address has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let (received_in, received) = mpsc::unbounded_channel();
        let (gone_in, gone) = mpsc::unbounded_channel();
        let reports =
            Reports { received: received_in, gone: gone_in, accepted: Arc::default(), flooded: Arc::default() };
        let connections = Arc::<AtomicUsize>::default();
        let provider = ByteProvider {
            address,
            received,
            gone,
            accepted: Arc::clone(&reports.accepted),
            connections: Arc::clone(&connections),
            flooded: Arc::clone(&reports.flooded),
        };
        let script: Arc<Script> = Arc::new(script);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&script), reports.clone()));
            }
        });
        provider
    }

    /// Starts a provider that always sends the same bytes.
    pub async fn sending(bytes: impl Into<Vec<u8>>) -> ByteProvider {
        let bytes = bytes.into();
        ByteProvider::new(move |_| vec![Step::Send(bytes.clone())]).await
    }

    /// Waits for the next request.
    pub async fn received(&mut self) -> Received {
        self.received.recv().await.expect("the provider accepts until it is dropped")
    }

    /// Waits until the other side of a held connection is gone.
    pub async fn hung_up_on(&mut self) {
        self.gone.recv().await.expect("the provider accepts until it is dropped");
    }

    /// The number of requests.
    pub fn calls(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// The number of connections.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The number of bytes of a flood that were accepted.
    pub fn flooded(&self) -> usize {
        self.flooded.load(Ordering::SeqCst)
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Script>, reports: Reports) {
    let mut buffer = Vec::new();
    while let Some(received) = read_request(&mut stream, &mut buffer).await {
        let steps = script(&received);
        reports.accepted.fetch_add(1, Ordering::SeqCst);
        let _ = reports.received.send(received);
        for step in steps {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        let _ = reports.gone.send(());
                        return;
                    }
                }
                Step::Flood => return flood(stream, &reports).await,
                Step::Hold => {
                    while stream.read(&mut [0; 64]).await.is_ok_and(|length| length > 0) {}
                    let _ = reports.gone.send(());
                    return;
                }
                Step::Close => return,
            }
        }
    }
}

async fn flood(mut stream: TcpStream, reports: &Reports) {
    let block = chunk(&[b'x'; 16 * 1024]);
    while let Ok(length) = stream.write(&block).await {
        // Only whole chunks are counted.
        if length < block.len() && stream.write_all(&block[length..]).await.is_err() {
            break;
        }
        reports.flooded.fetch_add(block.len(), Ordering::SeqCst);
    }
    let _ = reports.gone.send(());
}

async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Received> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        fill(stream, buffer).await?;
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    buffer.drain(..end);
    let mut received = Received { head, body: Vec::new() };
    if let Some(length) = received.header("content-length").first() {
        let length: usize = length.parse().ok()?;
        while buffer.len() < length {
            fill(stream, buffer).await?;
        }
        received.body = buffer.drain(..length).collect();
    } else if !received.header("transfer-encoding").is_empty() {
        received.body = read_chunks(stream, buffer).await?;
    }
    Some(received)
}

async fn read_chunks(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = loop {
            match buffer.windows(2).position(|window| window == b"\r\n") {
                Some(at) => break at,
                None => fill(stream, buffer).await?,
            }
        };
        let length = usize::from_str_radix(std::str::from_utf8(&buffer[..line]).ok()?, 16).ok()?;
        while buffer.len() < line + 2 + length + 2 {
            fill(stream, buffer).await?;
        }
        body.extend_from_slice(&buffer[line + 2..line + 2 + length]);
        buffer.drain(..line + 2 + length + 2);
        if length == 0 {
            return Some(body);
        }
    }
}

async fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let length = stream.read_buf(buffer).await.ok()?;
    (length > 0).then_some(())
}

/// A response with a content length.
pub fn whole(status: &str, content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The head of a chunked response.
pub fn stream_head(content_type: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n").into_bytes()
}

/// One chunk.
pub fn chunk(data: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat()
}

/// The end of a chunked response.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// A Chat Completions answer that says `text`.
pub fn chat_answer(text: &str) -> Vec<u8> {
    let body = serde_json::json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-5-mini-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    });
    whole("200 OK", "application/json", body.to_string())
}

/// The events of a Chat Completions stream that says `words`.
pub fn chat_stream(words: &[&str]) -> Vec<u8> {
    let mut events = String::new();
    for word in words {
        let event = serde_json::json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5-mini-2026",
            "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": null}],
        });
        events.push_str(&format!("data: {event}\n\n"));
    }
    let last = serde_json::json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5-mini-2026",
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    });
    events.push_str(&format!("data: {last}\n\ndata: [DONE]\n\n"));
    events.into_bytes()
}
