use super::*;
use model::AlertData;

impl Fixture {
    async fn digest(&self, channel: ChannelId, window: Timestamp, at: Timestamp) {
        let digest = DeliveryId::new();
        self.alerts(AlertChange::Digest { channel, window_opened_at: window, digest, at }).await.unwrap();
    }
}

#[tokio::test]
async fn ten_kills_within_a_minute_are_one_alert_and_one_digest() {
    let fixture = Fixture::new().await;
    let channel = fixture.channel("ops").await;
    for agent in 0..10 {
        fixture.kill_at(&format!("agent-{agent}"), 0, agent * 4).await;
    }
    let due: Vec<_> = fixture.store.due(channel, NOON, 100).await.unwrap();
    assert_eq!(due.len(), 1, "the first is due at once");
    assert!(due[0].waits_in.is_none());
    assert_eq!(fixture.store.next_due(NOON).await.unwrap(), Some(after(41)), "five quiet seconds after the last");

    let waiting = fixture.store.due(channel, after(41), 100).await.unwrap();
    assert_eq!(waiting.iter().filter(|it| it.waits_in == Some(NOON)).count(), 9);
    let fixture = fixture.restart().await;
    fixture.digest(channel, NOON, after(41)).await;
    fixture.digest(channel, NOON, after(41)).await;
    let digests: Vec<_> = fixture.queued().await.into_iter().filter(|it| it.alert_type == AlertType::Digest).collect();
    let [digest] = digests.as_slice() else { panic!("{digests:?}") };
    let Some(AlertData::Digest { count, alerts }) = &digest.data else { panic!("{digest:?}") };
    assert_eq!((*count, alerts.len()), (10, 10));
    assert_eq!(alerts[9].agent_id.as_ref().unwrap().as_str(), "agent-9");
    let digested: Vec<_> =
        fixture.queued().await.into_iter().filter(|it| it.digest == Some(digest.id)).map(|it| it.state).collect();
    assert_eq!(digested, [DeliveryState::Digested; 9]);
    let filter = DeliveryFilter { without_digested: true, ..DeliveryFilter::default() };
    let page = fixture.store.deliveries(&filter, &PageRequest { limit: 2, cursor: None }).await.unwrap();
    assert_eq!((page.items.len(), page.next), (2, None), "the digest and the alert that was sent at once");
}

#[tokio::test]
async fn single_waiting_alert_is_sent_without_a_digest() {
    let fixture = Fixture::new().await;
    let channel = fixture.channel("ops").await;
    fixture.kill_at("one", 0, 0).await;
    fixture.kill_at("two", 0, 10).await;
    fixture.digest(channel, NOON, after(15)).await;
    assert_eq!(fixture.sent_alerts().await.len(), 2, "one that waits makes no digest");
    fixture.attempted(fixture.queued().await[1].id, Outcome::Delivered).await;

    fixture.kill_at("three", 0, 20).await;
    fixture.kill_at("four", 0, 59).await;
    assert_eq!(fixture.store.next_due(after(20)).await.unwrap(), Some(after(60)), "the rest waits for the end");
    fixture.kill_at("five", 0, 61).await;
    assert_eq!(fixture.queued().await[4].due_at, after(61), "then a new window opens");
}

#[tokio::test]
async fn channels_do_not_share_their_windows() {
    let fixture = Fixture::new().await;
    let (a, b) = (fixture.channel("a").await, fixture.channel("b").await);
    fixture.rule(rule("only-a", Condition::KillSwitch, &[a])).await;
    fixture.kill_at("only-a", 0, 0).await;
    fixture.kill_at("both", 0, 10).await;
    let due = |channel| fixture.store.due(channel, after(10), 10);
    assert_eq!(due(a).await.unwrap().len(), 1);
    assert_eq!(due(b).await.unwrap().len(), 1, "the first alert of b");
}
