//! Databases of earlier versions open and keep their content.

use model::{Clock, DeactivatedBy, IncidentState, NanoUsd, Timestamp};
use secrecy::ExposeSecret;
use sqlx::{ConnectOptions, Connection, Executor};
use store::{AgentFilter, EventFilter, IncidentFilter, Period, StoreConfig};

use crate::backend::{Server, call, id, page};

/// Made by `agentgazer demo`, some changes by hand and `sqlite3 .dump`, with the version before
/// migration 11.
const VERSION_10: &str = include_str!("../data/version_10.sql");
const VERSION_10_KEY: &str = include_str!("../data/version_10.key");

/// A little after it was made.
const LATER: Timestamp = Timestamp::from_millis(1_794_973_600_000);

async fn open_version_10() -> Server {
    let directory = tempfile::tempdir().unwrap();
    let mut config = StoreConfig::new(directory.path().join("data"), directory.path().join("key"));
    config.clock = Clock::manual(LATER);
    std::fs::create_dir(&config.data_dir).unwrap();
    std::fs::write(&config.key_file, VERSION_10_KEY).unwrap();
    let file = config.data_dir.join("agentgazer.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    connection.execute(VERSION_10).await.unwrap();
    connection.close().await.unwrap();
    Server::start(config, directory, "").await
}

#[tokio::test]
async fn database_of_version_10_opens_with_all_its_content() {
    let server = open_version_10().await;
    let agents = server.store.agents(&AgentFilter::default(), &page(10)).await.unwrap().items;
    let agents: Vec<_> = agents
        .iter()
        .map(|agent| (agent.id.as_str(), agent.name.as_deref(), agent.deactivation.as_ref().map(|it| it.by)))
        .collect();
    let expected = [
        ("import-fixer", None, Some(DeactivatedBy::KillSwitch)),
        ("researcher", Some("Dr. Ann"), None),
        ("support-chat", None, Some(DeactivatedBy::Manual)),
    ];
    assert_eq!(agents, expected);
    assert_eq!(server.store.events(&EventFilter::default(), &page(100)).await.unwrap().items.len(), 26);
    let incidents = server.store.incidents(&IncidentFilter::default(), &page(10)).await.unwrap().items;
    assert_eq!(incidents.iter().map(|incident| incident.state).collect::<Vec<_>>(), [IncidentState::Open]);
    let evidence = server.store.evidence(incidents[0].id).await.unwrap();
    assert!(evidence.len() == 6 && evidence.iter().all(|row| row.evidence.request_body.is_some()));
    assert!(!server.store.incident_window(incidents[0].id).await.unwrap().is_empty());
    let channels = server.store.channels().await.unwrap();
    assert!(channels[0].name == "ops" && channels[0].settings.is_some(), "decrypted");
    let key = server.store.providers().await.unwrap()[0].key.as_ref().map(|key| key.expose_secret().to_owned());
    assert_eq!(key.as_deref(), Some("sk-test-0123456789"));
    let policies = server.store.policies().await.unwrap();
    assert_eq!(policies[0].1.budget_daily, Some(NanoUsd::new(5_000_000_000)));
    assert_eq!(server.store.settings().retention.event_days, 14);
}

#[tokio::test]
async fn sums_of_version_10_go_on() {
    let server = open_version_10().await;
    let period = Period::last_hours(24, LATER);
    let before = server.store.total(None, period).await.unwrap();
    assert_eq!((before.requests, before.unpriced, before.tokens_in, before.latency.total()), (23, 23, 7479, 23));
    let mut event = call("researcher", LATER);
    event.latency_ms = Some(100);
    server.record(&[event]).await;
    let after = server.store.total(None, period).await.unwrap();
    assert_eq!((after.requests, after.latency.total()), (24, 24));
    let of_agent = server.store.total(Some(&id("researcher")), period).await.unwrap();
    assert_eq!(of_agent.requests, 10);
    let agents = server.store.agent_figures(period, 10).await.unwrap();
    assert_eq!(agents.iter().map(|(_, sums)| sums.requests).sum::<u64>(), 24);
}
