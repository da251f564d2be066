//! Behaviour that only a server has: it stops, restarts, refuses writes, and holds days of events.

mod lossy_proxy;

use std::time::Duration;

use model::{Event, Timestamp};
use store::{Change, EventFilter, Period, PostgresConfig, Store, StoreConfig, StoreError};

use self::lossy_proxy::open_with_losses;
use crate::backend::{NOON, Postgres, Server, call, id, page};
use crate::postgres_server::PostgresServer;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn days_ago(days: i64) -> Timestamp {
    Timestamp::from_millis(NOON.as_millis() - days * DAY_MS)
}

async fn count(server: &Server) -> usize {
    server.store.events(&EventFilter::default(), &page(500)).await.unwrap().items.len()
}

/// Waits until the writer reports that the database is `healthy`, or that it is not.
async fn wait_for_health(server: &Server, healthy: bool) {
    let health = server.recorder.health();
    let looked = async {
        let mut look = tokio::time::interval(Duration::from_millis(5));
        while health.trouble().is_none() != healthy {
            look.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), looked).await.expect("another health in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_and_events_are_written_when_the_server_is_back() {
    let postgres = PostgresServer::start();
    let url = postgres.create_database();
    let server = Postgres::open(&url).await;
    let early: Vec<Event> = (0..20).map(|_| call("ann", NOON)).collect();
    server.record(&early).await;
    // The writer does not wait for the disk here: without a checkpoint a crash may lose the newest
    // events.
    postgres.execute(&url, "checkpoint");

    postgres.stop_immediately();
    let killing = server.kill("ann", 0);
    let (late, health) = (call("ben", NOON), server.recorder.health());
    server.handle.event(late);
    let back = async {
        wait_for_health(&server, false).await;
        assert!(health.trouble().is_some());
        let refused = server.change(Change::Rename { agent: id("ann"), name: None }).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        postgres.start_again();
    };
    tokio::join!(killing, back);
    wait_for_health(&server, true).await;
    server.recorder.catch_up().await;
    assert!(!server.is_active("ann").await);
    assert_eq!(count(&server).await, 22, "twenty calls, the kill, the call of another agent");
    let total = server.store.total(None, Period::last_hours(24, NOON)).await.unwrap();
    assert_eq!((total.requests, total.blocked), (21, 1), "no sum is added twice");
}

#[tokio::test]
async fn batch_whose_acknowledgement_is_lost_is_not_counted_twice() {
    let (server, losses) = open_with_losses(Postgres::shared()).await;
    server.record(&[call("ann", NOON)]).await;
    for _ in 0..3 {
        losses.lose(1);
        server.record(&[call("ann", NOON), call("ann", NOON)]).await;
        assert_eq!(losses.left(), 0, "an acknowledgement was lost");
    }
    let total = server.store.total(None, Period::last_hours(24, NOON)).await.unwrap();
    assert_eq!((total.requests, count(&server).await), (7, 7));
}

/// Events are committed before they are on disk, so a crash may lose their transaction and its id.
#[tokio::test(flavor = "multi_thread")]
async fn batch_whose_transaction_a_crash_lost_is_written_again() {
    let postgres = PostgresServer::start();
    let (server, losses) = open_with_losses(&postgres).await;
    let url = postgres.create_database();
    postgres.execute(&url, "alter system set wal_writer_delay = '10s'");
    postgres.execute(&url, "select pg_reload_conf()");
    server.record(&[call("ann", NOON)]).await;
    server.recorder.catch_up().await;
    server.recorder.catch_up().await;
    // What was written so far survives.
    postgres.execute(&url, "checkpoint");
    losses.lose(1);
    let stop = async {
        losses.wait_until_left(0).await;
        losses.lose_all();
        postgres.stop_immediately();
        losses.lose(0);
        postgres.start_again();
    };
    let batch = [call("ann", NOON), call("ben", NOON)];
    tokio::join!(server.record(&batch), stop);
    let total = server.store.total(None, Period::last_hours(24, NOON)).await.unwrap();
    assert_eq!((total.requests, count(&server).await, server.recorder.health().dropped_events()), (3, 3, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_acknowledgement_of_a_kill_does_not_repeat_the_batch_before_it() {
    let (server, losses) = open_with_losses(Postgres::shared()).await;
    server.record(&[call("ann", NOON)]).await;
    // Longer sums are made after the first batch.
    server.recorder.catch_up().await;
    server.recorder.catch_up().await;
    losses.lose(2);
    let batch = [call("ann", NOON), call("ann", NOON)];
    let kill = async {
        losses.wait_until_left(1).await;
        // The writer pauses; then it writes the kill before the batch.
        server.kill("ben", 0).await;
    };
    tokio::join!(server.record(&batch), kill);
    assert_eq!(losses.left(), 0, "two acknowledgements were lost");
    let total = server.store.total(None, Period::last_hours(24, NOON)).await.unwrap();
    assert_eq!((total.requests, total.blocked, count(&server).await), (3, 1, 4));
}

#[tokio::test]
async fn days_that_are_too_old_are_dropped() {
    let postgres = Postgres::shared();
    let url = postgres.create_database();
    let server = Postgres::open(&url).await;
    let events: Vec<Event> = [45, 32, 29, 1, 0].map(|days| call("ann", days_ago(days))).into();
    server.record(&events).await;
    assert_eq!(postgres.execute(&url, "select count(*) from event_days"), "5");
    // Retention runs at the start.
    let server = server.restart().await;
    let days = "select string_agg(name, ' ' order by name) from event_days";
    let dropped = async {
        while postgres.execute(&url, days) != "events_20231016 events_20231113 events_20231114" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), dropped).await.expect("old days are dropped in time");
    assert_eq!(count(&server).await, 3);
    let total = server.store.total(None, Period::last_hours(24, NOON)).await.unwrap();
    assert_eq!(total.requests, 1);
}

#[tokio::test]
async fn text_with_nul_is_stored() {
    let url = Postgres::shared().create_database();
    let server = Postgres::open(&url).await;
    let mut event = call("ann", NOON);
    event.model = Some("a\0b".to_owned());
    event.error = Some("\0".to_owned());
    server.record(&[event]).await;
    let rows = server.store.events(&EventFilter::default(), &page(10)).await.unwrap().items;
    assert_eq!(rows[0].event.model.as_deref(), Some("a\u{fffd}b"));
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_server_refuses_changes_and_recovers() {
    let postgres = Postgres::shared();
    let url = postgres.create_database();
    let name = url.rsplit('/').next().unwrap().to_owned();
    let server = Postgres::open(&url).await;
    server.record(&[call("ann", NOON)]).await;
    let end_sessions = "select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()";
    postgres.execute(&url, &format!("alter database {name} set default_transaction_read_only = on"));
    postgres.execute(&url, end_sessions);
    let refused = server.change(Change::Rename { agent: id("ann"), name: None }).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    let trouble = server.recorder.health().trouble().unwrap_or_default();
    assert!(trouble.contains("read-only"), "{trouble}");
    assert_eq!(count(&server).await, 1, "reads go on");
    let back = format!("set transaction read write; alter database {name} reset default_transaction_read_only");
    postgres.execute(&url, &back);
    postgres.execute(&url, end_sessions);
    wait_for_health(&server, true).await;
    server.change(Change::Rename { agent: id("ann"), name: Some("Ann".to_owned()) }).await.unwrap();
}

/// A certificate for `name` and its key.
fn certificate(name: &str) -> (String, String) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

async fn opens(url: &str, password_file: Option<&std::path::Path>) -> Result<Store, StoreError> {
    let directory = tempfile::tempdir().unwrap();
    let mut config = StoreConfig::new(directory.path().join("data"), directory.path().join("key"));
    config.postgres = Some(PostgresConfig::new(url.into(), password_file.map(Into::into)).map_err(StoreError::Setup)?);
    Store::open(config).await
}

#[tokio::test(flavor = "multi_thread")]
async fn certificate_of_the_server_is_verified() {
    let postgres = tokio::task::spawn_blocking(PostgresServer::start).await.unwrap();
    let url = postgres.create_database();
    let refused = opens(&format!("{url}?sslmode=require"), None).await;
    assert!(matches!(&refused, Err(StoreError::Setup(_))), "it offers no TLS yet: {refused:?}");

    let (ours, key) = certificate("127.0.0.1");
    let (others, _) = certificate("127.0.0.1");
    postgres.offer_tls(&ours, &key);
    let folder = tempfile::tempdir().unwrap();
    let roots = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        format!("{url}?sslmode=verify-full&sslrootcert={}", folder.path().join(name).display())
    };
    let (right, wrong) = (roots("right.pem", &ours), roots("wrong.pem", &others));
    let store = opens(&right, None).await.unwrap();
    assert!(store.users().await.unwrap().is_empty());
    let encrypted = "select count(*) > 0 from pg_stat_ssl join pg_stat_activity using (pid)
        where ssl and application_name = 'agentgazer'";
    assert_eq!(postgres.execute(&url, encrypted), "t");
    let refused = opens(&wrong, None).await;
    assert!(matches!(&refused, Err(StoreError::Setup(_))), "another authority: {refused:?}");
    let refused = opens(&right.replace("127.0.0.1", "localhost"), None).await;
    assert!(matches!(&refused, Err(StoreError::Setup(_))), "another name: {refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn schema_of_a_newer_version_is_used_unless_it_is_newer_by_a_major() {
    let postgres = tokio::task::spawn_blocking(PostgresServer::start).await.unwrap();
    let url = postgres.create_database();
    opens(&url, None).await.unwrap();
    let newer = "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
        values (9999, 'of a newer version', true, '', 0)";
    postgres.execute(&url, newer);
    opens(&url, None).await.expect("old and new replicas run side by side");
    postgres.execute(&url, "insert into settings (name, value) values ('schema_major', '2')");
    let refused = opens(&url, None).await;
    assert!(matches!(&refused, Err(StoreError::Setup(why)) if why.contains("newer version")), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn password_comes_from_a_file_and_may_change() {
    let postgres = tokio::task::spawn_blocking(PostgresServer::start).await.unwrap();
    let url = postgres.create_database();
    postgres.require_password("guarded", "first-password");
    let guarded = url.replace("agentgazer@", "guarded@");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    let refused = opens(&guarded, None).await;
    assert!(matches!(&refused, Err(StoreError::Setup(_))), "{refused:?}");
    std::fs::write(&file, "first-password\n").unwrap();
    let store = opens(&guarded, Some(&file)).await.unwrap();
    assert!(store.users().await.unwrap().is_empty());
    postgres.execute(&url, "alter role guarded password 'second-password'");
    std::fs::write(&file, "second-password").unwrap();
    opens(&guarded, Some(&file)).await.unwrap();
}
