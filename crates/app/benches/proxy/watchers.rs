//! What clients of the event stream cost the agents: latency of calls at a steady rate, with and
//! without watchers.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::bodies::Workload;
use crate::load::read_response;
use crate::processes::{Ours, Provider, Target};

/// How many ask for the stream. The server lets only so many in.
const WATCHERS: [usize; 3] = [0, 100, 1000];
/// Calls a second, over this many connections.
const RATE: u32 = 300;
const CONNECTIONS: u32 = 10;
/// The measurements take turns this often, and the median counts: one alone shows the noise of the
/// machine.
const ROUNDS: usize = 5;

/// Measures and prints.
pub(crate) fn print(folder: &Path, provider: &Provider, time: Duration) {
    println!("\nCalls at {RATE} a second while others watch the event stream, median of {ROUNDS} rounds:");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let rounds: Vec<Vec<Figures>> = (0..ROUNDS)
        .map(|_| WATCHERS.map(|count| runtime.block_on(measure(&Ours::start(folder, provider), count, time))).into())
        .collect();
    let median = |place: usize, figure: fn(&Figures) -> Duration| {
        let mut all: Vec<Duration> = rounds.iter().map(|round| figure(&round[place])).collect();
        all.sort_unstable();
        all[ROUNDS / 2]
    };
    let alone = median(0, |figures| figures.p99).as_secs_f64();
    for (place, count) in WATCHERS.iter().enumerate() {
        let [p50, p99, cpu] =
            [median(place, |figures| figures.p50), median(place, |it| it.p99), median(place, |it| it.cpu_per_call)];
        let (watching, ratio) = (rounds[0][place].watching, p99.as_secs_f64() / alone);
        println!(
            "{count:>5} ask, {watching:>4} watch   p50 {p50:>7.1?}   p99 {p99:>7.1?} = {ratio:.2}×   cpu {cpu:>7.1?}"
        );
    }
}

struct Figures {
    watching: usize,
    p50: Duration,
    p99: Duration,
    cpu_per_call: Duration,
}

async fn measure(ours: &Ours, watchers: usize, time: Duration) -> Figures {
    let mut streams = JoinSet::new();
    let mut watching = 0;
    for _ in 0..watchers {
        let (address, request) = ours.event_stream();
        if let Some(stream) = watch(address, &request).await {
            watching += 1;
            streams.spawn(discard(stream));
        }
    }
    let requests = Workload::sizes()[0].requests(ours);
    let cpu_before = ours.cpu_time();
    let mut latencies = calls(ours.address(), &requests, time).await;
    let cpu = ours.cpu_time().saturating_sub(cpu_before);
    latencies.sort_unstable();
    let percentile = |percent: usize| latencies[latencies.len() * percent / 100];
    let cpu_per_call = cpu / latencies.len() as u32;
    Figures { watching, p50: percentile(50), p99: percentile(99), cpu_per_call }
}

/// A stream, if the server lets this client watch.
async fn watch(address: SocketAddr, request: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).await.expect("the dashboard listens");
    stream.write_all(request.as_bytes()).await.expect("the dashboard reads");
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.expect("the dashboard answers");
    head.ends_with(b" 200").then_some(stream)
}

async fn discard(mut stream: TcpStream) {
    let mut buffer = vec![0; 16 * 1024];
    while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
}

/// Calls at the steady rate; a latency counts from the moment at which its call was due.
async fn calls(address: SocketAddr, requests: &[Vec<u8>], time: Duration) -> Vec<Duration> {
    let end = Instant::now() + time;
    let mut connections = JoinSet::new();
    for first in 0..CONNECTIONS as usize {
        connections.spawn(one_connection(address, requests.to_vec(), first, end));
    }
    connections.join_all().await.concat()
}

async fn one_connection(address: SocketAddr, requests: Vec<Vec<u8>>, first: usize, end: Instant) -> Vec<Duration> {
    let mut socket = TcpStream::connect(address).await.expect("the proxy listens");
    socket.set_nodelay(true).expect("a socket");
    let mut due = interval(Duration::from_secs(1) * CONNECTIONS / RATE);
    due.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut latencies, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    for request in requests.iter().cycle().skip(first * 7) {
        let start = due.tick().await;
        if start >= end {
            break;
        }
        socket.write_all(request).await.expect("the proxy reads");
        read_response(&mut socket, &mut buffer).await;
        latencies.push(start.elapsed());
    }
    latencies
}
