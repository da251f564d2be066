//! Figures against a scan of the events they come from.

use model::{BlockReason, NanoUsd, Usage};
use proptest::prelude::*;

use super::*;

use crate::write::upkeep::retention::sweep;
use crate::{Period, Retention, Totals};

const HOUR: i64 = 60 * 60 * 1000;

/// The fields that figures are grouped by.
#[derive(Clone, Debug)]
struct Made {
    agent: usize,
    model: usize,
    hours_ago: i64,
    kind: u8,
    tokens: u64,
}

fn any_event() -> impl Strategy<Value = Made> {
    let parts = (0_usize..3, 0_usize..3, 0_i64..200, 0_u8..6, 0_u64..5000);
    parts.prop_map(|(agent, model, hours_ago, kind, tokens)| Made { agent, model, hours_ago, kind, tokens })
}

fn event_of(made: &Made) -> Event {
    let time = Timestamp::from_millis(NOON.as_millis() - made.hours_ago * HOUR);
    let agent = id(["ann", "ben", "cem"][made.agent]);
    let mut event = Event::new(CallId::at(time), agent, Epoch(0), EventType::LlmCall, time);
    event.provider = Some("openai".to_owned());
    event.model = [Some("gpt-4o"), Some("gpt-5"), None][made.model].map(str::to_owned);
    event.conversation = Some(format!("talk-{}", made.model));
    event.latency_ms = Some(made.tokens);
    event.status = Some(200);
    event.usage = Usage { input: Some(made.tokens), output: Some(7), cached: Some(3), ..Usage::default() };
    match made.kind {
        0 => event.status = Some(500),
        1 => {
            event.event_type = EventType::Blocked;
            event.block_reason = Some(BlockReason::Inactive);
        }
        2 => event.estimated = true,
        _ => event.cost = Some(NanoUsd::new(made.tokens as i64)),
    }
    event
}

