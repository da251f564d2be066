//! A small HTTP/1.1 load: raw sockets, so that the load costs little beside what it measures.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What one run saw.
pub(crate) struct Run {
    pub(crate) elapsed: Duration,
    /// One per request, sorted.
    pub(crate) latencies: Vec<Duration>,
}

impl Run {
    pub(crate) fn requests(&self) -> usize {
        self.latencies.len()
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        self.latencies[(self.latencies.len() * percent / 100).min(self.latencies.len() - 1)]
    }
}

/// Sends `requests` round and round over `connections` connections for `time`.
pub(crate) fn run(address: SocketAddr, requests: &Arc<[Vec<u8>]>, connections: usize, time: Duration) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let start = Instant::now();
    let mut latencies: Vec<Duration> = runtime.block_on(async {
        let tasks: Vec<_> = (0..connections)
            .map(|first| {
                let requests = Arc::clone(requests);
                tokio::spawn(async move { one_connection(address, &requests, first, start + time).await })
            })
            .collect();
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.expect("no panic"));
        }
        all
    });
    let elapsed = start.elapsed();
    latencies.sort_unstable();
    Run { elapsed, latencies }
}

async fn one_connection(address: SocketAddr, requests: &[Vec<u8>], first: usize, end: Instant) -> Vec<Duration> {
    let mut socket = TcpStream::connect(address).await.expect("the target listens");
    socket.set_nodelay(true).expect("a socket");
    let mut latencies = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    for request in requests.iter().cycle().skip(first * 7) {
        let start = Instant::now();
        if start >= end {
            break;
        }
        socket.write_all(request).await.expect("the target reads");
        read_response(&mut socket, &mut buffer).await;
        latencies.push(start.elapsed());
    }
    latencies
}

/// Reads one response to its end, and insists on 200.
pub(crate) async fn read_response(socket: &mut TcpStream, buffer: &mut [u8]) {
    let mut length = 0;
    let head_end = loop {
        length += read(socket, &mut buffer[length..]).await;
        if let Some(end) = find(&buffer[..length], b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}{}", String::from_utf8_lossy(&buffer[head_end..length]));
    if let Some(value) = head.split("content-length: ").nth(1) {
        let total: usize = value.split("\r\n").next().and_then(|text| text.parse().ok()).expect("a length");
        let mut left = total.saturating_sub(length - head_end);
        while left > 0 {
            left = left.saturating_sub(read(socket, buffer).await);
        }
        return;
    }
    // Chunked: the connection carries nothing after the last chunk, so its end is the end of what
    // was read.
    while !buffer[..length].ends_with(b"0\r\n\r\n") {
        if length > buffer.len() / 2 {
            buffer.copy_within(length - 5..length, 0);
            length = 5;
        }
        length += read(socket, &mut buffer[length..]).await;
    }
}

async fn read(socket: &mut TcpStream, buffer: &mut [u8]) -> usize {
    let count = socket.read(buffer).await.expect("the target writes");
    assert!(count > 0, "the target hung up");
    count
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
