//! Several servers that share one database and one engine: they decide as one on any server, and
//! continue when one of them or the engine is gone.

mod clocks;
mod drain;
mod headline;
mod revocation;
mod sessions;
mod unrecorded_kills;

use std::sync::LazyLock;

use fake_provider::FakeProvider;
use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::faults::QUESTION;
use crate::postgres_server::PostgresServer;
use crate::redis_server::RedisServer;
use crate::support::{Answer, Server, ServerBuilder, eventually, openai_request, provider, requests};

static POSTGRES: LazyLock<PostgresServer> = LazyLock::new(PostgresServer::start);
static REDIS: LazyLock<RedisServer> = LazyLock::new(RedisServer::start);

/// A loop of [`QUESTION`] exceeds this with its fourth call.
const THRESHOLD: &str = "kill_switch.threshold=5";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine {
    Postgres,
    Valkey,
}

impl Engine {
    fn settings(self) -> Vec<String> {
        match self {
            Engine::Postgres => vec!["shared.engine=postgres".to_owned()],
            Engine::Valkey => vec!["shared.engine=valkey".to_owned(), format!("shared.url={}", REDIS.url())],
        }
    }
}

pub(crate) struct Cluster {
    pub(crate) servers: Vec<Server>,
    provider: FakeProvider,
    database: String,
    _keys: TempDir,
}

impl Cluster {
    /// Three servers with the kill switch on. Each test has its own agents, because the engine is
    /// shared.
    pub(crate) async fn start(engine: Engine, more: &[&str]) -> Cluster {
        Cluster::start_on(&POSTGRES.create_database(), &engine.settings(), more).await
    }

    async fn start_on(database: &str, engine: &[String], more: &[&str]) -> Cluster {
        Cluster::start_each(database, engine, more, |_, server| server).await
    }

    /// `adapt` gets the number of each server.
    async fn start_each(
        database: &str,
        engine: &[String],
        more: &[&str],
        adapt: impl Fn(usize, ServerBuilder) -> ServerBuilder,
    ) -> Cluster {
        let (provider, keys) = (provider().await, tempfile::tempdir().unwrap());
        let key_file = format!("key_file={}", keys.path().join("key").display());
        let settings = ["kill_switch.enabled=true", THRESHOLD, &key_file];
        let settings = settings.into_iter().chain(engine.iter().map(String::as_str)).chain(more.iter().copied());
        let arguments: Vec<&str> =
            ["--database", database].into_iter().chain(settings.flat_map(|it| ["--set", it])).collect();
        let start = |number| adapt(number, ServerBuilder::new(&provider.url()).arguments(&arguments)).start();
        let database = database.to_owned();
        Cluster { servers: (0..3).map(start).collect(), provider, database, _keys: keys }
    }

    /// Asks one server after the other.
    async fn ask(&self, agent: &str, number: usize) -> Answer {
        self.servers[number % self.servers.len()].agent(agent).ask(QUESTION).await
    }

    /// Loops over all servers until the agent is killed; returns how many calls passed.
    async fn loop_until_killed(&self, agent: &str) -> usize {
        for number in 0..20 {
            let answer = self.ask(agent, number).await;
            if answer.is_inactive_response() {
                return number;
            }
            assert_eq!(answer.status, 200, "{answer:?}");
        }
        panic!("the loop was not found");
    }
}

/// Runs a test on both engines.
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {
        $(mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                super::cases::$name(super::Engine::Postgres, concat!(stringify!($name), "-p")).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_valkey() {
                super::cases::$name(super::Engine::Valkey, concat!(stringify!($name), "-v")).await;
            }
        })+
    };
}

on_both_engines!(
    loop_over_three_servers_is_killed_as_on_one,
    activation_holds_with_the_next_call,
    budget_is_not_overspent,
    budgets_of_groups_are_not_overspent,
    loop_is_killed_after_a_server_died,
    revoked_key_is_refused_by_the_next_call,
    stopped_group_is_refused_by_the_next_call,
);

mod cases {
    pub(super) use super::revocation::{
        revoked_key_is_refused_by_the_next_call, stopped_group_is_refused_by_the_next_call,
    };
    use super::*;

    pub(super) async fn loop_over_three_servers_is_killed_as_on_one(engine: Engine, agent: &str) {
        let cluster = Cluster::start(engine, &[]).await;
        let alone = ServerBuilder::new(&cluster.provider.url());
        let alone = alone.arguments(&["--set", "kill_switch.enabled=true", "--set", THRESHOLD]).start();
        let mut passed_alone = 0;
        while alone.agent("alone").ask(QUESTION).await.status == 200 {
            passed_alone += 1;
        }
        assert_eq!(cluster.loop_until_killed(agent).await, passed_alone);
        for number in 0..6 {
            assert!(cluster.ask(agent, number).await.is_inactive_response());
        }
        assert_eq!(requests(&cluster.provider), 2 * passed_alone as u64, "nothing was sent after the kill");
        let incidents = cluster.servers[0].incidents(agent).await;
        assert_eq!(incidents.len(), 1, "{incidents:?}");
    }

