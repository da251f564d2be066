//! The headline of the dashboard names replicas that need attention.

use http::Method;
use sqlx::{Connection, Executor, PgConnection};

use super::sessions::Browser;
use super::{Cluster, Engine};
use crate::faults::QUESTION;
use crate::support::{Server, eventually};

/// Waits until the first page of `server` says `expected`.
async fn wait_for_overview(browser: &Browser, server: &Server, expected: &str) -> String {
    eventually(expected, async || {
        let page = browser.send(server, Method::GET, "/", "").await.text();
        page.contains(expected).then_some(page)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overview_names_replicas_that_are_silent_or_decide_alone() {
    let mut cluster = Cluster::start(Engine::Postgres, &[]).await;
    let last = cluster.servers.pop().unwrap();
    let one = &cluster.servers[0];
    one.agent("calm").ask(QUESTION).await;
    let browser = Browser::log_in(one, &format!("token={}", one.token)).await;
    wait_for_overview(&browser, one, "Nothing needs you.").await;

    let port = last.dashboard.rsplit_once(':').unwrap().1.to_owned();
    let stopped = last.kill();
    let page = wait_for_overview(&browser, one, "1 replica is silent.").await;
    assert!(page.contains(&format!(":{port}</bdi>")), "names the replica: {page}");
    assert!(page.contains("href=\"/settings/replicas\""), "leads to the replicas");
    assert!(
        browser.send(one, Method::GET, "/settings/replicas", "").await.text().contains("2 of 3 replicas are alive.")
    );

    let _started_again = stopped.port(&port).start();
    wait_for_overview(&browser, one, "Nothing needs you.").await;
    let page = browser.send(one, Method::GET, "/settings/replicas", "").await.text();
    assert!(page.contains("All 3 replicas are alive.") && page.contains("started again"), "{page}");

    let mut database = PgConnection::connect(&cluster.database).await.unwrap();
    let alone = "insert into replicas (id, version, address, mode, started_at, heartbeat_at, lag_ms)
         values ('lone', '0.1.0', 'http://gazer-9:18880', 'degraded', now_ms(), now_ms() + 600000, 0)";
    database.execute(alone).await.unwrap();
    let page = wait_for_overview(&browser, one, "1 replica decides alone.").await;
    assert!(page.contains("http://gazer-9:18880"), "{page}");
}