/// The figures by a scan of `events`.
fn scanned<'a>(events: impl Iterator<Item = &'a Event>) -> Totals {
    let mut totals = Totals::default();
    events.for_each(|event| totals.add(event));
    totals
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn figures_equal_a_scan_of_the_events(
        made in prop::collection::vec(any_event(), 1..60), hours in 1_u32..200, (in_order, all_made) in any::<(bool, bool)>()
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let fixture = Fixture::new().await;
            let mut events: Vec<Event> = made.iter().map(event_of).collect();
            if in_order {
                events.sort_by_key(|event| event.time);
            }
            // In two parts, with a restart in between: sums are added to sums.
            let (first, second) = events.split_at(events.len() / 2);
            fixture.record_all(first.to_vec()).await;
            let fixture = fixture.restart().await;
            fixture.record_all(second.to_vec()).await;
            // The result is the same however many of the longer sums are made.
            if all_made {
                fixture.make_sums().await;
            }

            let period = Period::last_hours(hours, NOON);
            let within = |event: &&Event| (period.from()..period.to()).contains(&event.time);
            let figures = fixture.store.figures(None, period).await.unwrap();
            assert_eq!(figures.total, scanned(events.iter().filter(within)));
            let previous = period.before(NOON);
            // The last hour or day of the period before counts in proportion to the one that runs.
            let (last_start, passed) = previous.last_span_share(period.millis_left(NOON), &fixture.store.progress().await.unwrap());
            let last_start = Timestamp::from_millis(last_start);
            let between = |from: Timestamp, to: Timestamp| {
                scanned(events.iter().filter(|event| (from..to).contains(&event.time)))
            };
            let mut expected = between(previous.from(), last_start);
            expected.merge(&between(last_start, previous.to()).scaled(passed));
            assert_eq!(fixture.store.total_before(None, period).await.unwrap(), expected);
            let mut steps = Totals::default();
            figures.series.iter().for_each(|(_, totals)| steps.merge(totals));
            assert_eq!(steps, figures.total);
            for (name, totals) in &figures.models {
                let of_model = |event: &&Event| event.model.as_deref().unwrap_or_default() == name.model;
                assert_eq!(*totals, scanned(events.iter().filter(within).filter(of_model)), "{name:?}");
            }
            for (agent, totals) in fixture.store.agent_figures(period, 10).await.unwrap() {
                let of_agent = |event: &&Event| event.agent == agent;
                let mine = scanned(events.iter().filter(within).filter(of_agent));
                assert_eq!(fixture.store.figures(Some(&agent), period).await.unwrap().total, mine);
                assert_eq!(totals, Totals { latency: crate::LatencyHistogram::default(), ..mine });
                let alone = fixture.store.figures_of([&agent].into_iter(), period).await.unwrap();
                assert_eq!(alone.into_iter().collect::<Vec<_>>(), [(agent, totals)]);
            }
        });
    }

    #[test]
    fn spending_since_any_moment_equals_a_scan_of_the_events(made in prop::collection::vec(any_event(), 1..40), minutes_ago in 0_i64..12_000) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let fixture = Fixture::new().await;
            let mut events: Vec<Event> = made.iter().map(event_of).collect();
            for (number, event) in events.iter_mut().enumerate() {
                event.time = Timestamp::from_millis(event.time.as_millis() - number as i64 * 90_000);
                event.id = CallId::at(event.time);
            }
            fixture.record_all(events.clone()).await;
            let from = Timestamp::from_millis(NOON.as_millis() - minutes_ago * 60_000);
            let spent = fixture.store.spent_since(from).await.unwrap();
            for agent in ["ann", "ben"].map(id) {
                let of_agent: Vec<_> = spent.iter().filter(|spent| spent.agent == agent).collect();
                let alone = fixture.store.spent_by(&agent, from).await.unwrap();
                assert_eq!(
                    alone.iter().map(|spent| spent.cost).sum::<NanoUsd>(),
                    of_agent.iter().map(|spent| spent.cost).sum()
                );
            }
            let since = scanned(events.iter().filter(|event| event.time >= from));
            assert_eq!(spent.iter().map(|spent| spent.cost).sum::<NanoUsd>(), since.cost);
            assert_eq!(spent.iter().map(|spent| spent.unpriced_in).sum::<u64>(), since.unpriced_in);
            assert_eq!(spent.iter().map(|spent| spent.unpriced_out).sum::<u64>(), since.unpriced_out);
        });
    }
}

#[tokio::test]
async fn sums_too_large_to_be_held_end_at_the_largest_number() {
    let fixture = Fixture::new().await;
    let absurd = |agent: usize, hours_ago: i64| {
        let mut event = event_of(&Made { agent, model: 0, hours_ago, kind: 3, tokens: u64::MAX });
        event.cost = Some(NanoUsd::new(i64::MAX));
        event
    };
    let events: Vec<Event> = (0..8).map(|number| absurd(number % 2, if number < 4 { 60 } else { 0 })).collect();
    let mut kill = incident("ann", 0);
    kill.kill.stuck.calls = events.iter().map(|event| event.id).collect();
    for event in events {
        // Each in its own batch, so that it is added to a stored sum.
        fixture.record(event).await;
    }
    assert!(fixture.send_kill(kill).wait().await, "the cost of the loop is added up with the kill");
    fixture.make_sums().await;

    let (ann, period) = (id("ann"), Period::last_hours(100, NOON));
    for agent in [None, Some(&ann)] {
        let total = fixture.store.total(agent, period).await.unwrap();
        assert_eq!(total.cost.nanos(), i64::MAX);
        assert!(total.tokens_in >= i64::MAX.unsigned_abs());
    }
    let agents = fixture.store.agent_figures(period, 10).await.unwrap();
    assert!(agents.iter().all(|(_, totals)| totals.cost.nanos() == i64::MAX), "{agents:?}");
    assert_eq!(agents.len(), 2);
}