    pub(super) async fn activation_holds_with_the_next_call(engine: Engine, agent: &str) {
        let cluster = Cluster::start(engine, &[]).await;
        for round in 0..3 {
            let passed = cluster.loop_until_killed(agent).await;
            // On a server that may not have made the kill.
            cluster.servers[round].activate(agent).await;
            let next = &cluster.servers[(round + 1) % 3];
            let answer = next.agent(agent).ask("What is the capital of France?").await;
            assert_eq!(answer.status, 200, "round {round}: {answer:?}");
            assert!(passed >= 3, "round {round}: {passed}");
        }
        let incidents = cluster.servers[0].incidents(agent).await;
        assert_eq!(incidents.len(), 3, "{incidents:?}");
    }

    /// A request that costs the same with every number.
    pub(super) fn priced_request(number: usize) -> Value {
        let mut request = openai_request(&format!("Question {number}: why does the import fail?"));
        request["model"] = json!("gpt-5-mini");
        request
    }

    async fn cost_of_one(server: &Server, agent: &str) -> f64 {
        server.agent(agent).chat(&priced_request(0)).await;
        let event = eventually("the event of the call is stored", async || {
            server.events(agent, "llm_call").await.into_iter().next()
        });
        event.await["cost_usd"].as_f64().unwrap()
    }

    /// How many of 60 calls of these agents on all servers passed. What was refused was not sent.
    async fn passed_of_60(cluster: &Cluster, agent: impl Fn(usize) -> String) -> usize {
        let before = requests(&cluster.provider);
        let calls = (0..60).map(|number| {
            let spender = cluster.servers[number % 3].agent(&agent(number));
            tokio::spawn(async move { spender.chat(&priced_request(number)).await })
        });
        let answers: Vec<Answer> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
        let passed = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!(requests(&cluster.provider) - before, passed as u64, "what was refused was not sent");
        passed
    }

    pub(super) async fn budget_is_not_overspent(engine: Engine, agent: &str) {
        let probe = Cluster::start(engine, &["kill_switch.enabled=false"]).await;
        let cost = cost_of_one(&probe.servers[0], agent).await;
        let budget = format!("policy.budget_daily_usd={:.9}", cost * 5.5);
        let cluster = Cluster::start(engine, &["kill_switch.enabled=false", &budget]).await;
        let passed = passed_of_60(&cluster, |_| format!("{agent}-spender")).await;
        assert!((5..=6).contains(&passed), "{passed} calls passed, five and a half are paid for");
    }

    pub(super) async fn budgets_of_groups_are_not_overspent(engine: Engine, agent: &str) {
        let cluster = Cluster::start(engine, &["kill_switch.enabled=false"]).await;
        let cost = cost_of_one(&cluster.servers[0], &format!("{agent}:half-first")).await;
        // Each agent calls once: only the groups add up. Half of the agents are in both groups.
        for (group, agents, calls) in [("all", "*", 9.5), ("half", ":half-*", 3.5)] {
            let policy = json!({"budget_daily_usd": cost * calls});
            let body = json!({"agents": [format!("{agent}{agents}")], "policy": policy});
            cluster.servers[0].api(Method::PUT, &format!("/api/groups/{agent}-{group}"), Some(body)).await;
        }
        for server in &cluster.servers {
            eventually("every server counts for both groups", async || {
                let groups = server.get("/api/groups").await;
                let counts = |group: &Value| group["spent_daily_usd"].as_f64().is_some_and(|spent| spent > 0.0);
                (groups["items"].as_array()?.iter().filter(|group| counts(group)).count() == 2).then_some(())
            })
            .await;
        }
        let half = passed_of_60(&cluster, |number| format!("{agent}:half-{number}")).await;
        // The call before there were groups counts, too.
        let half = 1 + half;
        assert!((3..=4).contains(&half), "{half} calls passed, three and a half are paid for");
        let rest = passed_of_60(&cluster, |number| format!("{agent}:rest-{number}")).await;
        let all = half + rest;
        assert!((9..=10).contains(&all), "{all} calls passed, nine and a half are paid for");
    }

