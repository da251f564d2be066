use super::*;
use crate::EventFilter;
use model::{BlockReason, NanoUsd, Usage};

pub(super) fn refusal(agent: &str, at: Timestamp) -> Event {
    let mut event = Event::new(CallId::new(), id(agent), Epoch(0), EventType::Blocked, at);
    event.block_reason = Some(BlockReason::Inactive);
    event
}

#[tokio::test]
async fn event_survives_a_round_trip() {
    let fixture = Fixture::new().await;
    let mut event = scored("agent", 0, 1);
    event.conversation = Some("c".to_owned());
    event.provider = Some("openai".to_owned());
    event.model = Some("gpt-4o".to_owned());
    event.status = Some(200);
    event.latency_ms = Some(1200);
    event.first_byte_ms = Some(300);
    event.usage = Usage { input: Some(10), output: Some(20), cached: Some(3), reasoning: Some(0), ..Usage::default() };
    event.streamed = true;
    event.would_have_stopped = true;
    event.error = Some("cut".to_owned());
    fixture.record(event.clone()).await;
    event.fingerprint = None;
    let read = fixture.store.event(event.id).await.unwrap().unwrap();
    assert_eq!((read.event, read.count), (event, 1));
    assert_eq!(fixture.store.would_have_stopped(&id("agent")).await.unwrap(), 1);
    assert!(fixture.store.event(CallId::new()).await.unwrap().is_none());
}

#[tokio::test]
async fn batch_of_events_survives_a_round_trip() {
    let fixture = Fixture::with(Tuning { batch_delay: Duration::from_secs(3600), ..quick() }).await;
    let mut events: Vec<Event> = (0..900).map(usual).collect();
    // First calls of one conversation, then of two, then of two agents, and some of each rare kind;
    // all in an order in which calls may end.
    events[300].conversation = None;
    events[600].agent = id("another");
    events[601].score = None;
    events[590].error = Some("cut".to_owned());
    events[591].model_asked = Some("gpt-5".to_owned());
    events[592].estimated = true;
    events[593].would_have_stopped = true;
    events[594].incident = Some(IncidentId::at(NOON));
    events[595].event_type = EventType::KillSwitch;
    events[596].block_reason = Some(BlockReason::Inactive);
    events.chunks_mut(7).for_each(<[Event]>::reverse);
    events.iter().for_each(|event| fixture.handle.event(event.clone()));
    fixture.recorder.catch_up().await;
    for mut event in events {
        event.fingerprint = None;
        let read = fixture.store.event(event.id).await.unwrap().unwrap();
        assert_eq!((read.event, read.count), (event, 1));
    }
    let prints = fixture.store.fingerprints(&id("agent"), 1000).await.unwrap();
    assert!(prints.iter().map(|print| print.number).eq((0..900).filter(|number| *number != 600)));
}

/// A successful call in which each number differs.
fn usual(number: u64) -> Event {
    let mut event = scored("agent", 0, number);
    event.time = Timestamp::from_millis(NOON.as_millis() + number as i64);
    event.conversation = Some("c".to_owned());
    event.provider = Some("openai".to_owned());
    event.model = Some("gpt-4o".to_owned());
    event.status = Some(200);
    event.latency_ms = Some(1000 + number);
    event.first_byte_ms = Some(2000 + number);
    event.usage = Usage {
        input: Some(3000 + number),
        output: Some(4000 + number),
        cached: Some(5000 + number),
        cache_write: Some(6000 + number),
        reasoning: Some(7000 + number),
        ..Usage::default()
    };
    event.cost = Some(NanoUsd::new(8000 + number as i64));
    event
}

#[tokio::test]
async fn catch_up_makes_sent_events_readable() {
    let fixture = Fixture::with(Tuning { batch_delay: Duration::from_secs(3600), ..quick() }).await;
    let event = call("agent");
    fixture.handle.event(event.clone());
    fixture.recorder.catch_up().await;
    assert!(fixture.store.event(event.id).await.unwrap().is_some());
}

