//! What migrations make of what is there.

use model::{NanoUsd, Usage};
use sqlx::Connection;

use super::*;
use crate::Period;

/// Sums of agents that are made from the older ones are what the writer would have made.
#[tokio::test]
async fn sums_of_agents_are_made_from_what_was_kept_before() {
    let fixture = Fixture::new().await;
    let events = (0_i64..300).map(|number| {
        let time = Timestamp::from_millis(NOON.as_millis() - number * 3 * 60 * 60 * 1000);
        let mut event =
            Event::new(CallId::at(time), id(["ann", "ben"][number as usize % 2]), Epoch(0), EventType::LlmCall, time);
        event.model = Some(["gpt-4o", "gpt-5", "o3"][number as usize % 3].to_owned());
        event.usage = Usage { input: Some(100), output: Some(7), ..Usage::default() };
        event.cost = Some(NanoUsd::new(number));
        event
    });
    fixture.record_all(events.collect()).await;
    let period = Period::last_hours(30 * 24, NOON);
    let kept = fixture.store.agent_figures(period, 10).await.unwrap();
    assert_eq!(kept.len(), 2);

    fixture.recorder.stop().await;
    let options = crate::connect::writer(&fixture.store.config.database(), &fixture.tuning);
    let mut writer = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    for statement in ["drop table agent_sums", "drop table settings", "delete from _sqlx_migrations where version = 7"]
    {
        sqlx::query(statement).execute(&mut writer).await.unwrap();
    }
    writer.close().await.unwrap();
    let fixture = fixture.restart().await;
    assert_eq!(fixture.store.agent_figures(period, 10).await.unwrap(), kept);
}
