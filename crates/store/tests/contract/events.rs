//! Events: pages, filters, search.

use model::{BlockReason, Event, EventType};
use store::EventFilter;

use crate::backend::{Backend, NOON, Server, call, id, minutes_ago, page};

async fn found(server: &Server, filter: EventFilter) -> Vec<String> {
    let rows = server.store.events(&filter, &page(100)).await.unwrap().items;
    rows.into_iter().map(|row| row.event.agent.to_string()).collect()
}

pub(crate) async fn pages_hold_every_event_once(backend: &impl Backend) {
    let server = backend.create().await;
    let events: Vec<Event> = (0..30).map(|number| call("ann", minutes_ago(100 - number))).collect();
    server.record(&events).await;
    let mut expected: Vec<_> = events.iter().map(|event| event.id).collect();
    expected.reverse();
    for limit in [1, 7, 30, 500] {
        let (mut seen, mut request) = (Vec::new(), page(limit));
        loop {
            let page = server.store.events(&EventFilter::default(), &request).await.unwrap();
            seen.extend(page.items.iter().map(|row| row.event.id));
            // Later events appear on no later page.
            server.record(&[call("late", NOON)]).await;
            let Some(next) = page.next else { break };
            request.cursor = Some(next);
        }
        seen.retain(|id| expected.contains(id));
        assert_eq!(seen, expected, "limit {limit}");
    }
}

pub(crate) async fn filters_select_events(backend: &impl Backend) {
    let server = backend.create().await;
    let mut failed = call("ann", minutes_ago(30));
    failed.status = Some(500);
    failed.provider = Some("openai".to_owned());
    let mut modelled = call("ben", minutes_ago(20));
    modelled.model = Some("gpt-5".to_owned());
    modelled.conversation = Some("talk".to_owned());
    server.record(&[failed, modelled, call("cem", minutes_ago(10))]).await;
    let all = EventFilter::default;
    assert_eq!(found(&server, all()).await, ["cem", "ben", "ann"]);
    assert_eq!(found(&server, EventFilter { agent: Some(id("ben")), ..all() }).await, ["ben"]);
    assert_eq!(found(&server, EventFilter { status: Some(500), ..all() }).await, ["ann"]);
    assert_eq!(found(&server, EventFilter { provider: Some("openai".to_owned()), ..all() }).await, ["ann"]);
    assert_eq!(found(&server, EventFilter { model: Some("gpt-5".to_owned()), ..all() }).await, ["ben"]);
    assert_eq!(found(&server, EventFilter { conversation: Some("talk".to_owned()), ..all() }).await, ["ben"]);
    let between = EventFilter { from: Some(minutes_ago(30)), to: Some(minutes_ago(20)), ..all() };
    assert_eq!(found(&server, between).await, ["ann"], "`from` is part of the range, `to` is not");
}

pub(crate) async fn text_is_found_in_any_case(backend: &impl Backend) {
    let server = backend.create().await;
    let mut events = vec![call("plain", minutes_ago(50)), call("Night-Owl", minutes_ago(40))];
    events.push(Event { model: Some("Owlet-7b".to_owned()), ..call("a", minutes_ago(30)) });
    events.push(Event { conversation: Some("tawny-OWL".to_owned()), ..call("b", minutes_ago(20)) });
    events.push(Event { error: Some("an owl sat on the wire".to_owned()), ..call("c", minutes_ago(10)) });
    server.record(&events).await;
    let text = |text: &str| EventFilter { text: Some(text.to_owned()), text_in_errors: true, ..EventFilter::default() };
    assert_eq!(found(&server, text("oWl")).await, ["c", "b", "a", "Night-Owl"]);
    assert_eq!(found(&server, text("sat_on")).await, [""; 0], "a pattern character stands for itself");
    assert_eq!(found(&server, text("eagle")).await, [""; 0]);
}

pub(crate) async fn refusals_of_a_minute_share_a_row(backend: &impl Backend) {
    let server = backend.create().await;
    server
        .change(store::Change::Configure {
            agent: id("ann"),
            kill_switch: model::KillSwitch::default(),
            window_floor: 0,
            at: NOON,
        })
        .await
        .unwrap();
    server.change(store::Change::Deactivate { agent: id("ann"), at: NOON }).await.unwrap();
    let refused =
        || Event { event_type: EventType::Blocked, block_reason: Some(BlockReason::Inactive), ..call("ann", NOON) };
    server.record(&[refused(), refused()]).await;
    server.record(&[refused()]).await;
    let blocked = EventFilter { blocked: Some(true), ..EventFilter::default() };
    let rows = server.store.events(&blocked, &page(10)).await.unwrap().items;
    assert_eq!(rows.iter().map(|row| row.count).collect::<Vec<_>>(), [3]);
    assert_eq!(server.store.refused(&id("ann")).await.unwrap(), 3);
}