#[tokio::test]
async fn conversations_are_added_up() {
    let fixture = Fixture::new().await;
    let made = Made { agent: 0, model: 0, hours_ago: 5, kind: 3, tokens: 100 };
    let later = Made { hours_ago: 1, ..made.clone() };
    let other = Made { model: 1, tokens: 900, ..made.clone() };
    fixture.record_all([&made, &later, &other].map(event_of).to_vec()).await;
    let period = Period::last_hours(24, NOON);
    let rows = fixture.store.conversation_figures(&id("ann"), period, 10).await.unwrap();
    let costs: Vec<_> = rows.iter().map(|row| (row.conversation.as_str(), row.totals.cost.nanos())).collect();
    assert_eq!(costs, [("talk-1", 900), ("talk-0", 200)]);
    assert_eq!(rows[1].last_hour.as_millis() - rows[1].first_hour.as_millis(), 4 * HOUR);
    assert!(fixture.store.conversation_figures(&id("ben"), period, 10).await.unwrap().is_empty());
    let two_hours_ago = Timestamp::from_millis(NOON.as_millis() - 2 * HOUR);
    let check = async |agent: Option<&str>, expected: &[(AgentId, String, NanoUsd)]| {
        let agent = agent.map(id);
        let since = fixture.store.conversations_since(agent.as_ref(), two_hours_ago).await.unwrap();
        assert_eq!(since, expected, "{agent:?}");
    };
    let talk = [(id("ann"), "talk-0".to_owned(), NanoUsd::new(200))];
    check(None, &talk).await;
    check(Some("ann"), &talk).await;
    check(Some("ben"), &[]).await;
}

#[tokio::test]
async fn a_kill_is_a_refusal_in_the_figures() {
    let fixture = Fixture::new().await;
    fixture.kill("ann", 0).await;
    let period = Period::last_hours(1, NOON);
    assert_eq!(fixture.store.figures(None, period).await.unwrap().total.blocked, 1);
}

#[tokio::test]
async fn deleting_an_agent_keeps_the_sum_over_all_agents() {
    let fixture = Fixture::new().await;
    for agent in [0, 1] {
        let made = Made { agent, model: 0, hours_ago: 40, kind: 3, tokens: 100 };
        fixture.record(event_of(&made)).await;
    }
    fixture.change(Change::DeleteAgent { agent: id("ann") }).await.unwrap();
    let period = Period::last_hours(48, NOON);
    let left = fixture.store.agent_figures(period, 10).await.unwrap();
    assert_eq!(left.iter().map(|(agent, _)| agent.as_str()).collect::<Vec<_>>(), ["ben"]);
    assert_eq!(fixture.store.figures(Some(&id("ann")), period).await.unwrap().total, Totals::default());
    assert_eq!(fixture.store.figures(None, period).await.unwrap().total.requests, 2);
    assert_eq!(fixture.count("select count(*) from conversations").await, 1);
    assert_eq!(fixture.count("select count(*) from agent_sums where agent_id = 'ann'").await, 0);
}

#[tokio::test]
async fn old_hours_are_deleted_before_days() {
    let fixture = Fixture::new().await;
    let events = [500, 70, 1, 0]
        .map(|days_ago| event_of(&Made { agent: 0, model: 0, hours_ago: days_ago * 24, kind: 3, tokens: 100 }));
    fixture.record_all(events.to_vec()).await;
    fixture.make_sums().await;
    let mut writer = fixture.connect().await;
    while sweep(&mut crate::database::Connection::Sqlite(&mut writer), Retention::default(), NOON, 1).await.unwrap() {}
    let count = async |query| fixture.count(query).await;
    assert_eq!(count("select count(*) from rollups where agent_id = 'ann' and span = 0").await, 2);
    assert_eq!(count("select count(*) from rollups where agent_id = 'ann' and span = 1").await, 2);
    assert_eq!(count("select count(*) from agent_sums where hours = 1").await, 1);
    assert_eq!(count("select count(*) from agent_sums where hours = 6").await, 1);
    assert_eq!(count("select count(*) from agent_sums where hours = 24").await, 2);
    assert_eq!(count("select count(*) from agent_sums where hours = 168").await, 1, "the week runs");
    assert_eq!(count("select requests from conversations").await, 4, "it was seen today");
}
