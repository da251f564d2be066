//! What replicas cost, and how soon a kill is known everywhere: prints figures, and checks nothing.
//!
//! bench/README.md has the command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fake_provider::FakeProvider;
use futures_util::future::join_all;
use http::Method;
use serde_json::json;
use tempfile::TempDir;

use super::site::{Engine, address_of, arguments};
use crate::postgres_server::PostgresServer;
use crate::redis_server::RedisServer;
use crate::support::{Http, Server, ServerBuilder, openai_request, provider};

/// The duration of each measurement.
const SPAN: Duration = Duration::from_secs(4);
/// The number of clients when throughput is measured.
const CLIENTS: usize = 16;
const AGENTS: usize = 48;

struct Replicas {
    servers: Vec<Server>,
    postgres: Option<PostgresServer>,
    redis: Option<RedisServer>,
    provider: FakeProvider,
    _keys: TempDir,
}

impl Replicas {
    /// Starts `number` servers; without an engine, one server on SQLite.
    async fn start(engine: Option<Engine>, number: usize, enabled: bool) -> Replicas {
        let (provider, keys) = (provider().await, tempfile::tempdir().unwrap());
        let postgres = engine.map(|_| PostgresServer::start());
        let redis = engine.filter(|engine| *engine == Engine::Valkey).map(|_| RedisServer::start());
        let mut settings = vec![];
        if let (Some(engine), Some(postgres)) = (engine, &postgres) {
            let database = postgres.create_database();
            let wire = redis.as_ref().map_or_else(|| address_of(&database), |redis| address_of(&redis.url()));
            settings = arguments(engine, &database, wire, keys.path().join("key").to_str().unwrap());
        }
        let switch = [format!("kill_switch.enabled={enabled}"), "kill_switch.threshold=10000".to_owned()];
        settings.extend(switch.into_iter().flat_map(|setting| ["--set".to_owned(), setting]));
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let start = |_| ServerBuilder::new(&provider.url()).arguments(&settings).start();
        Replicas { servers: (0..number).map(start).collect(), postgres, redis, provider, _keys: keys }
    }

    fn cpu_of_servers(&self) -> f64 {
        self.servers.iter().map(|server| cpu(&server.process())).sum()
    }

    /// CPU time of Valkey, or of all of PostgreSQL.
    fn cpu_of_engine(&self) -> f64 {
        match (&self.redis, &self.postgres) {
            (Some(redis), _) => cpu(&redis.process),
            (None, Some(postgres)) => postgres.processes().iter().map(|process| cpu(process)).sum(),
            (None, None) => 0.0,
        }
    }
}

/// The CPU time of a process in seconds, of a hundred ticks each.
fn cpu(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) / 100.0
}

fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    sorted.get((sorted.len() * percent / 100).min(sorted.len() - 1)).map_or(0.0, Duration::as_secs_f64) * 1e3
}

/// The latency of consecutive calls in milliseconds: p50 and p99.
async fn latency(urls: &[String]) -> (f64, f64) {
    let (http, mut times, end) = (Http::new(), Vec::new(), Instant::now() + SPAN);
    for number in 0.. {
        let url = urls[number % urls.len()].replace("NAME", &format!("agent-{}", number % AGENTS));
        let body = openai_request(&format!("Which page is number {number}, and what does it say?"));
        let began = Instant::now();
        http.json(Method::POST, &url, None, Some(&body)).await.unwrap();
        times.push(began.elapsed());
        if Instant::now() > end {
            break;
        }
    }
    // The first calls open connections.
    let mut times = times.split_off(times.len() / 10);
    times.sort_unstable();
    (percentile(&times, 50), percentile(&times, 99))
}

