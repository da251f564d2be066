//! A server that stops releases the reservations of its calls and leaves the list of replicas.

use fake_provider::{Behaviour, FakeProvider, Fault};
use http::Method;
use serde_json::json;

use super::{Cluster, Engine, POSTGRES};
use crate::support::{eventually, openai_request};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_stops_hands_in_its_tickets_and_leaves() {
    let silent = FakeProvider::start(0, Behaviour::fault(Fault::Stall)).await.unwrap();
    let more = ["kill_switch.enabled=false", "policy.budget_daily_usd=100", "drain=1s"];
    let mut cluster = Cluster::start(Engine::Postgres, &more).await;
    assert_eq!(cluster.ask("spender", 0).await.status, 200);
    let count = |sql: &str| POSTGRES.execute(&cluster.database, &format!("select count(*) from {sql}"));
    let listed = ["share_replicas", "replicas where heartbeat_at > now_ms() - 10000"];
    eventually("all servers are listed", async || listed.iter().all(|table| count(table) == "3").then_some(())).await;

    // A call that is still in flight when its server ends.
    let stopping = cluster.servers.remove(0);
    let provider = json!({"base_url": silent.url(), "format": "openai"});
    stopping.api(Method::PUT, "/api/providers/silent", Some(provider)).await;
    let caller = stopping.agent("spender");
    let mut request = openai_request("Question two: why does the export fail?");
    request["model"] = json!("gpt-5-mini");
    let call = tokio::spawn(async move { caller.post("silent/v1/chat/completions", &request).await });
    eventually("the call has a ticket", async || (count("share_tickets") == "1").then_some(())).await;
    let (_, status) = stopping.terminate();
    assert!(status.success(), "{status}");
    let _ = call.await;
    assert_eq!(count("share_tickets"), "0", "it was handed in");
    assert_eq!(count("share_tabs where reserved <> 0"), "0", "nothing is reserved for it any more");
    assert_eq!(listed.map(count), ["2", "2"]);
}
