use super::*;
use crate::EventFilter;

async fn count_found(fixture: &Fixture, text: &str) -> usize {
    let filter = EventFilter { text: Some(text.to_owned()), text_in_errors: true, ..EventFilter::default() };
    let page = PageRequest { limit: 100, cursor: None };
    fixture.store.events(&filter, &page).await.unwrap().items.len()
}

/// An event of `agent` some hours ago.
fn event(agent: &str, hours_ago: i64) -> Event {
    let at = Timestamp::from_millis(NOON.as_millis() - hours_ago * 3_600_000);
    Event::new(CallId::at(at), id(agent), Epoch(0), EventType::LlmCall, at)
}

#[tokio::test]
async fn text_is_found_in_agent_model_conversation_and_error_whatever_its_case() {
    let fixture = Fixture::new().await;
    let mut events: Vec<Event> = (0..50).map(|number| event("plain", number)).collect();
    events.push(event("Night-Owl", 40));
    events.push(Event { model: Some("Owlet-7b".to_owned()), ..event("plain", 30) });
    events.push(Event { conversation: Some("tawny-OWL".to_owned()), ..event("plain", 20) });
    events.push(Event { error: Some("an owl sat on the wire".to_owned()), ..event("plain", 10) });
    fixture.record_all(events).await;
    assert_eq!(count_found(&fixture, "oWl").await, 4);
    assert_eq!(count_found(&fixture, "night-owl").await, 1);
    assert_eq!(count_found(&fixture, "owlet").await, 1);
    assert_eq!(count_found(&fixture, "tawny").await, 1);
    assert_eq!(count_found(&fixture, "sat on").await, 1);
    assert_eq!(count_found(&fixture, "sat_on").await, 0, "no wildcards");
    assert_eq!(count_found(&fixture, "eagle").await, 0);
    assert_eq!(count_found(&fixture, "plain").await, 53);
}

#[tokio::test]
async fn text_is_found_at_the_end_of_a_long_conversation_name() {
    let fixture = Fixture::new().await;
    let conversation = Some(format!("{}needle", "x".repeat(300)));
    fixture.record_all(vec![Event { conversation, ..event("plain", 5) }]).await;
    assert_eq!(count_found(&fixture, "needle").await, 1);
}

/// Names are cut by bytes: a short name in letters of three bytes is cut, too.
#[tokio::test]
async fn text_is_found_at_the_end_of_a_cut_name_of_wide_letters() {
    let fixture = Fixture::new().await;
    let conversation = Some(format!("{}needle", "話".repeat(66)));
    fixture.record_all(vec![Event { conversation, ..event("plain", 5) }]).await;
    assert_eq!(count_found(&fixture, "needle").await, 1);
}

#[tokio::test]
async fn text_search_goes_on_from_page_to_page() {
    let fixture = Fixture::new().await;
    let mut events: Vec<Event> = (0..20).map(|number| event(&format!("owl-{}", number % 3), number)).collect();
    events.extend((0..20).map(|number| Event { model: Some("owl".to_owned()), ..event("plain", number) }));
    events.extend((0..20).map(|number| Event { error: Some("an owl".to_owned()), ..event("owl-1", number) }));
    fixture.record_all(events.clone()).await;
    let mut expected: Vec<CallId> = events.iter().map(|event| event.id).collect();
    expected.sort_unstable_by(|one, other| other.cmp(one));
    for limit in [1, 7, 60] {
        let filter = EventFilter { text: Some("OWL".to_owned()), text_in_errors: true, ..EventFilter::default() };
        let (mut seen, mut request) = (Vec::new(), page(limit));
        loop {
            let page = fixture.store.events(&filter, &request).await.unwrap();
            seen.extend(page.items.iter().map(|row| row.event.id));
            let Some(next) = page.next else { break };
            request.cursor = Some(next);
        }
        assert_eq!(seen, expected, "limit {limit}");
    }
    let failed = EventFilter { text: Some("owl-1".to_owned()), agent: Some(id("owl-2")), ..EventFilter::default() };
    assert_eq!(fixture.store.events(&failed, &page(100)).await.unwrap().items.len(), 0, "other filters hold, too");
}

/// Sums of models and conversations may begin later than the oldest events.
#[tokio::test]
async fn text_is_found_in_events_that_are_older_than_the_sums() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(&directory);
    config.retention.event_days = 1000;
    let store = Store::open_tuned(config, quick()).await.unwrap();
    let (handle, inbox) = RecorderHandle::new(10_000);
    let (recorder, writer) = Recorder::start(store.clone(), inbox);
    let fixture = Fixture { store, recorder, handle, writer, tuning: quick(), directory };
    let old = Event { model: Some("ancient".to_owned()), ..event("plain", 24 * 70) };
    fixture.record_all(vec![old, event("plain", 1)]).await;
    sqlx::query("delete from rollups").execute(&mut writer_connection(&fixture).await).await.unwrap();
    assert_eq!(count_found(&fixture, "ancient").await, 1);
}

#[tokio::test]
async fn text_search_finds_refusals_and_changes_by_hand() {
    let fixture = Fixture::new().await;
    fixture.record(event("owl", 3)).await;
    fixture.change(Change::Deactivate { agent: id("owl"), at: NOON }).await.unwrap();
    let refused = Event { block_reason: Some(model::BlockReason::Inactive), ..event("owl", 0) };
    let refused = Event { event_type: EventType::Blocked, ..refused };
    fixture.record(refused).await;
    assert_eq!(count_found(&fixture, "owl").await, 3);
}

async fn writer_connection(fixture: &Fixture) -> sqlx::SqliteConnection {
    let options = crate::sqlite::connect::writer(&fixture.store.config.database(), &Tuning::default());
    sqlx::SqliteConnection::connect_with(&options).await.unwrap()
}

#[tokio::test]
async fn errors_are_searched_only_if_asked_for() {
    let fixture = Fixture::new().await;
    fixture.record_all(vec![Event { error: Some("an owl".to_owned()), ..event("plain", 5) }, event("owl", 4)]).await;
    let filter = EventFilter { text: Some("owl".to_owned()), ..EventFilter::default() };
    let found = fixture.store.events(&filter, &page(10)).await.unwrap().items;
    assert_eq!(found.iter().map(|row| row.event.agent.as_str()).collect::<Vec<_>>(), ["owl"]);
}
