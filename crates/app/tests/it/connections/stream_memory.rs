//! Memory of streams is released: rounds of many concurrent streams, and the memory of the process
//! after each.
//!
//! `STREAMS=9900 ROUNDS=20 cargo test -p agentgazer --test it stream_memory -- --nocapture`
//! measures on a larger scale.

#![allow(clippy::print_stderr, reason = "how much memory it took is worth seeing")]

use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::support::{Server, ServerBuilder, eventually};

const MIB: usize = 1 << 20;
const AGENTS: usize = 100;
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const EVENT: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a few words of an answer \"}}]}\n\n";
const LAST: &str = "data: [DONE]\n\n";

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}

/// A provider whose streams begin at once and end on request.
struct Provider {
    url: String,
    ends: Arc<Semaphore>,
}

impl Provider {
    async fn start() -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let ends = Arc::new(Semaphore::new(0));
        let permits = Arc::clone(&ends);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&permits)));
            }
        });
        Provider { url, ends }
    }
}

async fn answer(stream: TcpStream, ends: Arc<Semaphore>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while read_request(&mut stream).await? {
        let begin = format!("{HEAD}{}", chunk(EVENT).repeat(20));
        stream.write_all(begin.as_bytes()).await?;
        ends.acquire().await.unwrap().forget();
        stream.write_all(format!("{}{}0\r\n\r\n", chunk(EVENT), chunk(LAST)).as_bytes()).await?;
    }
    Ok(())
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
    let (mut line, mut length) = (String::new(), 0);
    while stream.read_line(&mut line).await? > 0 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            stream.read_exact(&mut vec![0; length]).await?;
            return Ok(true);
        }
        line.clear();
    }
    Ok(false)
}

/// A client whose stream has begun.
async fn begin(server: &str, number: usize) -> TcpStream {
    // From several addresses, because one may not take all connections.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1 + (number % 100) as u8], 0))).unwrap();
    let mut stream = socket.connect(server.strip_prefix("http://").unwrap().parse().unwrap()).await.unwrap();
    let text =
        format!("Look into import number {number} of the customer table, please, and say what is wrong with it.");
    let body = format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{text}"}}]}}"#);
    let path = format!("/agents/bot-{}/openai/v1/chat/completions", number % AGENTS);
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length");
    stream.write_all(format!("{head}: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    stream
}

async fn finish(mut stream: TcpStream) {
    let mut answer = Vec::new();
    while !answer.ends_with(b"0\r\n\r\n") {
        assert!(stream.read_buf(&mut answer).await.unwrap() > 0, "the stream ends whole");
    }
}

/// Opens all streams, then ends them all. Returns the memory while they were open.
async fn round(server: &Server, provider: &Provider, streams: usize) -> usize {
    let mut begun = JoinSet::new();
    // Not all at the same moment: the kernel's queue is limited.
    let turns = Arc::new(Semaphore::new(200));
    for number in 0..streams {
        let (proxy, turns) = (server.proxy.clone(), Arc::clone(&turns));
        begun.spawn(async move {
            let _turn = turns.acquire().await;
            begin(&proxy, number).await
        });
    }
    let begun = begun.join_all().await;
    let peak = server.resident();
    provider.ends.add_permits(streams);
    let finished: JoinSet<()> = begun.into_iter().map(finish).collect();
    finished.join_all().await;
    peak
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_that_streams_took_is_given_back() {
    let (streams, rounds) = (setting("STREAMS", 1000), setting("ROUNDS", 3));
    let provider = Provider::start().await;
    let settings = [
        // Evidence and windows are kept on purpose: with these they are full after two rounds.
        "evidence_budget=1MiB",
        "kill_switch.window_size=2",
        "limits.max_conversations=2",
        // On a busy machine thousands of clients take long between connecting and sending.
        "limits.header_timeout=5m",
    ];
    let arguments = settings.map(|setting| ["--set", setting]).concat();
    let server = ServerBuilder::new(&provider.url).arguments(&arguments).start();
    // The first calls allocate what does not belong to streams: code that is paged in, caches, the
    // state of agents.
    round(&server, &provider, AGENTS).await;
    round(&server, &provider, AGENTS).await;
    let start = server.resident();
    eprintln!("{streams} streams a round; {} MiB at start", start / MIB);
    let (mut most, mut after_second, mut taken) = (0, 0, 0);
    for number in 1..=rounds {
        let peak = round(&server, &provider, streams).await;
        taken = peak - start;
        // Idle connections to the provider stay open for a while and hold memory.
        let settled = rest(&server, start + taken / 4).await;
        eprintln!("round {number}: {} MiB with all open, {} MiB after", peak / MIB, settled / MIB);
        most = most.max(settled);
        if number == 2 {
            after_second = least(&server).await;
        }
    }
    assert!(most <= start + taken / 2, "most of it is given back after every round: {} MiB were left", most / MIB);
    let last = rest(&server, after_second).await;
    eprintln!("{} MiB some seconds after round 2, {} MiB after all rounds", after_second / MIB, last / MIB);
    assert!(last <= after_second + taken / 4, "{} MiB after all rounds", last / MIB);
}

/// The least memory that the process has in the next seconds, in which caches are released.
async fn least(server: &Server) -> usize {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let least = Cell::new(usize::MAX);
    eventually("some seconds have passed", async || {
        least.set(least.get().min(server.resident()));
        (std::time::Instant::now() > end).then_some(least.get())
    })
    .await
}

/// Waits until the process has at most `goal`, for a limited time.
async fn rest(server: &Server, goal: usize) -> usize {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(setting("REST", 30) as u64);
    eventually("memory is given back", async || {
        let now = server.resident();
        (now <= goal || std::time::Instant::now() > end).then_some(now)
    })
    .await
}
