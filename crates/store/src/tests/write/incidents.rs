use super::events::refusal;
use super::*;
use model::{BlockReason, Cycle, Likeness, NanoUsd};

fn later(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOON.as_millis() + seconds * 1000)
}

/// A call of the loop, with what it cost.
fn paid(nanos: Option<i64>) -> Event {
    let mut event = call("looper");
    event.cost = nanos.map(NanoUsd::new);
    event
}

/// A kill that ends a loop of these calls.
fn stopped(calls: &[&Event]) -> Incident {
    let mut killed = incident("looper", 0);
    let cycle = Some(Cycle { period: 2, laps: 3 });
    killed.kill.stuck = Stuck { since: later(-60), calls: calls.iter().map(|event| event.id).collect(), cycle };
    killed.kill.window = calls.iter().zip(1..).map(|(event, number)| fingerprint(event.id, number)).collect();
    killed
}

#[tokio::test]
async fn incident_keeps_the_cycle_and_the_cost_of_its_loop() {
    // Some events are on disk, others have only been sent, one is of another loop.
    let fixture = Fixture::with(Tuning { batch_delay: Duration::from_secs(3600), ..quick() }).await;
    let [first, second, third, unpriced] = [Some(1_000), Some(200), Some(30), None].map(paid);
    let other = paid(Some(4));
    for event in [&first, &other] {
        fixture.handle.event(event.clone());
    }
    fixture.recorder.catch_up().await;
    for event in [&second, &third, &unpriced] {
        fixture.handle.event(event.clone());
    }
    let mut killed = stopped(&[&first, &second, &third, &unpriced]);
    let like = Likeness { by: Matched::Prompt, with: third.id, distance: Some(2) };
    killed.evidence[0].alike = vec![like];
    killed.evidence[0].tool_calls = Some("search({})".to_owned());
    let (id, window) = (killed.kill.incident, killed.kill.window.clone());
    assert!(fixture.send_kill(killed).wait().await);

    let stored = fixture.store.incident(id).await.unwrap().unwrap();
    assert_eq!(stored.loop_cost, Some(NanoUsd::new(1_230)));
    assert_eq!((stored.stuck_since, stored.stuck_calls), (Some(later(-60)), 4));
    assert_eq!(stored.cycle, Some(Cycle { period: 2, laps: 3 }));
    assert_eq!(fixture.store.incident_window(id).await.unwrap(), window);
    let evidence = &fixture.store.evidence(id).await.unwrap()[0].evidence;
    assert_eq!((evidence.alike.as_slice(), evidence.tool_calls.as_deref()), (&[like][..], Some("search({})")));
    let head = &fixture.store.evidence_heads(id, 6).await.unwrap()[0];
    assert_eq!((head.alike.as_slice(), head.tool_calls.as_deref()), (&[like][..], Some("search")));

    fixture.recorder.stop().await;
    assert_eq!(fixture.count("select count(*) from events where event_type = 'llm_call'").await, 5, "none is lost");
}

#[tokio::test]
async fn incident_without_prices_has_no_cost() {
    let fixture = Fixture::new().await;
    let unpriced = paid(None);
    fixture.record(unpriced.clone()).await;
    let killed = stopped(&[&unpriced]);
    let id = killed.kill.incident;
    assert!(fixture.send_kill(killed).wait().await);
    assert_eq!(fixture.store.incident(id).await.unwrap().unwrap().loop_cost, None);
}

#[tokio::test]
async fn refusals_after_a_kill_are_counted_with_it_until_the_activation() {
    let fixture = Fixture::new().await;
    let by_policy = || Event { block_reason: Some(BlockReason::OutsideHours), ..refusal("looper", NOON) };
    fixture.record(by_policy()).await;
    let first = fixture.kill("looper", 0).await;
    let refusals = (0..412).map(|second| refusal("looper", later(second))).collect();
    fixture.record_all(refusals).await;
    fixture.record_all(vec![by_policy(), refusal("somebody-else", NOON)]).await;
    let refused = async |id| fixture.store.incident(id).await.unwrap().unwrap().refused;
    assert_eq!(refused(first).await, 412);
    assert_eq!(fixture.store.refused(&id("looper")).await.unwrap(), 412);

    fixture.activate("looper", 0).await.unwrap();
    let closed = fixture.store.incident(first).await.unwrap().unwrap();
    assert_eq!((closed.closed_at, closed.closed_by), (Some(NOON), Some(ActivatedBy::Api)));
    let second = fixture.kill("looper", 1).await;
    let mut again = refusal("looper", NOON);
    again.epoch = Epoch(1);
    fixture.record(again).await;
    assert_eq!((refused(first).await, refused(second).await), (412, 1));
}
