//! A server that dies between the decision of a kill and its commit: another one records the kill.

use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::{Connection, Executor, PgConnection};

use super::{Cluster, Engine, QUESTION};
use crate::support::{eventually, openai_request};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_of_a_server_that_died_is_recorded_on_postgres() {
    kill_of_a_server_that_died_is_recorded(Engine::Postgres, "orphan-p").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_of_a_server_that_died_is_recorded_on_valkey() {
    kill_of_a_server_that_died_is_recorded(Engine::Valkey, "orphan-v").await;
}

async fn kill_of_a_server_that_died_is_recorded(engine: Engine, agent: &str) {
    let mut cluster = Cluster::start(engine, &[]).await;
    for number in 0..3 {
        assert_eq!(cluster.ask(agent, number).await.status, 200);
    }
    // The server that decides the kill waits for this table, and dies while it does.
    let mut lock = TableLock::take(&cluster.database, "incidents").await;
    let dying = cluster.servers.remove(0);
    let trigger = dying.agent(agent);
    let call = tokio::spawn(async move { trigger.try_chat(&openai_request(QUESTION)).await });
    lock.wait_for_another().await;
    let _dead = dying.kill();
    assert!(call.await.unwrap().is_err(), "no response named the kill");
    lock.release().await;
    for number in 0..2 {
        assert!(cluster.ask(agent, number).await.is_inactive_response());
    }
    let incident = eventually("the incident is recorded", async || {
        let incidents = cluster.servers[0].incidents(agent).await;
        assert!(incidents.len() <= 1, "{incidents:?}");
        incidents.into_iter().next()
    })
    .await;
    assert!(incident["score"].as_f64().unwrap() > 5.0, "{incident}");
    assert_eq!(incident["provider"], "openai", "{incident}");
    assert!(incident["evidence_count"].as_u64().unwrap() >= 3, "{incident}");
    let stopped = cluster.servers[1].get(&format!("/api/agents/{agent}")).await;
    assert_eq!((&stopped["active"], &stopped["incident_id"]), (&json!(false), &incident["id"]));
    assert_eq!(cluster.servers[1].events(agent, "kill_switch").await.len(), 1);
    cluster.servers[1].activate(agent).await;
    let answer = cluster.servers[0].agent(agent).ask("What is the capital of France?").await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// A table that no one else can write to.
struct TableLock {
    connection: PgConnection,
    table: &'static str,
}

impl TableLock {
    async fn take(database: &str, table: &'static str) -> TableLock {
        let mut connection = PgConnection::connect(database).await.unwrap();
        connection.execute("begin").await.unwrap();
        let lock = format!("lock table {table} in share row exclusive mode");
        sqlx::query(sqlx::AssertSqlSafe(lock)).execute(&mut connection).await.unwrap();
        TableLock { connection, table }
    }

    /// Waits until another session waits for it: a minute at most, because a server on a busy
    /// machine may lose the engine and decide no kill.
    async fn wait_for_another(&mut self) {
        let sql = "select exists (select from pg_locks where relation = $1::regclass and not granted)";
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let query = sqlx::query_scalar::<_, bool>(sql).bind(self.table);
            if query.fetch_one(&mut self.connection).await.unwrap() {
                return;
            }
            assert!(Instant::now() < end, "no one waits for the table");
        }
    }

    async fn release(mut self) {
        self.connection.execute("rollback").await.unwrap();
    }
}