#[tokio::test]
async fn agent_is_created_by_its_first_call() {
    let fixture = Fixture::new().await;
    let later = Timestamp::from_millis(NOON.as_millis() + 5);
    let mut second = call("agent");
    second.time = later;
    fixture.record_all(vec![second, call("agent")]).await;
    let agent = fixture.store.agent(&id("agent")).await.unwrap().unwrap();
    assert_eq!((agent.created_at, agent.last_seen), (NOON, Some(later)));
    assert_eq!((agent.kill_switch, agent.epoch, agent.deactivation), (KillSwitch::default(), Epoch(0), None));

    fixture.record(call("agent")).await;
    assert_eq!(fixture.store.agent(&id("agent")).await.unwrap().unwrap().last_seen, Some(later));
}

#[tokio::test]
async fn refusals_of_an_inactive_agent_are_counted_by_the_minute() {
    let fixture = Fixture::new().await;
    let minute = |minutes: i64| Timestamp::from_millis(NOON.as_millis() / 60_000 * 60_000 + minutes * 60_000);
    fixture.record_all(vec![refusal("a", minute(0)), refusal("a", minute(0)), refusal("b", minute(0))]).await;
    fixture.record_all(vec![refusal("a", minute(0)), refusal("a", minute(1))]).await;

    let filter = EventFilter { agent: Some(id("a")), blocked: Some(true), ..Default::default() };
    let mut counts: Vec<u64> =
        fixture.store.events(&filter, &page(10)).await.unwrap().items.iter().map(|row| row.count).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 3]);
    assert_eq!(fixture.count("select count(*) from events").await, 3);
    for (agent, from, expected) in [("a", 0, 4), ("a", 1, 1), ("a", 2, 0), ("b", 0, 1), ("c", 0, 0)] {
        let refused = fixture.store.refused_while_inactive(&id(agent), minute(from)).await.unwrap();
        assert_eq!(refused, expected, "{agent} {from}");
    }
}

