use super::*;
use crate::{Feedback, IncidentRow};
use model::DeactivatedBy;

#[tokio::test]
async fn configuring_an_unknown_agent_creates_it() {
    let fixture = Fixture::new().await;
    let mut notices = fixture.recorder.subscribe();
    let kill_switch = KillSwitch { enabled: true, window_size: 7, threshold: 2.5, ..KillSwitch::default() };
    let configure = Change::Configure { agent: id("new"), kill_switch, window_floor: 3, at: NOON };
    assert_eq!(fixture.change(configure).await.unwrap(), Changed::Done);
    assert_eq!(fixture.store.agent(&id("new")).await.unwrap().unwrap().kill_switch, kill_switch);
    assert!(matches!(next(&mut notices).await, Notice::Configured { kill_switch: told, .. } if told == kill_switch));

    let saved = fixture.store.saved_agents(KillSwitch::default(), 0).await.unwrap();
    assert_eq!((saved[0].kill_switch, saved[0].window_floor), (kill_switch, 3));
}

#[tokio::test]
async fn activation_closes_the_incident_and_begins_an_epoch() {
    let fixture = Fixture::new().await;
    let killed = fixture.kill("looper", 0).await;
    assert_eq!(fixture.activate("looper", 0).await.unwrap(), Changed::Activated(Epoch(1)));

    let IncidentRow { state, closed_at, .. } = fixture.store.incident(killed).await.unwrap().unwrap();
    assert_eq!((state, closed_at), (IncidentState::Closed, Some(NOON)));
    let agent = fixture.store.agent(&id("looper")).await.unwrap().unwrap();
    assert_eq!((agent.deactivation, agent.epoch), (None, Epoch(1)));
    assert_eq!(
        fixture.count("select count(*) from events where event_type = 'agent_activated' and epoch = 1").await,
        1
    );
}

#[tokio::test]
async fn activation_needs_the_agent_to_be_inactive_in_that_epoch() {
    let fixture = Fixture::new().await;
    assert!(matches!(fixture.activate("nobody", 0).await, Err(StoreError::NotFound)));
    fixture.record(call("looper")).await;
    assert!(matches!(fixture.activate("looper", 0).await, Err(StoreError::Conflict(_))));
    fixture.kill("looper", 0).await;
    assert!(matches!(fixture.activate("looper", 1).await, Err(StoreError::Conflict(_))));
    assert!(!fixture.is_active("looper").await);
}

#[tokio::test]
async fn deactivation_by_hand_is_recorded_once() {
    let fixture = Fixture::new().await;
    let deactivate = || Change::Deactivate { agent: id("busy"), at: NOON };
    assert!(matches!(fixture.change(deactivate()).await, Err(StoreError::NotFound)));
    // Not waited for: a change sees what was sent before it.
    fixture.handle.event(call("busy"));
    for _ in 0..2 {
        assert_eq!(fixture.change(deactivate()).await.unwrap(), Changed::Done);
    }
    let deactivation = fixture.store.agent(&id("busy")).await.unwrap().unwrap().deactivation.unwrap();
    assert_eq!((deactivation.by, deactivation.incident), (DeactivatedBy::Manual, None));
    assert_eq!(fixture.count("select count(*) from events where event_type = 'agent_deactivated'").await, 1);
}

#[tokio::test]
async fn a_deactivation_by_hand_does_not_hide_a_kill() {
    let fixture = Fixture::new().await;
    let killed = fixture.kill("looper", 0).await;
    fixture.change(Change::Deactivate { agent: id("looper"), at: NOON }).await.unwrap();
    let deactivation = fixture.store.agent(&id("looper")).await.unwrap().unwrap().deactivation.unwrap();
    assert_eq!((deactivation.by, deactivation.incident), (DeactivatedBy::KillSwitch, Some(killed)));
}

#[tokio::test]
async fn feedback_and_names_are_stored_and_incidents_deleted() {
    let fixture = Fixture::new().await;
    let killed = fixture.kill("looper", 0).await;
    fixture.change(Change::SetFeedback { incident: killed, feedback: Feedback::FalseAlarm }).await.unwrap();
    assert_eq!(fixture.store.incident(killed).await.unwrap().unwrap().feedback, Some(Feedback::FalseAlarm));
    fixture.change(Change::Rename { agent: id("looper"), name: Some("Lu".to_owned()) }).await.unwrap();
    assert_eq!(fixture.store.agent(&id("looper")).await.unwrap().unwrap().name.as_deref(), Some("Lu"));

    fixture.change(Change::DeleteIncident { incident: killed }).await.unwrap();
    assert!(fixture.store.evidence(killed).await.unwrap().is_empty());
    assert!(!fixture.is_active("looper").await, "without its incident a kill is still a kill");
}

#[tokio::test]
async fn change_of_an_unknown_thing_is_not_found() {
    let fixture = Fixture::new().await;
    let incident = IncidentId::at(NOON);
    for change in [
        Change::Rename { agent: id("nobody"), name: None },
        Change::DeleteAgent { agent: id("nobody") },
        Change::RemoveProvider { name: "nobody".to_owned() },
        Change::SetFeedback { incident, feedback: Feedback::Loop },
        Change::DeleteIncident { incident },
    ] {
        let described = format!("{change:?}");
        assert!(matches!(fixture.change(change).await, Err(StoreError::NotFound)), "{described}");
    }
}

#[tokio::test]
async fn changes_survive_a_restart() {
    let fixture = Fixture::new().await;
    fixture.kill("looper", 0).await;
    fixture.activate("looper", 0).await.unwrap();
    let fixture = fixture.restart().await;
    let saved = fixture.store.saved_agents(KillSwitch::default(), 0).await.unwrap();
    assert_eq!((saved[0].epoch, saved[0].deactivation), (Epoch(1), None));
}