/// Calls of many clients at once: how many were answered, and in how many seconds.
async fn throughput(urls: &[String]) -> (usize, f64) {
    let (http, began) = (Http::new(), Instant::now());
    let clients = (0..CLIENTS).map(|client| {
        let (http, urls) = (http.clone(), urls.to_vec());
        tokio::spawn(async move {
            let mut calls = 0;
            while began.elapsed() < SPAN {
                let agent = format!("agent-{}", (client + calls * CLIENTS) % AGENTS);
                let url = urls[(client + calls) % urls.len()].replace("NAME", &agent);
                let body = openai_request(&format!("What does page {calls} of book {client} say about it?"));
                assert_eq!(http.json(Method::POST, &url, None, Some(&body)).await.unwrap().status, 200);
                calls += 1;
            }
            calls
        })
    });
    let calls = join_all(clients).await.into_iter().map(Result::unwrap).sum();
    (calls, began.elapsed().as_secs_f64())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn cost_of_replicas() {
    let load = || std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned();
    println!("load {}", load());
    println!(
        "engine, replicas: p50, p99 ms (without a proxy p50, p99) | calls/s | CPU µs per call: replicas, engine | MiB"
    );
    let setups = [(None, 1), (Some(Engine::Postgres), 1), (Some(Engine::Valkey), 1)].into_iter().chain(
        [Engine::Postgres, Engine::Valkey].into_iter().flat_map(|engine| [(Some(engine), 2), (Some(engine), 3)]),
    );
    for (engine, number) in setups {
        let site = Replicas::start(engine, number, true).await;
        let direct = latency(&[format!("{}/v1/chat/completions", site.provider.url())]).await;
        let url = |server: &Server| format!("{}/agents/NAME/openai/v1/chat/completions", server.proxy);
        let urls: Vec<String> = site.servers.iter().map(url).collect();
        let alone = latency(&urls).await;
        let (servers, engine_cpu) = (site.cpu_of_servers(), site.cpu_of_engine());
        let (calls, seconds) = throughput(&urls).await;
        let per_call = |after: f64, before: f64| (after - before) * 1e6 / calls as f64;
        let memory = site.servers.iter().map(Server::resident).max().unwrap_or_default() >> 20;
        println!(
            "{engine:?}, {number}: {:.2}, {:.2} ({:.2}, {:.2}) | {:.0} | {:.0}, {:.0} | {memory}",
            alone.0,
            alone.1,
            direct.0,
            direct.1,
            calls as f64 / seconds,
            per_call(site.cpu_of_servers(), servers),
            per_call(site.cpu_of_engine(), engine_cpu),
        );
    }
    println!("load {}", load());
}

/// The time from the acknowledgement of a stop on one replica until all others refuse the agent,
/// whose calls do not wait for the engine.
async fn times_until_seen(site: &Replicas, rounds: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    for round in 0..rounds {
        let agent = format!("stopped-{round}-{}", times.len() + rounds);
        for server in &site.servers {
            assert_eq!(server.agent(&agent).ask("What is the weather like?").await.status, 200);
        }
        site.servers[0].api(Method::PATCH, &format!("/api/agents/{agent}"), Some(json!({"active": false}))).await;
        let began = Instant::now();
        let seen = site.servers[1..].iter().map(async |server| {
            while !server.agent(&agent).ask("What is the weather like?").await.is_inactive_response() {}
        });
        join_all(seen).await;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    times
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn time_until_a_kill_is_seen() {
    for engine in [Engine::Postgres, Engine::Valkey] {
        let site = Replicas::start(Some(engine), 3, false).await;
        let times = times_until_seen(&site, 200).await;
        println!("{engine:?}, push: p50 {:.1} ms, p99 {:.1} ms", percentile(&times, 50), percentile(&times, 99));
        let is_over = Arc::new(AtomicBool::new(false));
        let times = std::thread::scope(|scope| {
            scope.spawn(|| block_push(&site, &is_over));
            let times =
                tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(times_until_seen(&site, 30)));
            is_over.store(true, Ordering::Relaxed);
            times
        });
        println!("{engine:?}, poll: p50 {:.1} ms, p99 {:.1} ms", percentile(&times, 50), percentile(&times, 99));
    }
}

/// Repeatedly ends every connection that waits for notifications.
fn block_push(site: &Replicas, is_over: &AtomicBool) {
    let listeners = "select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%'";
    while !is_over.load(Ordering::Relaxed) {
        if let Some(redis) = &site.redis {
            redis.execute("CLIENT KILL TYPE pubsub");
        }
        if let Some(postgres) = &site.postgres {
            postgres.execute("postgres", listeners);
        }
    }
}
