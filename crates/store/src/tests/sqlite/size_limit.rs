use super::*;

const LIMIT: u64 = 1 << 20;

/// A store that may not become larger than [`LIMIT`].
async fn limited() -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(&directory);
    config.max_size = Some(LIMIT);
    let tuning = Tuning { size_interval: Duration::from_millis(1), ..quick() };
    let store = Store::open_tuned(config, tuning.clone()).await.unwrap();
    let (handle, inbox) = RecorderHandle::new(10_000);
    let (recorder, writer) = Recorder::start(store.clone(), inbox);
    Fixture { store, recorder, handle, writer, tuning, directory }
}

/// Writes `count` events, each later than the one before.
async fn write(fixture: &Fixture, first: i64, count: i64) {
    let events = (first..first + count).map(|number| {
        let at = Timestamp::from_millis(NOON.as_millis() + number * 1000);
        let mut event = Event::new(CallId::at(at), id("agent"), Epoch(0), EventType::LlmCall, at);
        event.error = Some("x".repeat(500));
        event
    });
    fixture.record_all(events.collect()).await;
}

/// Waits until the database is small enough.
async fn settle(fixture: &Fixture) {
    let mut rounds = 0;
    loop {
        // The writer measures the size when it is idle.
        fixture.change(Change::Rename { agent: id("agent"), name: None }).await.unwrap();
        let mut reader = fixture.store.readers.acquire().await.unwrap();
        if crate::database::used_bytes(&mut reader.connection()).await.unwrap() <= LIMIT {
            return;
        }
        rounds += 1;
        assert!(rounds < 10_000, "the database stays too large");
    }
}

#[tokio::test]
async fn size_limit_deletes_the_oldest_events_before_incidents() {
    let fixture = limited().await;
    assert!(fixture.send_kill(incident("looper", 0)).wait().await);
    write(&fixture, 0, 4_000).await;
    settle(&fixture).await;
    let left = fixture.count("select count(*) from events where event_type = 'llm_call'").await;
    assert!((1..4_000).contains(&left), "{left}");
    let newest = NOON.as_millis() + 3_999_000;
    let oldest = fixture.count("select min(timestamp) from events where event_type = 'llm_call'").await;
    assert_eq!(oldest, newest - (left - 1) * 1000, "those that are left are the newest");
    assert_eq!(fixture.count("select count(*) from incidents").await, 1);
    assert!(!fixture.is_active("looper").await);
    assert!(fixture.recorder.health().deleted_for_size() > 0);
}

#[tokio::test]
async fn file_stops_growing_at_the_size_limit() {
    let fixture = limited().await;
    write(&fixture, 0, 4_000).await;
    settle(&fixture).await;
    let pages = "select page_count from pragma_page_count";
    let before = fixture.count(pages).await;
    for round in 1..6 {
        write(&fixture, round * 2_000, 2_000).await;
        settle(&fixture).await;
    }
    // One portion may come in before the next measurement.
    assert!(fixture.count(pages).await <= before * 3 / 2, "free pages are filled again");
}

#[tokio::test]
async fn size_limit_deletes_closed_incidents_last_and_open_ones_never() {
    let fixture = limited().await;
    for agent in ["open", "closed"] {
        let mut incident = incident(agent, 0);
        incident.evidence.iter_mut().for_each(|evidence| evidence.prompt = Some(noise(2 << 20)));
        assert!(fixture.send_kill(incident).wait().await);
    }
    fixture.activate("closed", 0).await.unwrap();
    let mut rounds = 0;
    while fixture.count("select count(*) from incidents where agent_id = 'closed'").await > 0 {
        fixture.change(Change::Rename { agent: id("open"), name: None }).await.unwrap();
        rounds += 1;
        assert!(rounds < 10_000, "it stays");
    }
    assert_eq!(fixture.count("select count(*) from incidents where agent_id = 'open'").await, 1);
    assert!(!fixture.is_active("open").await);
}
