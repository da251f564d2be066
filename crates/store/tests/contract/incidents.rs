//! Kills, their incidents and their evidence.

use model::{DeactivatedBy, IncidentState, Matched};
use store::{Change, Feedback, IncidentFilter, StoreError};

use crate::backend::{Backend, NOON, id, page};

pub(crate) async fn kill_is_on_disk_when_it_is_acknowledged(backend: &impl Backend) {
    let server = backend.create().await;
    let killed = server.kill("ann", 0).await;
    let server = server.restart().await;
    let deactivation = server.store.agent(&id("ann")).await.unwrap().unwrap().deactivation.unwrap();
    let expected = (DeactivatedBy::KillSwitch, NOON, Some(killed));
    assert_eq!((deactivation.by, deactivation.at, deactivation.incident), expected);
    let incident = server.store.incident(killed).await.unwrap().unwrap();
    assert_eq!((incident.state, incident.score.value, incident.evidence_count), (IncidentState::Open, 7.0, 1));
    let evidence = server.store.evidence(killed).await.unwrap();
    assert_eq!(evidence[0].evidence.matched, [Matched::Trigger]);
    assert_eq!(evidence[0].evidence.request_body.as_deref(), Some("{\"ä\":1}".as_bytes()));
    assert_eq!(evidence[0].request_chars, 7);
}

pub(crate) async fn second_kill_of_an_epoch_writes_nothing(backend: &impl Backend) {
    let server = backend.create().await;
    let first = server.kill("ann", 0).await;
    let second = server.kill("ann", 0).await;
    assert!(server.store.incident(second).await.unwrap().is_none());
    server.activate("ann", 0).await.unwrap();
    server.kill("ann", 0).await;
    assert!(server.is_active("ann").await, "the epoch of that kill is over");
    let incidents = server.store.incidents(&IncidentFilter::default(), &page(10)).await.unwrap().items;
    assert_eq!(incidents.iter().map(|row| (row.id, row.state)).collect::<Vec<_>>(), [(first, IncidentState::Closed)]);
}

pub(crate) async fn feedback_and_deletion(backend: &impl Backend) {
    let server = backend.create().await;
    let incident = server.kill("ann", 0).await;
    server.change(Change::SetFeedback { incident, feedback: Feedback::FalseAlarm }).await.unwrap();
    let stored = server.store.incident(incident).await.unwrap().unwrap();
    assert_eq!(stored.feedback, Some(Feedback::FalseAlarm));
    server.change(Change::DeleteIncident { incident }).await.unwrap();
    assert!(server.store.evidence(incident).await.unwrap().is_empty());
    assert!(!server.is_active("ann").await, "the agent stays inactive");
    let again = server.change(Change::DeleteIncident { incident }).await;
    assert!(matches!(again, Err(StoreError::NotFound)));
}
