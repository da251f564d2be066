//! The server with PostgreSQL as its store: the same behaviour, and a database that stops.

use std::net::TcpListener;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::faults::{QUESTION, loop_until_stopped, readiness, recovers};
use crate::postgres_server::PostgresServer;
use crate::support::{Http, POSTGRES, Receiver, Server, ServerBuilder, eventually, provider, run};

fn builder(provider: &str, database: &str) -> ServerBuilder {
    ServerBuilder::new(provider).arguments(&["--database", database, "--allow-private-targets"])
}

/// Repeats a call until the agent is killed.
async fn kill(server: &Server) {
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..3 {
        assert_eq!(server.agent("looper").ask(QUESTION).await.status, 200);
    }
    assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response());
}

/// The requests of an agent once its events are written.
async fn requests(server: &Server, agent: &str, expected: u64) -> Value {
    eventually("the sums are written", async || {
        let stats = server.get(&format!("/api/agents/{agent}/stats?range=24h")).await;
        (stats["requests"] == expected).then_some(stats)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_statistics_and_alerts_survive_a_crash_on_postgres() {
    let (provider, database) = (provider().await, POSTGRES.create_database());
    let receiver = Receiver::start(StatusCode::OK, Duration::ZERO).await;
    let server = builder(&provider.url(), &database).start();
    let banner = server.banner().await;
    assert!(banner.contains("postgres://127.0.0.1:"), "{banner}");
    let channel = json!({"kind": "webhook", "name": "ops", "url": receiver.url});
    server.api(Method::POST, "/api/channels", Some(channel)).await;
    kill(&server).await;
    let received = receiver.until(|all| all.len() == 1).await;
    assert_eq!(received[0].body["data"]["agent_id"], "looper");
    requests(&server, "looper", 3).await;
    let before = server.get("/api/agents/looper").await;

    let server = server.kill().start();
    assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response());
    let after = server.get("/api/agents/looper").await;
    for key in ["active", "deactivated_by", "deactivated_at", "incident_id", "kill_switch"] {
        assert_eq!(before[key], after[key], "{key}");
    }
    requests(&server, "looper", 3).await;
    let evidence = format!("/api/incidents/{}/evidence", after["incident_id"].as_str().unwrap());
    assert_eq!(server.get(&evidence).await["items"].as_array().unwrap().len(), 4);
    server.activate("looper").await;
    assert_eq!(server.agent("looper").ask("What is the weather like?").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_crashes_stops_nothing_but_changes() {
    let (provider, postgres) = (provider().await, PostgresServer::start());
    let database = postgres.create_database();
    let server = builder(&provider.url(), &database).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    postgres.stop_immediately();

    loop_until_stopped(&server, &provider).await;
    let change = Some(json!({"threshold": 9.0}));
    let refused = server.try_api(Method::PUT, "/api/agents/looper/kill-switch", change).await.unwrap();
    assert_eq!(refused.status, 503);

    postgres.start_again();
    recovers(&server).await;
    let server = server.kill().start();
    assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response(), "the kill was written later");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_postgres_stops_nothing_but_changes() {
    let (provider, database) = (provider().await, POSTGRES.create_database());
    let name = database.rsplit('/').next().unwrap();
    let server = builder(&provider.url(), &database).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    let end_sessions = "select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()";
    POSTGRES.execute(&database, &format!("alter database {name} set default_transaction_read_only = on"));
    POSTGRES.execute(&database, end_sessions);

    loop_until_stopped(&server, &provider).await;
    assert!(readiness(&server).await.contains("read-only"), "{}", readiness(&server).await);

    let reset = format!("set transaction read write; alter database {name} reset default_transaction_read_only");
    POSTGRES.execute(&database, &reset);
    POSTGRES.execute(&database, end_sessions);
    recovers(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_server_stands_by_until_the_first_is_gone() {
    let (provider, database) = (provider().await, POSTGRES.create_database());
    let first = builder(&provider.url(), &database).start();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let standby = builder(&provider.url(), &database).port(&port.to_string());
    let standby = tokio::task::spawn_blocking(move || standby.start());
    let http = Http::new();
    let ask =
        async |path: &str| http.json(Method::GET, &format!("http://127.0.0.1:{port}{path}"), None, None).await.ok();
    let ready = eventually("the standby answers", async || ask("/readyz").await).await;
    assert_eq!(ready.status, 503, "{:?}", ready.body);
    assert!(ready.json()["reasons"][0].as_str().unwrap().starts_with("standby: "), "{:?}", ready.body);
    assert_eq!(ask("/healthz").await.unwrap().status, 200);
    kill(&first).await;

    drop(first.kill());
    let second = standby.await.unwrap();
    assert_eq!(ask("/readyz").await.unwrap().status, 200);
    assert!(second.agent("looper").ask(QUESTION).await.is_inactive_response(), "it has the kill of the first");
    assert_eq!(second.incidents("looper").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_without_its_database_does_not_start_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let database = "postgres://me:secret@127.0.0.1:9/nothing";
    let start = ["start", "--port", "0", "--proxy-port", "0", "--data-dir", place, "--database", database];
    let refused = run(&start);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("postgres://127.0.0.1:9/nothing"), "{refused:?}");
    assert!(!refused.stderr.contains("secret"), "{refused:?}");
    let wrong = run(&["start", "--data-dir", place, "--database", "mysql://x"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("database must be postgres://user@host/database, or sqlite"), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn move_takes_everything_to_postgres_and_can_be_repeated() {
    let (provider, database) = (provider().await, POSTGRES.create_database());
    let server = ServerBuilder::new(&provider.url()).start();
    kill(&server).await;
    server.agent("walker").ask("What is the weather like?").await;
    let stats = requests(&server, "walker", 1).await;
    let incidents = server.incidents("looper").await;
    let source = format!("sqlite:{}", server.data_dir().display());
    let arguments = ["move", "--from", &source, "--to", &database];
    assert_eq!(run(&arguments).code, Some(1), "a server uses the directory");
    let (builder, status) = server.terminate();
    assert!(status.success());

    let moved = run(&arguments);
    assert!(moved.said().contains("counts and sums agree"), "{moved:?}");
    // As if it had been interrupted when most rows were copied.
    POSTGRES.execute(&database, "update moves set finished = 0; delete from incidents; delete from settings");
    let builder = builder.arguments(&["--database", &database]);
    let place = builder.data_path().to_str().unwrap().to_owned();
    let early = run(&["start", "--port", "0", "--proxy-port", "0", "--data-dir", &place, "--database", &database]);
    assert!(early.stderr.contains("has not finished"), "{early:?}");
    assert!(run(&arguments).said().contains("counts and sums agree"));
    let refused = run(&arguments);
    assert!(refused.stderr.contains("has finished already"), "{refused:?}");

    let server = builder.start();
    assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response());
    assert_eq!(server.incidents("looper").await, incidents);
    assert_eq!(requests(&server, "walker", 1).await["cost_usd"], stats["cost_usd"]);
}

#[tokio::test]
async fn migrate_prepares_an_empty_database() {
    let database = POSTGRES.create_database();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let migrated = run(&["migrate", "--data-dir", place, "--database", &database]);
    assert!(migrated.said().contains("is up to date"), "{migrated:?}");
    assert_eq!(POSTGRES.execute(&database, "select count(*) from agents"), "0");
}