#[tokio::test]
async fn events_are_filtered_by_each_field() {
    let fixture = Fixture::new().await;
    let mut other = call("other");
    other.provider = Some("anthropic".to_owned());
    other.model = Some("claude".to_owned());
    other.conversation = Some("c".to_owned());
    other.status = Some(500);
    other.time = Timestamp::from_millis(NOON.as_millis() + 1000);
    let mut blocked = call("other");
    blocked.event_type = EventType::Blocked;
    blocked.block_reason = Some(BlockReason::LoopDetected);
    let (other_id, blocked_id) = (other.id, blocked.id);
    fixture.record_all(vec![call("agent"), other, blocked]).await;

    let none = EventFilter::default;
    let later = Some(Timestamp::from_millis(NOON.as_millis() + 1));
    for (filter, expected) in [
        (EventFilter { agent: Some(id("other")), ..none() }, vec![blocked_id, other_id]),
        (EventFilter { event_type: Some(EventType::Blocked), ..none() }, vec![blocked_id]),
        (EventFilter { provider: Some("anthropic".to_owned()), ..none() }, vec![other_id]),
        (EventFilter { model: Some("claude".to_owned()), ..none() }, vec![other_id]),
        (EventFilter { conversation: Some("c".to_owned()), ..none() }, vec![other_id]),
        (EventFilter { status: Some(500), ..none() }, vec![other_id]),
        (EventFilter { blocked: Some(true), ..none() }, vec![blocked_id]),
        (EventFilter { block_reason: Some(BlockReason::LoopDetected), ..none() }, vec![blocked_id]),
        (EventFilter { from: later, ..none() }, vec![other_id]),
        (EventFilter { to: later, agent: Some(id("other")), ..none() }, vec![blocked_id]),
        (EventFilter { agent: Some(id("nobody")), ..none() }, vec![]),
    ] {
        let items = fixture.store.events(&filter, &page(10)).await.unwrap().items;
        assert_eq!(items.iter().map(|row| row.event.id).collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

#[tokio::test]
async fn failed_and_slow_calls_are_found_as_they_are_counted() {
    let fixture = Fixture::new().await;
    let errors = [None, Some("unread: not JSON"), Some("not scored: batches"), Some(Event::NOT_SCORED)];
    let errors = errors.into_iter().chain([Some(Event::CLIENT_LEFT), Some("the provider broke off")]);
    let mut events = Vec::new();
    for (error, status) in
        errors.flat_map(|error| [None, Some(200), Some(429), Some(499), Some(500)].map(|it| (error, it)))
    {
        let mut event = call("agent");
        (event.error, event.status) = (error.map(str::to_owned), status);
        events.push(event);
    }
    events[0].latency_ms = Some(12_000);
    let mut expected: Vec<_> = events.iter().filter(|event| event.is_error()).map(|event| event.id).collect();
    expected.sort_unstable_by(|one, other| other.cmp(one));
    let slow = events[0].id;
    fixture.record_all(events).await;

    let found = async |filter: EventFilter| -> Vec<CallId> {
        fixture.store.events(&filter, &page(100)).await.unwrap().items.iter().map(|row| row.event.id).collect()
    };
    assert_eq!(found(EventFilter { failed: true, ..Default::default() }).await, expected);
    assert_eq!(found(EventFilter { min_latency_ms: Some(12_000), ..Default::default() }).await, [slow]);
}

/// A page examines a bounded number of events; the next one continues where it stopped.
#[tokio::test]
async fn failed_and_slow_calls_are_looked_for_in_bounded_steps() {
    let fixture = Fixture::with(Tuning { examined_events: 10, ..quick() }).await;
    let mut events: Vec<Event> = (0..35).map(|_| call("agent")).collect();
    (events[0].status, events[20].latency_ms) = (Some(500), Some(60_000));
    let (failed, slow) = (events[0].id, events[20].id);
    fixture.record_all(events).await;
    for (filter, expected) in [
        (EventFilter { failed: true, ..Default::default() }, failed),
        (EventFilter { failed: true, agent: Some(id("agent")), ..Default::default() }, failed),
        (EventFilter { min_latency_ms: Some(60_000), ..Default::default() }, slow),
        (EventFilter { failed: true, text: Some("gen".to_owned()), ..Default::default() }, failed),
        (EventFilter { min_latency_ms: Some(60_000), text: Some("GENT".to_owned()), ..Default::default() }, slow),
    ] {
        let (mut found, mut pages, mut request) = (Vec::new(), 0, page(5));
        loop {
            let page = fixture.store.events(&filter, &request).await.unwrap();
            found.extend(page.items.iter().map(|row| row.event.id));
            pages += 1;
            match page.next {
                Some(next) => request.cursor = Some(next),
                None => break,
            }
        }
        assert_eq!((found, pages), (vec![expected], 4), "{filter:?}");
    }
}

#[tokio::test]
async fn everything_sent_is_on_disk_when_the_inbox_is_closed() {
    let fixture = Fixture::with(Tuning { batch_delay: Duration::from_secs(3600), ..quick() }).await;
    for number in 0..1500 {
        fixture.handle.event(scored("agent", 0, number));
    }
    let Fixture { store, handle, writer, recorder, .. } = fixture;
    drop(handle);
    writer.await.unwrap();
    let count: i64 = sqlx::query_scalar("select count(*) from events").fetch_one(store.readers.sqlite()).await.unwrap();
    assert_eq!(count, 1500);
    let late = recorder.change(Change::Rename { agent: id("agent"), name: None }).await;
    assert!(matches!(late, Err(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn duplicate_event_is_one_row() {
    let fixture = Fixture::new().await;
    let event = call("agent");
    fixture.record_all(vec![event.clone(), event]).await;
    assert_eq!(fixture.count("select count(*) from events").await, 1);
}
