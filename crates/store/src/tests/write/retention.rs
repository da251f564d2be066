use super::*;
use crate::Retention;
use crate::write::upkeep::retention::sweep;
use sqlx::Connection;

const DAY: i64 = 24 * 60 * 60 * 1000;

fn days_ago(days: i64) -> Timestamp {
    Timestamp::from_millis(NOON.as_millis() - days * DAY)
}

async fn write_history(fixture: &Fixture) {
    let events = (0..40).map(|days| {
        let at = days_ago(days);
        Event::new(CallId::at(at), id("agent"), Epoch(0), EventType::LlmCall, at)
    });
    fixture.record_all(events.collect()).await;
    for (days, agent) in [(200, "open"), (200, "closed"), (100, "young")] {
        let mut incident = incident(agent, 0);
        incident.kill.at = days_ago(days);
        incident.kill.incident = IncidentId::at(incident.kill.at);
        assert!(fixture.send_kill(incident).wait().await);
    }
    fixture.activate("closed", 0).await.unwrap();
}

#[tokio::test]
async fn retention_deletes_in_small_steps_and_keeps_open_incidents() {
    let fixture = Fixture::with(Tuning { retention_rows: 4, ..quick() }).await;
    write_history(&fixture).await;
    let fixture = fixture.restart().await;
    // Changes are made between the steps of a sweep and do not wait for its end.
    let mut rounds = 0;
    let old = "select (select count(*) from events where event_type = 'llm_call')
                    + (select count(*) from incidents where agent_id = 'closed')";
    while fixture.count(old).await > 31 {
        rounds += 1;
        assert!(rounds < 10_000, "retention does not end");
        fixture.change(Change::Rename { agent: id("agent"), name: None }).await.unwrap();
    }
    fixture.recorder.stop().await;
    assert_eq!(fixture.count("select count(*) from events where event_type = 'llm_call'").await, 31);
    assert_eq!(fixture.count("select count(*) from incidents where agent_id = 'closed'").await, 0);
    assert_eq!(fixture.count("select count(*) from incidents").await, 2);
    assert_eq!(fixture.count("select count(*) from evidence").await, 4);
}

#[tokio::test]
async fn retention_is_a_setting() {
    let fixture = Fixture::new().await;
    write_history(&fixture).await;
    fixture.recorder.stop().await;
    let retention = Retention { event_days: 1, incident_days: 10, ..Retention::default() };
    let mut writer = sqlx::SqliteConnection::connect_with(&crate::sqlite::connect::writer(
        &fixture.store.config.database(),
        &fixture.tuning,
    ))
    .await
    .unwrap();
    while sweep(&mut crate::database::Connection::Sqlite(&mut writer), retention, NOON, 100).await.unwrap() {}
    assert_eq!(fixture.count("select count(*) from events where event_type = 'llm_call'").await, 2);
    assert_eq!(fixture.count("select count(*) from incidents").await, 2, "both are open");
}

#[tokio::test]
async fn every_table_that_grows_is_swept() {
    let fixture = Fixture::new().await;
    fixture.add_row_to_every_table("agent").await;
    fixture.activate("agent", 0).await.unwrap();
    let before = fixture.rows_of("agent").await;
    fixture.recorder.stop().await;
    let options = crate::sqlite::connect::writer(&fixture.store.config.database(), &fixture.tuning);
    let mut writer = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    // No time has passed: nothing is deleted.
    while sweep(&mut crate::database::Connection::Sqlite(&mut writer), Retention::default(), NOON, 1).await.unwrap() {}
    assert_eq!(fixture.rows_of("agent").await, before);

    let mut steps = 0;
    while sweep(&mut crate::database::Connection::Sqlite(&mut writer), Retention::default(), days_ago(-401), 1)
        .await
        .unwrap()
    {
        steps += 1;
    }
    assert!(steps > 1, "a row at a time");
    let left: Vec<_> = fixture.rows_of("agent").await.into_iter().filter(|(_, rows)| *rows > 0).collect();
    let left: Vec<_> = left.iter().map(|(table, _)| table.as_str()).collect();
    assert_eq!(
        left,
        ["agents", "alert_rules", "alert_states", "policies"],
        "what people made, and the agents themselves"
    );
}
