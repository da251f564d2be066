//! Clients that disconnect while the engine does not answer: their kills are still stored.

use fake_provider::FakeProvider;
use serde_json::json;
use tempfile::TempDir;

use super::relay::{Fault, Relay};
use super::site::{Engine, address_of, arguments};
use crate::postgres_server::PostgresServer;
use crate::redis_server::RedisServer;
use crate::support::{Server, ServerBuilder, eventually, openai_request, provider};

const AGENT: &str = "looper";

/// A replica whose connection to the engine can fail.
struct Site {
    server: Server,
    wire: Relay,
    _redis: RedisServer,
    _postgres: PostgresServer,
    _provider: FakeProvider,
    _keys: TempDir,
}

impl Site {
    async fn start() -> Site {
        let (provider, keys) = (provider().await, tempfile::tempdir().unwrap());
        let postgres = tokio::task::spawn_blocking(PostgresServer::start).await.unwrap();
        let redis = RedisServer::start();
        let (database, key_file) = (postgres.create_database(), keys.path().join("key"));
        let wire = Relay::start(vec![address_of(&redis.url())]).await;
        let settings = arguments(Engine::Valkey, &database, wire.address(), key_file.to_str().unwrap());
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let server = ServerBuilder::new(&provider.url()).arguments(&settings).start();
        Site { server, wire, _redis: redis, _postgres: postgres, _provider: provider, _keys: keys }
    }
}

/// The client disconnects while its replica reports the kill to the engine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_is_stored_although_its_client_has_left() {
    let site = Site::start().await;
    let request = openai_request("Why does the import of customer records fail?");
    for _ in 0..3 {
        assert_eq!(site.server.agent(AGENT).chat(&request).await.status, 200);
    }
    // If its replica decides alone, the fourth call has a score of 4, because the replica does not
    // know the end of the third one.
    site.server.kill_switch(AGENT, json!({"enabled": true, "threshold": 3.5})).await;
    site.wire.set(Fault::AnswersHeld);
    let caller = site.server.agent(AGENT);
    let call = tokio::spawn(async move { caller.chat(&request).await });
    let is_active = async || site.server.get(&format!("/api/agents/{AGENT}")).await["active"] == true;
    eventually("the kill is decided", async || {
        assert!(!call.is_finished() || !is_active().await, "the call passed");
        (!is_active().await).then_some(())
    })
    .await;
    call.abort();
    eventually("its incident is stored", async || {
        let incidents = site.server.incidents(AGENT).await;
        (incidents.len() == 1).then_some(())
    })
    .await;
    site.wire.set(Fault::None);
    site.server.activate(AGENT).await;
}

/// The engine admits the fourth call of a loop, but its replica gets no answer and lets the call
/// pass alone. The other replicas find that the call is the kill, and one of them records it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_is_counted_once_although_its_replica_let_the_call_pass() {
    let site = super::site::Site::without_load(Engine::Valkey).await;
    let [deaf, hearing] = [0, 1].map(|number| site.replicas[number].as_ref().unwrap().agent(AGENT));
    let request = openai_request("Why does the import of customer records fail?");
    for _ in 0..3 {
        assert_eq!(hearing.chat(&request).await.status, 200);
    }
    site.set_fault(0..1, Fault::AnswersHeld);
    let passed = deaf.chat(&request).await;
    assert_eq!(passed.status, 200, "{passed:?}");
    assert_eq!(passed.header("x-agentgazer-mode"), "degraded", "{passed:?}");
    let server = site.running_replica();
    eventually("the call is stored", async || (server.events(AGENT, "llm_call").await.len() == 4).then_some(())).await;
    site.set_fault(0..1, Fault::None);
    let refused = hearing.chat(&request).await;
    assert!(refused.is_inactive_response(), "{refused:?}");
    let incident = eventually("the kill is stored", async || server.incidents(AGENT).await.into_iter().next()).await;
    assert_eq!(refused.json()["incident_id"], incident["id"]);
    eventually("the refusal is stored", async || (server.events(AGENT, "blocked").await.len() == 1).then_some(()))
        .await;
    assert_eq!(server.events(AGENT, "kill_switch").await.len(), 1);
    super::checks::check_sums(&site);
}
