use super::*;
use sqlx::{Connection, SqliteConnection};

impl Fixture {
    /// Waits until the writer has noticed a failure, and returns its message.
    async fn trouble(&self) -> String {
        let health = self.recorder.health();
        in_time("trouble", health.wait_for_trouble(Option::is_some)).await.unwrap()
    }

    /// Locks the database as another program would.
    async fn lock(&self) -> SqliteConnection {
        let options = crate::sqlite::connect::writer(&self.store.config.database(), &Tuning::default());
        let mut other = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::query("begin exclusive").execute(&mut other).await.unwrap();
        other
    }

    /// Makes the writer's connection fail from now on, or work again.
    async fn set_fault(&self, fault: Option<(&'static str, &'static str)>) {
        let broken = fault.is_some();
        *self.tuning.faults.lock().unwrap() = fault.into_iter().collect();
        if broken {
            // A connection takes its settings when it is opened: one failure makes the writer open
            // another.
            let lock = self.lock().await;
            self.handle.event(call("breaks-the-connection"));
            self.trouble().await;
            lock.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_locked_database_delays_kills_and_events_and_loses_none() {
    let fixture = Fixture::new().await;
    fixture.record(call("agent")).await;
    let lock = fixture.lock().await;
    let commit = fixture.send_kill(incident("looper", 0));
    fixture.handle.event(call("agent"));
    assert!(fixture.trouble().await.contains("locked"));
    assert!(fixture.store.agent(&id("agent")).await.unwrap().is_some(), "reading goes on");

    lock.close().await.unwrap();
    assert!(commit.wait().await);
    fixture.record(call("agent")).await;
    assert_eq!(fixture.recorder.health().trouble(), None);
    assert_eq!(fixture.count("select count(*) from events where agent_id = 'agent'").await, 3);
    assert!(!fixture.is_active("looper").await);
}

#[tokio::test]
async fn failure_is_over_once_a_probe_succeeds() {
    let fixture = Fixture::with(Tuning { change_timeout: Duration::ZERO, ..quick() }).await;
    let lock = fixture.lock().await;
    let refused = async {
        loop {
            let refused = fixture.change(Change::Rename { agent: id("agent"), name: None }).await;
            if fixture.recorder.health().trouble().is_some() {
                return refused;
            }
        }
    };
    assert!(matches!(in_time("trouble", refused).await, Err(StoreError::Unavailable(_))));
    lock.close().await.unwrap();
    in_time("a probe that succeeds", fixture.recorder.health().wait_for_trouble(Option::is_none)).await;
}

#[tokio::test]
async fn a_change_that_was_given_up_is_never_made() {
    let fixture = Fixture::with(Tuning { change_timeout: Duration::from_millis(5), ..quick() }).await;
    fixture.record(call("agent")).await;
    let lock = fixture.lock().await;
    for _ in 0..3 {
        let given_up = fixture.change(Change::Deactivate { agent: id("agent"), at: NOON }).await;
        assert!(matches!(given_up, Err(StoreError::Unavailable(_))), "{given_up:?}");
    }
    lock.close().await.unwrap();
    fixture.record(call("agent")).await;
    let fixture = fixture.restart().await;
    assert!(fixture.is_active("agent").await);
}

#[tokio::test]
async fn events_are_kept_up_to_a_limit_and_the_oldest_go_first() {
    let fixture = Fixture::with(Tuning { kept_events: 10, ..quick() }).await;
    let lock = fixture.lock().await;
    for number in 1..=25 {
        fixture.handle.event(scored("agent", 0, number));
    }
    let health = fixture.recorder.health();
    in_time("15 events are dropped", health.wait_for_dropped(15)).await;
    lock.close().await.unwrap();
    let fixture = fixture.restart().await;
    assert_eq!(fixture.count("select count(*) from events").await, 10);
    assert_eq!(fixture.count("select min(number) from events").await, 16);
    assert_eq!(health.dropped_events(), 15);
}

/// Renames a table, once the writer releases its lock.
async fn rename(connection: &mut sqlx::SqliteConnection, from: &str, to: &str) {
    let statement = format!("pragma busy_timeout = 10000; alter table {from} rename to {to}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(connection).await.unwrap();
}

#[tokio::test]
async fn events_that_can_never_be_written_are_counted_and_not_announced() {
    let fixture = Fixture::new().await;
    let mut notices = fixture.recorder.subscribe();
    let mut connection = fixture.connect().await;
    rename(&mut connection, "events", "elsewhere").await;
    fixture.handle.event(call("agent"));
    let health = fixture.recorder.health();
    in_time("the event is dropped", health.wait_for_dropped(1)).await;
    rename(&mut connection, "elsewhere", "events").await;
    connection.close().await.unwrap();
    let written = call("agent");
    fixture.handle.event(written.clone());
    assert!(matches!(next(&mut notices).await, Notice::Event(event) if event.id == written.id));
}

#[tokio::test]
async fn kill_is_written_without_the_part_that_cannot_be_written() {
    let fixture = Fixture::new().await;
    let mut connection = fixture.connect().await;
    for table in ["evidence", "rollups"] {
        rename(&mut connection, table, "elsewhere").await;
        let agent = format!("without-{table}");
        fixture.kill(&agent, 0).await;
        assert!(!fixture.is_active(&agent).await, "{agent}");
        rename(&mut connection, "elsewhere", table).await;
    }

    rename(&mut connection, "incidents", "elsewhere").await;
    assert!(!fixture.send_kill(incident("given-up", 0)).wait().await);
    rename(&mut connection, "elsewhere", "incidents").await;
    fixture.kill("next", 0).await;
    assert!(!fixture.is_active("next").await);
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_full_disk_costs_the_evidence_and_never_the_kill() {
    let fixture = Fixture::new().await;
    fixture.record(call("looper")).await;
    fixture.set_fault(Some(("max_page_count", "1"))).await;
    let mut large = incident("looper", 0);
    large.evidence[0].request_body = Some(noise(1 << 20).into_bytes());
    let killed = large.kill.incident;
    assert!(fixture.send_kill(large).wait().await);
    assert!(!fixture.is_active("looper").await);
    assert_eq!(fixture.store.incident(killed).await.unwrap().unwrap().evidence_count, 0);

    for _ in 0..200 {
        fixture.handle.event(call("agent"));
    }
    assert!(fixture.trouble().await.contains("full"));
    fixture.set_fault(None).await;
    fixture.record(call("agent")).await;
    assert_eq!(fixture.recorder.health().trouble(), None);
    assert_eq!(fixture.count("select count(*) from events where agent_id = 'agent'").await, 201);
}

#[tokio::test]
async fn read_only_database_is_reported_and_retried() {
    let fixture = Fixture::new().await;
    fixture.record(call("agent")).await;
    fixture.set_fault(Some(("query_only", "1"))).await;
    let commit = fixture.send_kill(incident("looper", 0));
    let is_read_only = |trouble: &Option<String>| trouble.as_ref().is_some_and(|trouble| trouble.contains("read-only"));
    in_time("the database is read-only", fixture.recorder.health().wait_for_trouble(is_read_only)).await;
    fixture.set_fault(None).await;
    assert!(commit.wait().await);
    assert!(!fixture.is_active("looper").await);
}

#[tokio::test]
async fn a_stop_gives_up_on_a_database_that_stays_locked() {
    let fixture = Fixture::new().await;
    fixture.record(call("agent")).await;
    let lock = fixture.lock().await;
    let commit = fixture.send_kill(incident("looper", 0));
    assert!(!fixture.recorder.stop().await);
    assert!(!commit.wait().await, "what was not written is not acknowledged");
    drop(lock);
}

/// A writer that is interrupted anywhere leaves a database that opens cleanly and holds everything
/// acknowledged.
#[tokio::test]
async fn acknowledged_changes_survive_a_crash() {
    let mut directory = tempfile::tempdir().unwrap();
    for epoch in 0..10 {
        let fixture = Fixture::open(directory, quick()).await;
        fixture.kill("looper", epoch).await;
        assert_eq!(fixture.activate("looper", epoch).await.unwrap(), Changed::Activated(Epoch(epoch + 1)));
        for number in 0..200 {
            fixture.handle.event(scored("looper", epoch + 1, number));
        }
        fixture.writer.abort();
        let Fixture { writer, directory: kept, .. } = fixture;
        assert!(writer.await.is_err());
        directory = kept;
    }
    let fixture = Fixture::open(directory, quick()).await;
    let integrity: String =
        sqlx::query_scalar("pragma integrity_check").fetch_one(fixture.store.readers.sqlite()).await.unwrap();
    assert_eq!(integrity, "ok");
    assert_eq!(fixture.count("select count(*) from incidents where state = 'closed'").await, 10);
    assert_eq!(fixture.store.agent(&id("looper")).await.unwrap().unwrap().epoch, Epoch(10));
}
