#![allow(clippy::unwrap_used, clippy::expect_used)]
//! The worker against real receivers.

use std::collections::HashMap;
use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use model::DeliveryState;
use store::{Grouping, Outcome};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;
use crate::test_support::TestStore;
use crate::{Alerts, AlertsConfig};

/// A request that a receiver got.
#[derive(Debug)]
struct ReceivedRequest {
    id: String,
    body: serde_json::Value,
}

/// A receiver that answers as `answer` says; `None` never answers.
async fn receiver(
    answer: impl Fn(usize) -> Option<(StatusCode, Option<&'static str>)> + Clone + Send + Sync + 'static,
) -> (String, mpsc::UnboundedReceiver<ReceivedRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (seen, got) = mpsc::unbounded_channel();
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (seen, answer, count) = (seen.clone(), answer.clone(), Arc::clone(&count));
            let service = service_fn(move |request: Request<Incoming>| {
                let (seen, answer, count) = (seen.clone(), answer.clone(), Arc::clone(&count));
                async move {
                    let id = request.headers()["webhook-id"].to_str().unwrap().to_owned();
                    let said = format!("said the receiver at {}", request.uri());
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    seen.send(ReceivedRequest { id, body: serde_json::from_slice(&body).unwrap() }).unwrap();
                    let Some((status, retry_after)) = answer(number) else { std::future::pending().await };
                    let mut response = Response::new(Full::new(Bytes::from(said)));
                    *response.status_mut() = status;
                    if let Some(pause) = retry_after {
                        response.headers_mut().insert("retry-after", pause.parse().unwrap());
                    }
                    Ok::<_, Infallible>(response)
                }
            });
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    (url, got)
}

fn start(fixture: &TestStore) -> Alerts {
    let config = AlertsConfig {
        public_url: "http://gazer.test".to_owned(),
        allow_private_targets: true,
        smtp: None,
        smtp_certificate: None,
        configured_policy: Default::default(),
    };
    Alerts::start(config, fixture.store.clone(), fixture.recorder.clone(), fixture.clock.clone())
}

/// Waits until `done` accepts the history.
async fn wait_until(fixture: &TestStore, done: impl Fn(&[DeliveryRow]) -> bool) -> Vec<DeliveryRow> {
    let mut outbox = fixture.recorder.outbox();
    loop {
        let history = fixture.history().await;
        if done(&history) {
            return history;
        }
        tokio::time::timeout(Duration::from_secs(60), outbox.changed()).await.expect("in time").unwrap();
    }
}

fn no_grouping() -> Grouping {
    Grouping { window: Duration::ZERO, quiet: Duration::ZERO }
}

#[tokio::test]
async fn kill_is_delivered_and_its_answer_recorded() {
    let fixture = TestStore::new(Clock::System, Grouping::default()).await;
    let (url, mut got) = receiver(|_| Some((StatusCode::ACCEPTED, None))).await;
    let _alerts = start(&fixture);
    fixture.webhook("ops", &url).await;
    let incident = fixture.kill("looper").await;
    let heard = got.recv().await.unwrap();
    assert_eq!((&heard.body["type"], &heard.body["data"]["agent_id"]), (&"agent.killed".into(), &"looper".into()));
    assert_eq!(heard.body["data"]["url"], format!("http://gazer.test/incidents/{incident}"));
    let history = wait_until(&fixture, |history| history[0].state == DeliveryState::Delivered).await;
    assert_eq!(history[0].id.to_string(), heard.id);
    let attempt = &history[0].attempts[0];
    assert_eq!((attempt.status, attempt.answer.as_str()), (Some(202), "said the receiver at /hook"));
}

#[tokio::test]
async fn answer_that_repeats_the_address_is_recorded_without_its_secrets() {
    let fixture = TestStore::new(Clock::System, Grouping::default()).await;
    let (url, _got) = receiver(|_| Some((StatusCode::NOT_FOUND, None))).await;
    let _alerts = start(&fixture);
    fixture.webhook("ops", &format!("{url}/canary-of-the-path?key=canary-of-the-query")).await;
    fixture.kill("looper").await;
    let history = wait_until(&fixture, |history| !history[0].attempts.is_empty()).await;
    assert_eq!(history[0].attempts[0].answer, "said the receiver at /hook/…?…");
}

#[tokio::test]
async fn failed_delivery_is_retried_with_the_same_id() {
    let fixture = TestStore::new(crate::test_support::clock(), no_grouping()).await;
    let (url, mut got) = receiver(|number| {
        Some(if number == 0 { (StatusCode::SERVICE_UNAVAILABLE, Some("120")) } else { (StatusCode::OK, None) })
    })
    .await;
    fixture.webhook("ops", &url).await;
    let alerts = start(&fixture);
    fixture.kill("looper").await;
    let first = got.recv().await.unwrap();
    let history = wait_until(&fixture, |history| history[0].tries == 1).await;
    let wait = history[0].due_at.millis_since(fixture.clock.now());
    assert_eq!(wait, 120_000, "the target asked for it");
    alerts.stop().await;

    fixture.clock.advance(120_000);
    let _alerts = start(&fixture);
    let second = got.recv().await.unwrap();
    assert_eq!((first.id, first.body), (second.id, second.body));
    wait_until(&fixture, |history| history[0].state == DeliveryState::Delivered).await;
}

#[tokio::test]
async fn retry_is_sent_in_time_though_the_clock_was_set_back() {
    for while_running in [true, false] {
        let fixture = TestStore::new(crate::test_support::clock(), no_grouping()).await;
        let (url, mut got) =
            receiver(|number| Some((if number == 0 { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK }, None)))
                .await;
        fixture.webhook("ops", &url).await;
        let mut alerts = Some(start(&fixture));
        fixture.kill("looper").await;
        got.recv().await.unwrap();
        wait_until(&fixture, |history| history[0].tries == 1).await;
        if !while_running {
            alerts.take().unwrap().stop().await;
        }
        fixture.clock.set_by(-24 * 3_600_000);
        fixture.clock.advance(10_000);
        let _alerts = alerts.unwrap_or_else(|| start(&fixture));
        // A test of another channel makes the worker read the outbox.
        fixture.webhook("other", &url).await;
        got.recv().await.unwrap();
        wait_until(&fixture, |history| history[0].state == DeliveryState::Delivered).await;
    }
}

#[tokio::test]
async fn redirect_is_not_a_delivery_and_gone_disables_the_channel() {
    let fixture = TestStore::new(crate::test_support::clock(), no_grouping()).await;
    let (moved, _a) = receiver(|_| Some((StatusCode::FOUND, None))).await;
    let (gone, _b) = receiver(|_| Some((StatusCode::GONE, None))).await;
    fixture.webhook("moved", &moved).await;
    let channel = fixture.webhook("gone", &gone).await;
    let _alerts = start(&fixture);
    fixture.kill("looper").await;
    let history = wait_until(&fixture, |history| history.iter().all(|row| !row.attempts.is_empty())).await;
    let states: HashMap<_, _> = history.iter().map(|row| (row.channel_name.as_str(), row.state)).collect();
    assert_eq!((states["moved"], states["gone"]), (DeliveryState::Queued, DeliveryState::Failed));
    assert!(!fixture.store.channel(channel).await.unwrap().unwrap().enabled);
}

#[tokio::test]
async fn silent_target_delays_no_other_channel() {
    let fixture = TestStore::new(Clock::System, no_grouping()).await;
    let (slow, mut slow_got) = receiver(|_| None).await;
    let (quick, mut quick_got) = receiver(|_| Some((StatusCode::OK, None))).await;
    fixture.webhook("slow", &slow).await;
    fixture.webhook("quick", &quick).await;
    let _alerts = start(&fixture);
    for agent in 0..20 {
        fixture.kill(&format!("agent-{agent}")).await;
    }
    for _ in 0..20 {
        quick_got.recv().await.unwrap();
    }
    for _ in 0..max_running(ChannelKind::Webhook) {
        slow_got.recv().await.unwrap();
    }
    assert!(slow_got.try_recv().is_err(), "no more at a time than one target gets");
}

#[tokio::test]
async fn burst_of_kills_is_one_alert_and_one_digest() {
    let fixture = TestStore::new(crate::test_support::clock(), Grouping::default()).await;
    let (url, mut got) = receiver(|_| Some((StatusCode::OK, None))).await;
    fixture.webhook("ops", &url).await;
    let alerts = start(&fixture);
    for agent in 0..10 {
        fixture.kill(&format!("agent-{agent}")).await;
    }
    assert_eq!(got.recv().await.unwrap().body["type"], "agent.killed");
    alerts.stop().await;
    assert!(got.try_recv().is_err(), "the others wait");

    fixture.clock.advance(5_000);
    let _alerts = start(&fixture);
    let digest = got.recv().await.unwrap().body;
    assert_eq!((&digest["type"], &digest["data"]["count"]), (&"alerts.digest".into(), &10.into()));
    assert_eq!(digest["data"]["alerts"].as_array().unwrap().len(), 10);
    let history = wait_until(&fixture, |history| history.iter().all(|row| row.state != DeliveryState::Queued)).await;
    let digested = history.iter().filter(|row| row.state == DeliveryState::Digested).count();
    assert_eq!((history.len(), digested), (11, 9));
    assert!(got.try_recv().is_err());
}

#[tokio::test]
async fn a_private_target_is_refused_and_says_why() {
    let fixture = TestStore::new(Clock::System, no_grouping()).await;
    let (url, mut got) = receiver(|_| Some((StatusCode::OK, None))).await;
    fixture.webhook("ops", &url).await;
    let config = AlertsConfig {
        public_url: String::new(),
        allow_private_targets: false,
        smtp: None,
        smtp_certificate: None,
        configured_policy: Default::default(),
    };
    let _alerts = Alerts::start(config, fixture.store.clone(), fixture.recorder.clone(), Clock::System);
    fixture.kill("looper").await;
    let history = wait_until(&fixture, |history| history[0].state == DeliveryState::Failed).await;
    assert!(history[0].reason.as_ref().unwrap().contains("--allow-private-targets"), "{:?}", history[0].reason);
    assert!(got.try_recv().is_err());
}

#[tokio::test]
async fn running_delivery_of_a_deleted_channel_is_recorded() {
    let fixture = TestStore::new(crate::test_support::clock(), no_grouping()).await;
    let channel = fixture.webhook("ops", "http://127.0.0.1:9/").await;
    fixture.kill("looper").await;
    let delivery = fixture.history().await[0].id;
    fixture.change(AlertChange::RemoveChannel { channel, at: fixture.clock.now() }).await;
    let attempt = Attempt {
        at: fixture.clock.now(),
        took_ms: 1,
        status: Some(200),
        answer: String::new(),
        outcome: Outcome::Delivered,
    };
    record(&fixture.recorder, delivery, attempt).await;
    assert_eq!(fixture.history().await[0].state, DeliveryState::Delivered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_are_sent_once_by_several_servers_on_one_database() {
    let postgres = crate::postgres_server::PostgresServer::start();
    let (url, key) = (postgres.create_database(), tempfile::tempdir().unwrap());
    let (target, mut got) = receiver(|_| Some((StatusCode::OK, None))).await;
    let (one, two) = (
        TestStore::shared(&url, "one", &key.path().join("key")).await,
        TestStore::shared(&url, "two", &key.path().join("key")).await,
    );
    one.webhook("ops", &target).await;
    let alerts = [start(&one), start(&two)];
    for number in 0..10 {
        let (ann, ben) = (format!("ann-{number}"), format!("ben-{number}"));
        tokio::join!(one.kill(&ann), two.kill(&ben));
    }
    let mut ids = HashSet::new();
    while ids.len() < 20 {
        let got = tokio::time::timeout(Duration::from_secs(60), got.recv()).await.unwrap().unwrap();
        assert!(ids.insert(got.id.clone()), "{got:?} was sent twice");
    }
    for alerts in alerts {
        alerts.stop().await;
    }
    let history = one.history().await;
    assert!(history.iter().all(|row| row.state == DeliveryState::Delivered && row.attempts.len() == 1), "{history:?}");
    assert!(got.try_recv().is_err(), "nothing more was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alert_of_a_server_that_is_gone_is_sent_by_another() {
    let postgres = crate::postgres_server::PostgresServer::start();
    let (url, key) = (postgres.create_database(), tempfile::tempdir().unwrap());
    let (target, mut got) = receiver(|_| Some((StatusCode::OK, None))).await;
    let gone = TestStore::shared(&url, "gone", &key.path().join("key")).await;
    let channel = gone.webhook("ops", &target).await;
    gone.kill("ann").await;
    // It leased the delivery and ended before it sent anything.
    let due = gone.store.due(channel, gone.clock.now(), 10).await.unwrap();
    assert_eq!(gone.store.lease(due).await.unwrap().len(), 1);
    postgres.execute(&url, "update deliveries set leased_until = 0");
    drop(gone);

    let other = TestStore::shared(&url, "other", &key.path().join("key")).await;
    let alerts = start(&other);
    let sent = tokio::time::timeout(Duration::from_secs(60), got.recv()).await.unwrap().unwrap();
    assert_eq!(sent.body["data"]["agent_id"], "ann");
    alerts.stop().await;
}