    pub(super) async fn loop_is_killed_after_a_server_died(engine: Engine, agent: &str) {
        let mut cluster = Cluster::start(engine, &[]).await;
        for number in 0..2 {
            assert_eq!(cluster.ask(agent, number).await.status, 200);
        }
        let _dead = cluster.servers.remove(0).kill();
        assert_eq!(cluster.ask(agent, 0).await.status, 200);
        assert!(cluster.ask(agent, 1).await.is_inactive_response(), "the fourth call of the loop");
        assert_eq!(cluster.servers[0].incidents(agent).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_replica_shows_what_all_of_them_spent() {
    let cluster = Cluster::start(Engine::Postgres, &["kill_switch.enabled=false"]).await;
    let [caller, other] = [&cluster.servers[0], &cluster.servers[1]];
    let body = json!({"agents": ["shown-*"], "policy": {"budget_daily_usd": 100}});
    caller.api(Method::PUT, "/api/groups/shown", Some(body)).await;
    caller.api(Method::PUT, "/api/agents/shown-bot/policy", Some(json!({"budget_daily_usd": 50}))).await;
    eventually("the other replica knows the group", async || {
        other.try_api(Method::GET, "/api/groups/shown", None).await.ok().filter(|answer| answer.status == 200)
    })
    .await;
    // The other replica sees none of the calls.
    for number in 0..3 {
        assert_eq!(caller.agent("shown-bot").chat(&cases::priced_request(number)).await.status, 200);
    }
    for path in ["/api/groups/shown", "/api/agents/shown-bot/policy"] {
        let spent = caller.get(path).await["spent_daily_usd"].as_f64().unwrap();
        assert!(spent > 0.0);
        eventually("the other replica shows it", async || {
            let shown = other.try_api(Method::GET, path, None).await.ok()?.json()["spent_daily_usd"].as_f64()?;
            ((shown - spent).abs() < 1e-9).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engine_that_is_gone_stops_no_traffic_and_lifts_no_kill() {
    let redis = RedisServer::start();
    let engine = ["shared.engine=valkey".to_owned(), format!("shared.url={}", redis.url())];
    let cluster = Cluster::start_on(&POSTGRES.create_database(), &engine, &[]).await;
    cluster.loop_until_killed("killed").await;
    drop(redis);
    eventually("a server notices", async || {
        let answer = cluster.ask("walker", 0).await;
        assert!(answer.status == 200 || answer.is_inactive_response(), "{answer:?}");
        assert_eq!(answer.header("x-agentgazer-mode"), "degraded", "{answer:?}");
        // A call says so at once, the server after three of them.
        (cluster.servers[0].get("/readyz").await["mode"] == "degraded").then_some(())
    })
    .await;
    let ready = cluster.servers[0].get("/readyz").await.to_string();
    assert!(ready.contains("mode: degraded") && ready.contains(r#""mode":"degraded""#), "{ready}");
    let status = cluster.servers[0].get("/api/status").await;
    assert_eq!((&status["mode"], &status["degradations"]), (&json!("degraded"), &json!(1)), "{status}");
    let metrics = cluster.servers[0].try_api(Method::GET, "/api/metrics", None).await.unwrap();
    assert!(metrics.text().contains("agentgazer_mode{mode=\"degraded\"} 1\n"), "{metrics:?}");
    for number in 0..3 {
        assert!(cluster.ask("killed", number).await.is_inactive_response());
    }
    // Each server now finds a loop by itself.
    let server = &cluster.servers[1];
    let mut passed = 0;
    while server.agent("looper").ask(QUESTION).await.status == 200 {
        passed += 1;
    }
    assert_eq!(passed, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn emptied_engine_is_filled_again() {
    let redis = RedisServer::start();
    let engine = ["shared.engine=valkey".to_owned(), format!("shared.url={}", redis.url())];
    let cluster = Cluster::start_on(&POSTGRES.create_database(), &engine, &[]).await;
    cluster.loop_until_killed("killed").await;
    for number in 0..3 {
        assert_eq!(cluster.ask("looper", number).await.status, 200);
    }
    eventually("the calls are stored", async || {
        (cluster.servers[0].events("looper", "llm_call").await.len() == 3).then_some(())
    })
    .await;
    redis.execute("FLUSHALL");
    for number in 0..3 {
        assert!(cluster.ask("killed", number).await.is_inactive_response(), "an empty engine lifts no kill");
    }
    assert!(cluster.ask("looper", 1).await.is_inactive_response(), "the fourth call of the loop");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_refused_without_the_engine_if_the_operator_says_so() {
    let redis = RedisServer::start();
    let engine = ["shared.engine=valkey".to_owned(), format!("shared.url={}", redis.url())];
    let cluster = Cluster::start_on(&POSTGRES.create_database(), &engine, &["shared.on_failure=refuse"]).await;
    assert_eq!(cluster.ask("walker", 0).await.status, 200);
    let before = requests(&cluster.provider);
    drop(redis);
    let answer = cluster.ask("walker", 0).await;
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.json().to_string().contains("shared.on_failure"), "{answer:?}");
    assert_eq!(requests(&cluster.provider), before);
}
