use super::*;
use crate::{IncidentFilter, IncidentRow};
use model::DeactivatedBy;

#[tokio::test]
async fn a_kill_deactivates_records_and_keeps_the_evidence() {
    let fixture = Fixture::new().await;
    let killed = fixture.kill("looper", 0).await;

    let agent = fixture.store.agent(&id("looper")).await.unwrap().unwrap();
    let deactivation = agent.deactivation.unwrap();
    assert_eq!(
        (deactivation.by, deactivation.at, deactivation.incident),
        (DeactivatedBy::KillSwitch, NOON, Some(killed))
    );
    assert!(agent.kill_switch.enabled, "an agent not yet stored takes the settings it was killed with");

    let IncidentRow { agent, score: stored, state, kill_switch, evidence_count, .. } =
        fixture.store.incident(killed).await.unwrap().unwrap();
    assert_eq!((agent.as_str(), stored, state, evidence_count), ("looper", score(), IncidentState::Open, 2));
    assert_eq!(kill_switch.threshold, 5.0);

    let evidence = fixture.store.evidence(killed).await.unwrap();
    assert_eq!(evidence[0].evidence.matched, [Matched::Prompt]);
    assert_eq!(evidence[1].evidence.matched, [Matched::Trigger]);
    assert_eq!(evidence[0].evidence.request_body.as_deref(), Some("{\"ä\":1}".as_bytes()));
    assert_eq!((evidence[0].request_chars, evidence[0].response_chars), (7, 0));
    assert_eq!(
        fixture.count("select count(*) from events where event_type = 'kill_switch' and incident_id is not null").await,
        1
    );
}

#[tokio::test]
async fn one_kill_makes_one_incident_however_many_are_reported() {
    let fixture = Fixture::new().await;
    let commits: Vec<KillCommit> = (0..200).map(|_| fixture.send_kill(incident("looper", 0))).collect();
    for commit in commits {
        assert!(commit.wait().await, "the loser of the race gets an answer as well");
    }
    assert_eq!(fixture.count("select count(*) from incidents").await, 1);
    assert_eq!(fixture.count("select count(*) from evidence").await, 2);
    assert_eq!(fixture.count("select count(*) from events").await, 1);
}

#[tokio::test]
async fn a_kill_of_an_epoch_that_is_over_changes_nothing() {
    let fixture = Fixture::new().await;
    fixture.kill("looper", 0).await;
    assert_eq!(fixture.activate("looper", 0).await.unwrap(), Changed::Activated(Epoch(1)));
    fixture.kill("looper", 0).await;
    assert!(fixture.is_active("looper").await);
    assert_eq!(fixture.count("select count(*) from incidents").await, 1);

    fixture.kill("looper", 1).await;
    assert!(!fixture.is_active("looper").await);
    assert_eq!(fixture.count("select count(*) from incidents").await, 2);
}

#[tokio::test]
async fn a_kill_survives_a_restart() {
    let fixture = Fixture::new().await;
    let killed = fixture.kill("looper", 0).await;
    let fixture = fixture.restart().await;
    let saved = fixture.store.saved_agents(KillSwitch::default(), 0).await.unwrap();
    assert_eq!(saved[0].deactivation.unwrap().incident, Some(killed));
}

#[tokio::test]
async fn an_observed_incident_leaves_the_agent_active() {
    let fixture = Fixture::new().await;
    let mut notices = fixture.recorder.subscribe();
    for _ in 0..2 {
        let mut observed = incident("watched", 0);
        observed.state = IncidentState::Observed;
        fixture.handle.observed(observed);
        assert!(matches!(next(&mut notices).await, Notice::Incident { .. }));
    }
    assert!(fixture.is_active("watched").await);
    let filter = IncidentFilter { state: Some(IncidentState::Observed), ..Default::default() };
    assert_eq!(fixture.store.incidents(&filter, &page(10)).await.unwrap().items.len(), 2);
}

#[tokio::test]
async fn kill_after_the_stop_is_not_acknowledged() {
    let fixture = Fixture::new().await;
    fixture.recorder.stop().await;
    assert!(!fixture.send_kill(incident("looper", 0)).wait().await);
}
