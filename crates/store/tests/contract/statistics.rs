//! Sums against the events they come from.

use model::{Event, NanoUsd, Policy, Usage};
use store::{LatencyHistogram, Period};

use crate::backend::{Backend, NOON, call, id, minutes_ago};

/// A call of `agent` that took `latency` milliseconds and cost as many nano-dollars.
fn priced(agent: &str, minutes: i64, latency: u64) -> Event {
    let mut event = call(agent, minutes_ago(minutes));
    event.provider = Some("openai".to_owned());
    event.model = Some("gpt-5".to_owned());
    event.status = Some(200);
    event.latency_ms = Some(latency);
    event.usage = Usage { input: Some(latency), output: Some(7), ..Usage::default() };
    event.cost = Some(NanoUsd::new(latency as i64));
    event
}

fn histogram(events: &[Event]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::default();
    events.iter().filter_map(|event| event.latency_ms).for_each(|latency| histogram.add(latency));
    histogram
}

pub(crate) async fn empty_database_has_empty_figures(backend: &impl Backend) {
    let server = backend.create().await;
    let period = Period::last_hours(24, NOON);
    assert_eq!(server.store.total(None, period).await.unwrap().requests, 0);
    assert!(server.store.agent_figures(period, 10).await.unwrap().is_empty());
    assert!(server.store.conversation_figures(&id("ann"), period, 10).await.unwrap().is_empty());
    assert!(server.store.unscored(&id("ann"), period).await.unwrap().is_empty());
    assert_eq!(server.store.figures(None, period).await.unwrap().total.requests, 0);
}

pub(crate) async fn sums_equal_a_scan_of_the_events(backend: &impl Backend) {
    let server = backend.create().await;
    // Over nine days, so that hours, days and a week are read.
    let events: Vec<Event> = (0..200).map(|n| priced(["ann", "ben"][n % 2], n as i64 * 65, n as u64)).collect();
    server.record(&events[..100]).await;
    let server = server.restart().await;
    server.record(&events[100..]).await;
    for hours in [1, 5, 24, 100, 24 * 10] {
        let period = Period::last_hours(hours, NOON);
        let within = |event: &&Event| (period.from()..period.to()).contains(&event.time);
        let expected: Vec<Event> = events.iter().filter(within).cloned().collect();
        let total = server.store.total(None, period).await.unwrap();
        assert_eq!(total.requests, expected.len() as u64, "{hours}");
        assert_eq!(total.latency, histogram(&expected), "{hours}");
        let figures = server.store.figures(None, period).await.unwrap();
        assert_eq!(figures.total, total);
        assert_eq!(figures.series.iter().map(|(_, sums)| sums.requests).sum::<u64>(), total.requests);
        let agents = server.store.agent_figures(period, 10).await.unwrap();
        assert_eq!(agents.iter().map(|(_, sums)| sums.cost).sum::<NanoUsd>(), total.cost, "{hours}");
    }
}

pub(crate) async fn two_writers_lose_no_counts_and_no_latencies(backend: &impl Backend) {
    let one = backend.create().await;
    let two = one.second_writer("two").await;
    let mut events = Vec::new();
    for round in 0..10 {
        let [mine, theirs] = [0, 1].map(|writer| [priced("ann", 1, 100 + round * 50 + writer * 1000)]);
        tokio::join!(one.record(&mine), two.record(&theirs));
        events.extend([mine, theirs].concat());
    }
    let period = Period::last_hours(24, NOON);
    for agent in [None, Some(id("ann"))] {
        let total = one.store.total(agent.as_ref(), period).await.unwrap();
        assert_eq!(total.requests, 20);
        assert_eq!(total.latency, histogram(&events));
        assert_eq!(total.cost, events.iter().filter_map(|event| event.cost).sum());
    }
    let agents = one.store.agent_figures(period, 10).await.unwrap();
    assert_eq!(agents[0].1.requests, 20);
}

pub(crate) async fn spending_counts_from_the_start_of_the_day(backend: &impl Backend) {
    let server = backend.create().await;
    // Noon is 22:13 in UTC.
    server.record(&[priced("ann", 60 * 30, 1), priced("ann", 60 * 3, 10), priced("ann", 1, 100)]).await;
    let policy = Policy { budget_daily: Some(NanoUsd::new(1)), ..Policy::default() };
    let spending = server.store.spending_of(&id("ann"), &policy, NOON).await.unwrap();
    assert_eq!(spending.day, NanoUsd::new(110));
    assert_eq!(spending.month, NanoUsd::new(111));
}
