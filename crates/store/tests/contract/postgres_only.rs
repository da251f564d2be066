//! What only a server can do: stop, start again, refuse to be written to, hold days of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{Event, Timestamp};
use store::{Change, EventFilter, Period, StoreError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::backend::{NOON, Postgres, Server, call, id, page};
use crate::postgres_server::PostgresServer;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn days_ago(days: i64) -> Timestamp {
    Timestamp::from_millis(NOON.as_millis() - days * DAY_MS)
}

async fn count(server: &Server) -> usize {
    server.store.events(&EventFilter::default(), &page(500)).await.unwrap().items.len()
}

/// Waits until the writer says that the database is all right, or not.
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
    // Not waited for by the writer: without this a crash may take the newest events.
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

/// Passes bytes on to the server, and loses the answer to the next commit when told to.
async fn start_lossy_proxy(server_port: u16) -> (u16, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, lose) = (listener.local_addr().unwrap().port(), Arc::new(AtomicBool::new(false)));
    let lose_next = Arc::clone(&lose);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(("127.0.0.1", server_port)).await.unwrap();
            tokio::spawn(pass_on(client, server, Arc::clone(&lose_next)));
        }
    });
    (port, lose)
}

async fn pass_on(mut client: TcpStream, mut server: TcpStream, lose_next: Arc<AtomicBool>) {
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            Ok(length) = client.read(&mut asked) => {
                let bytes = &asked[..length];
                if length == 0 || server.write_all(bytes).await.is_err() {
                    return;
                }
                if bytes.windows(6).any(|word| word == b"COMMIT") && lose_next.swap(false, Ordering::SeqCst) {
                    // The server has committed once it answers.
                    let _ = server.read(&mut answered).await;
                    return;
                }
            }
            Ok(length) = server.read(&mut answered) => {
                if length == 0 || client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
            else => return,
        }
    }
}

#[tokio::test]
async fn batch_whose_acknowledgement_is_lost_is_not_counted_twice() {
    let url = Postgres::shared().create_database();
    let server_port = url.split([':', '/']).filter_map(|part| part.parse().ok()).next().unwrap();
    let (port, lose) = start_lossy_proxy(server_port).await;
    let server = Postgres::open(&url.replace(&format!(":{server_port}/"), &format!(":{port}/"))).await;
    server.record(&[call("ann", NOON)]).await;
    for _ in 0..3 {
        lose.store(true, Ordering::SeqCst);
        server.record(&[call("ann", NOON), call("ann", NOON)]).await;
        assert!(!lose.load(Ordering::SeqCst), "an acknowledgement was lost");
    }
    let total = server.store.total(None, Period::last_hours(24, NOON)).await.unwrap();
    assert_eq!((total.requests, count(&server).await), (7, 7));
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
