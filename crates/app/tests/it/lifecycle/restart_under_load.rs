//! A restart under load, with sockets that stay open: no call is lost.
//!
//! `RESTART_ROUNDS=100 cargo test --test it restart_under_load` for a long run.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use sqlx::{Connection, Row, SqliteConnection};
use tempfile::TempDir;

use crate::support::{agentgazer, eventually, openai_request, provider};

const WORKERS: u64 = 20;
/// With twenty workers, about 500 calls a second.
const PAUSE: Duration = Duration::from_millis(40);

/// Holds the sockets of a server, as a service manager does, and starts the server on them.
struct Manager {
    proxy: TcpListener,
    dashboard: TcpListener,
    provider: String,
    data: TempDir,
}

impl Manager {
    fn new(provider: String) -> Manager {
        let [proxy, dashboard] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        Manager { proxy, dashboard, provider, data: tempfile::tempdir().unwrap() }
    }

    fn url(&self) -> String {
        format!("http://{}", self.proxy.local_addr().unwrap())
    }

    /// A shell gives the sockets the numbers that the protocol requires; only standard streams can
    /// be inherited safely.
    fn start(&self) -> Child {
        let inherited = |socket: &TcpListener| Stdio::from(OwnedFd::from(socket.try_clone().unwrap()));
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec "$@" 3<&0 4<&1 </dev/null >/dev/null"#, "sh"]).arg(agentgazer().get_program());
        command
            .args(["start", "--token", "restart-test-token", "--log-level", "warn", "--data-dir"])
            .arg(self.data.path());
        command.args(["--provider", &format!("openai={}", self.provider)]);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AGENTGAZER_")) {
            command.env_remove(name);
        }
        command.env("LISTEN_FDS", "2").env("LISTEN_FDNAMES", "proxy:dashboard").env_remove("LISTEN_PID");
        command.stdin(inherited(&self.proxy)).stdout(inherited(&self.dashboard)).spawn().unwrap()
    }

    /// Sends SIGTERM and waits for the end of the server.
    async fn stop(&self, mut child: Child) {
        let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
        assert_eq!(status.code(), Some(0));
    }

    async fn recorded_calls(&self) -> u64 {
        let path = self.data.path().join("agentgazer.db");
        let mut database = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
        let query = "select count(*) from events where event_type = 'llm_call'";
        let count: i64 = sqlx::query(query).fetch_one(&mut database).await.unwrap().get(0);
        count as u64
    }
}

/// Makes calls until it is stopped, on one connection where possible, and never retries a call.
async fn work(url: String, number: u64, answered: Arc<AtomicU64>, is_over: Arc<AtomicBool>) -> Vec<String> {
    let client: Client<HttpConnector, Full<Bytes>> =
        Client::builder(TokioExecutor::new()).retry_canceled_requests(false).build_http();
    let mut lost = Vec::new();
    let mut turn = 0;
    while !is_over.load(Ordering::Relaxed) {
        turn += 1;
        let body = openai_request(&format!("question {turn} of worker {number}")).to_string();
        let request = Request::post(format!("{url}/agents/worker-{number}/openai/v1/chat/completions"))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        match call(&client, request).await {
            Ok(()) => drop(answered.fetch_add(1, Ordering::Relaxed)),
            Err(error) => lost.push(error),
        }
        tokio::time::sleep(PAUSE).await;
    }
    lost
}

async fn call(client: &Client<HttpConnector, Full<Bytes>>, request: Request<Full<Bytes>>) -> Result<(), String> {
    let response = client.request(request).await.map_err(|error| format!("{error:?}"))?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(|error| format!("{error:?}"))?.to_bytes();
    if status == 200 { Ok(()) } else { Err(format!("{status} {body:?}")) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_under_load_loses_no_call() {
    let rounds: u64 = std::env::var("RESTART_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let provider = provider().await;
    let manager = Manager::new(provider.url());
    let (answered, is_over): (Arc<AtomicU64>, Arc<AtomicBool>) = Default::default();
    let mut child = manager.start();
    let work = |number| work(manager.url(), number, Arc::clone(&answered), Arc::clone(&is_over));
    let workers: Vec<_> = (0..WORKERS).map(|number| tokio::spawn(work(number))).collect();
    for round in 1..=rounds {
        serves(&answered, round).await;
        manager.stop(child).await;
        child = manager.start();
    }
    serves(&answered, 0).await;
    is_over.store(true, Ordering::Relaxed);
    let mut lost = Vec::new();
    for worker in workers {
        lost.extend(worker.await.unwrap());
    }
    manager.stop(child).await;
    let answered = answered.load(Ordering::Relaxed);
    assert!(lost.is_empty(), "{} of {answered} calls are lost: {lost:?}", lost.len());
    assert_eq!(manager.recorded_calls().await, answered, "every call is recorded");
}

/// Waits until a new server has answered some calls, at a slightly different moment in each round.
async fn serves(answered: &AtomicU64, round: u64) {
    let enough = answered.load(Ordering::Relaxed) + WORKERS * 5 + round % 7 * 3;
    let is_enough = async || (answered.load(Ordering::Relaxed) >= enough).then_some(());
    eventually("a new server answers", is_enough).await;
}
