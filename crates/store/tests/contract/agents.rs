//! Agents: created, configured, activated, deleted, restored.

use model::{Epoch, Event, KillSwitch};
use store::{AgentFilter, Change, Changed, EventFilter, IncidentFilter, Period, StoreError};

use crate::backend::{Backend, NOON, call, id, minutes_ago, page};

/// A fingerprint as version 3 of its encoding stores it.
const FINGERPRINT: [u8; 78] = {
    let mut bytes = [0; 78];
    bytes[0] = 3;
    bytes[3] = 1;
    bytes
};

fn scored(agent: &str, epoch: u64, number: u64) -> Event {
    let mut event = call(agent, NOON);
    event.epoch = Epoch(epoch);
    let mut fingerprint = store::decode_fingerprint(&FINGERPRINT).expect("a fingerprint");
    fingerprint.call = event.id;
    fingerprint.number = number;
    event.fingerprint = Some(fingerprint);
    event
}

pub(crate) async fn agent_is_created_by_its_first_event(backend: &impl Backend) {
    let server = backend.create().await;
    server.record(&[call("ann", minutes_ago(5)), call("ann", minutes_ago(1)), call("ben", minutes_ago(3))]).await;
    let agents = server.store.agents(&AgentFilter::default(), &page(10)).await.unwrap().items;
    let seen: Vec<_> = agents.iter().map(|agent| (agent.id.as_str(), agent.created_at, agent.last_seen)).collect();
    let expected = [("ann", minutes_ago(5), Some(minutes_ago(1))), ("ben", minutes_ago(3), Some(minutes_ago(3)))];
    assert_eq!(seen, expected);
    assert!(agents.iter().all(|agent| agent.deactivation.is_none() && agent.kill_switch == KillSwitch::default()));
}

pub(crate) async fn configured_agent_keeps_its_settings(backend: &impl Backend) {
    let server = backend.create().await;
    let kill_switch = KillSwitch { enabled: true, window_size: 9, ..KillSwitch::default() };
    server.change(Change::Configure { agent: id("ann"), kill_switch, window_floor: 0, at: NOON }).await.unwrap();
    server.change(Change::Rename { agent: id("ann"), name: Some("Ann".to_owned()) }).await.unwrap();
    let server = server.restart().await;
    let agent = server.store.agent(&id("ann")).await.unwrap().unwrap();
    assert_eq!((agent.kill_switch, agent.name.as_deref()), (kill_switch, Some("Ann")));
    let unknown = server.change(Change::Rename { agent: id("nobody"), name: None }).await;
    assert!(matches!(unknown, Err(StoreError::NotFound)));
}

pub(crate) async fn deleted_agent_leaves_nothing_but_the_sums(backend: &impl Backend) {
    let server = backend.create().await;
    server.record(&[call("ann", NOON), call("ben", NOON)]).await;
    server.kill("ann", 0).await;
    server.change(Change::DeleteAgent { agent: id("ann") }).await.unwrap();
    assert!(server.store.agent(&id("ann")).await.unwrap().is_none());
    let events = server.store.events(&EventFilter::default(), &page(10)).await.unwrap().items;
    assert_eq!(events.iter().map(|row| row.event.agent.as_str()).collect::<Vec<_>>(), ["ben"]);
    assert!(server.store.incidents(&IncidentFilter::default(), &page(10)).await.unwrap().items.is_empty());
    let period = Period::last_hours(24, NOON);
    assert_eq!(server.store.total(Some(&id("ann")), period).await.unwrap().requests, 0);
    assert_eq!(server.store.total(None, period).await.unwrap().requests, 2, "what was spent is spent");
}

pub(crate) async fn activation_of_a_past_epoch_is_refused(backend: &impl Backend) {
    let server = backend.create().await;
    server.kill("ann", 0).await;
    assert_eq!(server.activate("ann", 0).await.unwrap(), Changed::Activated(Epoch(1)));
    assert!(matches!(server.activate("ann", 0).await, Err(StoreError::Conflict(_))));
    server.change(Change::Deactivate { agent: id("ann"), at: NOON }).await.unwrap();
    assert!(matches!(server.activate("ann", 0).await, Err(StoreError::Conflict(_))));
    assert_eq!(server.activate("ann", 1).await.unwrap(), Changed::Activated(Epoch(2)));
    assert!(matches!(server.activate("nobody", 0).await, Err(StoreError::NotFound)));
}

pub(crate) async fn restore_returns_the_window_of_the_current_epoch(backend: &impl Backend) {
    let server = backend.create().await;
    server.record(&[scored("ann", 0, 1), scored("ann", 0, 2), scored("ben", 0, 7)]).await;
    server.kill("ann", 0).await;
    server.activate("ann", 0).await.unwrap();
    server.record(&[scored("ann", 1, 2), scored("ann", 1, 1)]).await;
    let server = server.restart().await;
    let mut saved = server.store.saved_agents(KillSwitch::default(), 10).await.unwrap();
    saved.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    let windows: Vec<(&str, Vec<u64>)> = saved
        .iter()
        .map(|agent| (agent.id.as_str(), agent.fingerprints.iter().map(|it| it.number).collect()))
        .collect();
    assert_eq!(windows, [("ann", vec![1, 2]), ("ben", vec![7])]);
    assert_eq!(saved[0].epoch, Epoch(1));
}
