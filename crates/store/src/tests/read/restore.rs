use super::*;
use model::SavedAgent;

const RECALL: u64 = SavedAgent::RECALL;

async fn numbers(fixture: &Fixture, agent: &str) -> Vec<u64> {
    let saved = fixture.store.saved_agents(KillSwitch::default(), 10).await.unwrap();
    let saved = saved.into_iter().find(|saved| saved.id == id(agent)).unwrap();
    saved.fingerprints.into_iter().map(|fingerprint| fingerprint.number).collect()
}

#[tokio::test]
async fn windows_are_restored_oldest_first_from_the_current_epoch() {
    let fixture = Fixture::new().await;
    let events = [(0, 1), (0, 2), (1, 3), (1, 1), (1, 2)].map(|(epoch, number)| scored("agent", epoch, number));
    let expected: Vec<Fingerprint> = [&events[3], &events[4], &events[2]].map(|it| it.fingerprint.unwrap()).into();
    fixture.record_all(events.into()).await;
    fixture.record_all(vec![call("agent"), scored("other", 0, 9)]).await;
    assert_eq!(numbers(&fixture, "agent").await, [1, 2], "not yet activated");

    fixture.kill("agent", 0).await;
    fixture.activate("agent", 0).await.unwrap();
    let fixture = fixture.restart().await;
    let saved = fixture.store.saved_agents(KillSwitch::default(), 10).await.unwrap();
    assert_eq!(saved[0].fingerprints, expected);
    assert_eq!(numbers(&fixture, "other").await, [9]);
}

#[tokio::test]
async fn calls_outside_the_window_are_not_restored() {
    let fixture = Fixture::new().await;
    fixture.record_all((1..=RECALL + 10).map(|number| scored("agent", 0, number)).collect()).await;
    assert_eq!(numbers(&fixture, "agent").await, (11..=RECALL + 10).collect::<Vec<_>>());

    let kill_switch = KillSwitch::default();
    let configure = Change::Configure { agent: id("agent"), kill_switch, window_floor: RECALL + 8, at: NOON };
    fixture.change(configure).await.unwrap();
    assert_eq!(numbers(&fixture, "agent").await, [RECALL + 9, RECALL + 10]);

    fixture.kill("agent", 0).await;
    fixture.activate("agent", 0).await.unwrap();
    fixture.record(scored("agent", 1, 7)).await;
    assert_eq!(numbers(&fixture, "agent").await, [7], "the floor ends with its epoch");
}

#[tokio::test]
async fn agents_that_differ_from_the_defaults_are_always_restored_and_others_if_they_are_recent() {
    let fixture = Fixture::new().await;
    for (millis, agent) in [(1, "old"), (2, "recent"), (0, "inactive"), (0, "activated"), (0, "configured")] {
        let mut event = call(agent);
        event.time = Timestamp::from_millis(millis);
        fixture.record(event).await;
    }
    fixture.change(Change::Deactivate { agent: id("inactive"), at: Timestamp::default() }).await.unwrap();
    fixture.change(Change::Deactivate { agent: id("activated"), at: Timestamp::default() }).await.unwrap();
    fixture.activate("activated", 0).await.unwrap();
    let kill_switch = KillSwitch { window_size: 9, ..KillSwitch::default() };
    fixture
        .change(Change::Configure { agent: id("configured"), kill_switch, window_floor: 0, at: NOON })
        .await
        .unwrap();

    let check = async |recent: usize, expected: &[&str]| {
        let saved = fixture.store.saved_agents(KillSwitch::default(), recent).await.unwrap();
        let mut names: Vec<_> = saved.iter().map(|saved| saved.id.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, expected);
    };
    check(0, &["activated", "configured", "inactive"]).await;
    check(1, &["activated", "configured", "inactive", "recent"]).await;
    check(2, &["activated", "configured", "inactive", "old", "recent"]).await;
}

#[tokio::test]
async fn older_agents_are_restored_once_and_most_recent_first() {
    let fixture = Fixture::new().await;
    for number in 1..=9 {
        let mut event = scored(&format!("agent-{number}"), 0, number);
        event.time = Timestamp::from_millis(NOON.as_millis() + number as i64);
        fixture.record(event).await;
    }
    fixture.change(Change::Deactivate { agent: id("agent-3"), at: NOON }).await.unwrap();
    let first = fixture.store.saved_agents(KillSwitch::default(), 2).await.unwrap();
    let mut first: Vec<_> = first.iter().map(|agent| agent.id.as_str()).collect();
    first.sort_unstable();
    assert_eq!(first, ["agent-3", "agent-8", "agent-9"], "an inactive agent is needed at once");

    let mut older = fixture.store.older_agents(KillSwitch::default(), 2, 7).await.unwrap();
    let mut found = Vec::new();
    while let Some(agents) = older.next().await.unwrap() {
        assert!(agents.iter().all(|agent| agent.fingerprints.len() == 1));
        found.extend(agents.into_iter().map(|agent| agent.id.to_string()));
    }
    found.sort_unstable();
    assert_eq!(found, ["agent-4", "agent-5", "agent-6", "agent-7"], "seven are recent, and one is there already");
}
