use super::*;
use crate::{AgentFilter, Cursor, EventFilter, IncidentFilter};

/// Pages through all events, while `between` runs after each page.
async fn all_events(fixture: &Fixture, limit: u32, mut between: impl AsyncFnMut()) -> Vec<CallId> {
    let (mut seen, mut request) = (Vec::new(), page(limit));
    loop {
        let page = fixture.store.events(&EventFilter::default(), &request).await.unwrap();
        assert!(page.items.len() <= limit as usize);
        seen.extend(page.items.iter().map(|row| row.event.id));
        let Some(next) = page.next else { return seen };
        request.cursor = Some(next);
        between().await;
    }
}

#[tokio::test]
async fn every_event_is_on_one_page_while_others_come_in() {
    let fixture = Fixture::new().await;
    for limit in [1, 2, 7, 30, 500] {
        let before: Vec<Event> = (0..30).map(|_| call("agent")).collect();
        fixture.record_all(before).await;
        let expected = all_events(&fixture, 500, async || ()).await;
        let seen = all_events(&fixture, limit, async || fixture.record(call("agent")).await).await;
        assert_eq!(seen, expected, "limit {limit}");
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
        assert!(seen.is_sorted_by(|newer, older| newer > older));
    }
}

#[tokio::test]
async fn agents_come_by_id_and_are_searched_by_id_and_name() {
    let fixture = Fixture::new().await;
    fixture.record_all(["c", "a_1", "B", "axx"].map(call).into()).await;
    fixture.change(Change::Rename { agent: id("c"), name: Some("Cäsar 100%".to_owned()) }).await.unwrap();
    fixture.kill("B", 0).await;
    let check = async |search: Option<&str>, active: Option<bool>, expected: &[&str]| {
        let filter = AgentFilter { search: search.map(str::to_owned), active, deactivated_by: None };
        let (mut seen, mut request) = (Vec::new(), page(1));
        loop {
            let page = fixture.store.agents(&filter, &request).await.unwrap();
            seen.extend(page.items.into_iter().map(|agent| agent.id.to_string()));
            let Some(next) = page.next else { break };
            request.cursor = Some(next);
        }
        assert_eq!(seen, expected, "{search:?} {active:?}");
    };
    check(None, None, &["B", "a_1", "axx", "c"]).await;
    check(None, Some(true), &["a_1", "axx", "c"]).await;
    check(None, Some(false), &["B"]).await;
    check(Some("A_"), None, &["a_1"]).await;
    check(Some("100%"), None, &["c"]).await;
    check(Some("cä"), Some(true), &["c"]).await;
    check(Some("b"), Some(true), &[]).await;
}

#[tokio::test]
async fn incidents_come_newest_first() {
    let fixture = Fixture::new().await;
    for (millis, agent) in [(1, "a"), (3, "b"), (2, "c")] {
        let mut incident = incident(agent, 0);
        incident.kill.at = Timestamp::from_millis(millis);
        incident.kill.incident = IncidentId::at(incident.kill.at);
        assert!(fixture.send_kill(incident).wait().await);
    }
    fixture.activate("c", 0).await.unwrap();
    let check = async |filter: IncidentFilter, expected: &[&str]| {
        let (mut seen, mut request) = (Vec::new(), page(2));
        loop {
            let page = fixture.store.incidents(&filter, &request).await.unwrap();
            seen.extend(page.items.into_iter().map(|incident| incident.agent.to_string()));
            let Some(next) = page.next else { break };
            request.cursor = Some(next);
        }
        assert_eq!(seen, expected);
    };
    check(IncidentFilter::default(), &["b", "c", "a"]).await;
    check(IncidentFilter { state: Some(IncidentState::Open), ..IncidentFilter::default() }, &["b", "a"]).await;
    check(IncidentFilter { agent: Some(id("c")), ..IncidentFilter::default() }, &["c"]).await;
    check(IncidentFilter { text: Some("C".to_owned()), ..IncidentFilter::default() }, &["c"]).await;
}

#[tokio::test]
async fn invalid_cursor_is_refused() {
    let fixture = Fixture::new().await;
    for bad in ["?", "_w", "a b"] {
        assert_eq!(Cursor::parse(bad), None);
        let request = PageRequest { limit: 1, cursor: Some(Cursor(bad.to_owned())) };
        let refused = fixture.store.events(&EventFilter::default(), &request).await;
        assert!(matches!(refused, Err(StoreError::Conflict(_))), "{bad}");
    }
}
