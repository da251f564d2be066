//! Three replicas behind a load balancer, under load, with their own database and engine. The
//! connection between each replica and its engine can fail.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fake_provider::FakeProvider;
use http::{Method, StatusCode};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::history::History;
use super::load::{self, Load};
use super::relay::{Fault, Relay};
use crate::postgres_server::PostgresServer;
use crate::redis_server::RedisServer;
use crate::support::{Http, Receiver, Server, ServerBuilder, eventually};

pub(crate) const REPLICAS: usize = 3;
pub(crate) const LOOPERS: [(&str, usize); 2] = [("looper", 1), ("crowd", 3)];
pub(crate) const WALKER: &str = "walker";
pub(crate) const SPENDER: &str = "spender";
/// The budget of the spending client.
pub(crate) const BUDGET_USD: f64 = 0.0006;

/// The engine that orders the calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Engine {
    Postgres,
    Valkey,
}

/// The replicas, engines, relays and clients of a run.
pub(crate) struct Site {
    pub(crate) engine: Engine,
    pub(crate) postgres: PostgresServer,
    pub(crate) redis: Option<RedisServer>,
    pub(crate) database: String,
    /// `None` for a replica that is down.
    pub(crate) replicas: Vec<Option<Server>>,
    builders: Vec<ServerBuilder>,
    /// The relays between each replica and its engine.
    pub(crate) wires: Vec<Relay>,
    proxies: Relay,
    dashboards: Relay,
    pub(crate) receiver: Receiver,
    pub(crate) load: Load,
    workers: Vec<JoinHandle<()>>,
    _provider: FakeProvider,
    _keys: TempDir,
}

impl Site {
    /// Starts everything, and the load.
    pub(crate) async fn start(engine: Engine) -> Site {
        let mut site = Site::without_load(engine).await;
        site.start_load();
        site
    }

