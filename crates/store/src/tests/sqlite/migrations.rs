//! Migrations of databases with data.

use model::{NanoUsd, Usage};
use sqlx::Connection;

use super::*;
use crate::Period;

fn hours_from(first: i64, count: i64) -> Vec<Event> {
    let events = (first..first + count).map(|number| {
        let time = Timestamp::from_millis(NOON.as_millis() - (400 - number) * 3 * 60 * 60 * 1000);
        let mut event =
            Event::new(CallId::at(time), id(["ann", "ben"][number as usize % 2]), Epoch(0), EventType::LlmCall, time);
        event.model = Some(["gpt-4o", "gpt-5", "o3"][number as usize % 3].to_owned());
        event.usage = Usage { input: Some(100), output: Some(7), ..Usage::default() };
        event.cost = Some(NanoUsd::new(number));
        event
    });
    events.collect()
}

/// As the sixth version left it: days are kept with every event, sums of agents are not kept at
/// all.
const SIXTH_VERSION: [&str; 23] = [
    "create table rollups_of_one_writer (
        span integer not null, start bigint not null, agent_id text not null, provider text not null, model text not null,
        requests bigint not null, errors bigint not null, blocked bigint not null, tokens_in bigint not null,
        tokens_out bigint not null, tokens_cached bigint not null, tokens_cache_write bigint not null,
        tokens_reasoning bigint not null, cost_nano_usd bigint not null, unpriced bigint not null,
        unpriced_in bigint not null, unpriced_out bigint not null, estimated bigint not null, latency blob not null,
        primary key (span, start, agent_id, provider, model)) without rowid",
    "insert into rollups_of_one_writer
     select span, start, agent_id, provider, model, requests, errors, blocked, tokens_in, tokens_out, tokens_cached,
        tokens_cache_write, tokens_reasoning, cost_nano_usd, unpriced, unpriced_in, unpriced_out, estimated, latency
     from rollups",
    "drop table rollups",
    "alter table rollups_of_one_writer rename to rollups",
    "insert or replace into rollups
     select 1, start - start % 86400000, agent_id, provider, model, sum(requests), sum(errors), sum(blocked), sum(tokens_in),
        sum(tokens_out), sum(tokens_cached), sum(tokens_cache_write), sum(tokens_reasoning), sum(cost_nano_usd),
        sum(unpriced), sum(unpriced_in), sum(unpriced_out), sum(estimated), x''
     from rollups where span = 0 group by 2, 3, 4, 5",
    "drop table users",
    "drop table api_tokens",
    "drop table audit",
    "drop table audit_head",
    "drop table agent_sums",
    "drop table settings",
    "drop table sums_made",
    "drop table unscored",
    "alter table evidence drop column tool_results",
    "alter table evidence drop column missing",
    "alter table conversations drop column unpriced_nano_usd",
    "drop table agent_keys",
    "drop table agent_groups",
    "drop table group_spending",
    "alter table events drop column key_id",
    "drop index agents_with_labels",
    "alter table agents drop column labels",
    "delete from _sqlx_migrations where version >= 7",
];

/// Sums that continue from migrated ones equal sums made from the start.
#[tokio::test]
async fn migrated_sums_continue() {
    let (before, after) = (hours_from(0, 300), hours_from(300, 100));
    let fixture = Fixture::new().await;
    fixture.record_all(before.clone()).await;
    let period = Period::last_hours(60 * 24, NOON);
    let kept = fixture.store.agent_figures(period, 10).await.unwrap();
    assert_eq!(kept.len(), 2);

    fixture.recorder.stop().await;
    let mut writer = fixture.connect().await;
    for statement in SIXTH_VERSION {
        sqlx::query(statement).execute(&mut writer).await.unwrap();
    }
    writer.close().await.unwrap();
    let fixture = fixture.restart().await;
    assert_eq!(fixture.store.agent_figures(period, 10).await.unwrap(), kept);

    fixture.record_all(after.clone()).await;
    let fresh = Fixture::new().await;
    fresh.record_all([before, after].concat()).await;
    for hours in [1, 30, 200, 60 * 24] {
        let period = Period::last_hours(hours, NOON);
        let expected = fresh.store.agent_figures(period, 10).await.unwrap();
        assert_eq!(fixture.store.agent_figures(period, 10).await.unwrap(), expected, "{hours}");
        for agent in ["ann", "ben"].map(id) {
            let [ours, theirs] = [&fixture, &fresh].map(|it| it.store.total(Some(&agent), period));
            assert_eq!(ours.await.unwrap(), theirs.await.unwrap(), "{hours}");
        }
    }
}