    pub(crate) async fn without_load(engine: Engine) -> Site {
        let history = History::default();
        let (provider, keys) = (load::provider(&history).await, tempfile::tempdir().unwrap());
        let postgres = tokio::task::spawn_blocking(PostgresServer::start).await.unwrap();
        let redis = (engine == Engine::Valkey).then(RedisServer::start);
        let database = postgres.create_database();
        let target = redis.as_ref().map_or_else(|| address_of(&database), |redis| address_of(&redis.url()));
        let mut wires = Vec::new();
        for _ in 0..REPLICAS {
            wires.push(Relay::start(vec![target]).await);
        }
        let key_file = keys.path().join("key");
        let builder = |wire: &Relay| {
            let arguments = arguments(engine, &database, wire.address(), key_file.to_str().unwrap());
            ServerBuilder::new(&provider.url()).arguments(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let builders: Vec<ServerBuilder> = wires.iter().map(builder).collect();
        let replicas: Vec<Option<Server>> = builders.iter().map(|builder| Some(builder.clone().start())).collect();
        let (proxies, dashboards) = (Relay::start(Vec::new()).await, Relay::start(Vec::new()).await);
        let load = Load {
            proxy: proxies.url(),
            dashboard: dashboards.url(),
            token: replicas[0].as_ref().unwrap().token.clone(),
            http: Http::new(),
            history,
            is_over: Arc::new(AtomicBool::new(false)),
            answered: Arc::new(AtomicU64::new(0)),
            failed: Arc::new(AtomicU64::new(0)),
        };
        let receiver = Receiver::start(StatusCode::OK, Duration::ZERO).await;
        let site = Site {
            engine,
            postgres,
            redis,
            database,
            replicas,
            builders,
            wires,
            proxies,
            dashboards,
            receiver,
            load,
            workers: Vec::new(),
            _provider: provider,
            _keys: keys,
        };
        site.update_balancers();
        site.prepare().await;
        site
    }

    /// Directs the load balancers to the running replicas.
    pub(crate) fn update_balancers(&self) {
        let addresses = |url: fn(&Server) -> &str| {
            self.replicas.iter().flatten().map(|server| address_of(url(server))).collect::<Vec<_>>()
        };
        self.proxies.set_targets(addresses(|server| &server.proxy));
        self.dashboards.set_targets(addresses(|server| &server.dashboard));
    }

    async fn prepare(&self) {
        let server = self.running_replica();
        let channel = json!({"kind": "webhook", "name": "ops", "url": self.receiver.url});
        server.api(Method::POST, "/api/channels", Some(channel)).await;
        server.kill_switch(WALKER, json!({"enabled": true, "threshold": 10_000.0})).await;
        server.kill_switch(SPENDER, json!({"enabled": false})).await;
        let (policy, path) = (json!({"budget_daily_usd": BUDGET_USD}), format!("/api/agents/{SPENDER}/policy"));
        server.api(Method::PUT, &path, Some(policy)).await;
        // Calls of an agent without a policy do not wait for the engine, so other replicas are
        // notified of its first one.
        for server in self.replicas.iter().flatten() {
            eventually("the policy holds everywhere", async || {
                (server.get(&path).await["budget_daily_usd"] == BUDGET_USD).then_some(())
            })
            .await;
        }
    }

    fn start_load(&mut self) {
        for (agent, concurrency) in LOOPERS {
            self.workers.push(tokio::spawn(load::run_looping_client(self.load.clone(), agent.to_owned(), concurrency)));
        }
        self.workers.push(tokio::spawn(load::run_steady_client(self.load.clone(), WALKER.to_owned())));
        self.workers.push(tokio::spawn(load::run_spending_client(self.load.clone(), SPENDER.to_owned())));
    }

    /// One of the running replicas.
    pub(crate) fn running_replica(&self) -> &Server {
        self.replicas.iter().flatten().next().unwrap()
    }

    /// Kills a replica with SIGKILL.
    pub(crate) fn kill_replica(&mut self, number: usize) {
        drop(self.replicas[number].take().unwrap().kill());
    }

    /// Stops a replica with SIGTERM, and checks its exit code.
    pub(crate) async fn drain_replica(&mut self, number: usize) {
        let server = self.replicas[number].take().unwrap();
        let (_, status) = tokio::task::spawn_blocking(|| server.terminate()).await.unwrap();
        assert!(status.success(), "{status}");
    }

    pub(crate) async fn start_replica(&mut self, number: usize) {
        // A server does not start without its database, so this waits for it.
        let is_ready = async || self.postgres.is_ready().then_some(());
        eventually("the database is back", is_ready).await;
        let builder = self.builders[number].clone();
        self.replicas[number] = Some(tokio::task::spawn_blocking(|| builder.start()).await.unwrap());
        self.update_balancers();
    }

    /// Kills the engine with SIGKILL and starts another one. PostgreSQL restarts by itself.
    pub(crate) async fn crash_engine(&mut self) {
        if self.engine == Engine::Postgres {
            eventually("the database is back", async || self.postgres.is_ready().then_some(())).await;
            return self.postgres.crash();
        }
        drop(self.redis.take());
        let redis = RedisServer::start();
        self.wires.iter().for_each(|wire| wire.set_targets(vec![address_of(&redis.url())]));
        self.redis = Some(redis);
    }

    /// Replaces the lost database by its standby.
    pub(crate) fn fail_over(&mut self, standby: PostgresServer) {
        self.postgres.stop_immediately();
        standby.promote();
        self.database = standby.copy_of(&self.database);
        self.wires.iter().for_each(|wire| wire.set_targets(vec![address_of(&self.database)]));
        self.postgres = standby;
    }

    /// Sends SIGSTOP or SIGCONT to the engine.
    pub(crate) fn signal_engine(&self, signal: &str) {
        match &self.redis {
            Some(redis) => redis.signal(signal),
            None => self.postgres.signal(signal),
        }
    }

    pub(crate) fn set_fault(&self, replicas: std::ops::Range<usize>, fault: Fault) {
        self.wires[replicas].iter().for_each(|wire| wire.set(fault));
    }

    /// Waits until `calls` more calls have an answer.
    pub(crate) async fn wait_for_calls(&self, calls: u64) {
        let answered = || self.load.answered.load(Ordering::Relaxed);
        let enough = answered() + calls;
        eventually("calls are answered", async || (answered() >= enough).then_some(())).await;
    }

    /// Waits until all replicas are ready and none is degraded.
    pub(crate) async fn wait_until_healthy(&self) {
        for server in self.replicas.iter().flatten() {
            eventually("the replica is well", async || {
                let ready = server.try_api(Method::GET, "/readyz", None).await.ok()?;
                (ready.status == 200 && !ready.text().contains("degraded")).then_some(())
            })
            .await;
        }
    }

    /// Ends the load.
    pub(crate) async fn end_load(&mut self) {
        self.load.is_over.store(true, Ordering::Relaxed);
        for worker in self.workers.drain(..) {
            worker.await.unwrap();
        }
    }

    /// Queries the database; each row is JSON.
    pub(crate) fn query(&self, sql: &str) -> Vec<serde_json::Value> {
        let rows = self.postgres.execute(&self.database, &format!("select row_to_json(q) from ({sql}) q"));
        rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
    }
}

pub(super) fn arguments(engine: Engine, database: &str, wire: SocketAddr, key_file: &str) -> Vec<String> {
    let (database, shared) = match engine {
        Engine::Postgres => (database.replace(&address_of(database).to_string(), &wire.to_string()), Vec::new()),
        Engine::Valkey => (database.to_owned(), vec![format!("shared.url=redis://{wire}")]),
    };
    let name = if engine == Engine::Postgres { "postgres" } else { "valkey" };
    let settings = [
        "kill_switch.enabled=true".to_owned(),
        "kill_switch.threshold=5".to_owned(),
        "alerts.digest_window=0".to_owned(),
        format!("key_file={key_file}"),
        format!("shared.engine={name}"),
    ];
    let settings = settings.into_iter().chain(shared).flat_map(|setting| ["--set".to_owned(), setting]);
    ["--allow-private-targets".to_owned(), "--database".to_owned(), database].into_iter().chain(settings).collect()
}

/// The address in a URL of this machine.
pub(super) fn address_of(url: &str) -> SocketAddr {
    let rest = url.split_once("://").unwrap().1;
    let authority = rest.split('/').next().unwrap();
    authority.rsplit('@').next().unwrap().parse().unwrap()
}
