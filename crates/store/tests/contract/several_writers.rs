//! Several servers that write to one PostgreSQL database at the same time.

use std::collections::HashSet;

use model::{
    AlertData, AlertType, Channel, ChannelId, ChannelKind, ChannelSettings, Event, EventType, NanoUsd, Timestamp,
};
use store::{
    AlertChange, Change, ChangedKind, ChangedRow, EventFilter, IncidentFilter, Period, PostgresConfig, Store,
    StoreError,
};

use crate::backend::{NOON, Postgres, Server, call, id, incident, minutes_ago, page};

const HOUR: i64 = 60;

/// Calls of one server: several agents and conversations, over many days in random order.
fn calls(server: usize, count: usize) -> Vec<Event> {
    let call_of = |number: usize| {
        let minutes = (number * 7919 + server * 31) as i64 % (12 * 24 * HOUR);
        let mut event = call(["ann", "ben", "cay"][number % 3], minutes_ago(minutes));
        event.provider = Some("openai".to_owned());
        event.model = Some(["gpt-5", "o3"][number % 2].to_owned());
        event.conversation = Some(format!("c{}", number % 5));
        event.status = Some(if number.is_multiple_of(4) { 500 } else { 200 });
        event.latency_ms = Some(number as u64);
        event.cost = Some(NanoUsd::new(number as i64 + 1));
        event
    };
    (0..count).map(call_of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sums_of_concurrent_writers_equal_their_events() {
    let servers = Postgres::open_shared(["one", "two", "three"]).await;
    let batches: Vec<Vec<Event>> = (0..3).map(|server| calls(server, 600)).collect();
    // Small batches, so that longer sums are made while others write to hours that are over.
    let record = async |server: &Server, events: &[Event]| {
        for events in events.chunks(25) {
            server.record(events).await;
        }
    };
    let [one, two, three] = &servers;
    tokio::join!(record(one, &batches[0]), record(two, &batches[1]), record(three, &batches[2]));

    let events: Vec<&Event> = batches.iter().flatten().collect();
    for hours in [1, 24, 24 * 7, 24 * 13] {
        let period = Period::last_hours(hours, NOON);
        let within: Vec<_> = events.iter().filter(|event| (period.from()..period.to()).contains(&event.time)).collect();
        let total = one.store.total(None, period).await.unwrap();
        let cost: NanoUsd = within.iter().filter_map(|event| event.cost).sum();
        assert_eq!((total.requests, total.cost), (within.len() as u64, cost), "{hours} hours");
        let agents = two.store.agent_figures(period, 10).await.unwrap();
        assert_eq!(agents.iter().map(|(_, sums)| sums.cost).sum::<NanoUsd>(), cost, "{hours} hours by agent");
    }
    let conversations = three.store.conversation_figures(&id("ann"), Period::last_hours(24 * 13, NOON), 50).await;
    let requests: u64 = conversations.unwrap().iter().map(|row| row.totals.requests).sum();
    assert_eq!(requests, events.iter().filter(|event| event.agent == id("ann")).count() as u64);
    for server in &servers {
        assert_eq!(server.recorder.health().dropped_events(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_kill_of_an_epoch_learns_of_the_first() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    for (round, agent) in (0..20).map(|round| (round, format!("agent-{round}"))) {
        let kill = async |server: &Server| {
            let incident = incident(&agent, 0);
            let mut event = call(&agent, NOON);
            event.incident = Some(incident.kill.incident);
            server.handle.kill(incident, event).incident().await.unwrap()
        };
        let (first, second) = tokio::join!(kill(&one), kill(&two));
        assert_eq!(first, second, "round {round}");
        let filter = IncidentFilter { agent: Some(id(&agent)), ..IncidentFilter::default() };
        let incidents = one.store.incidents(&filter, &page(10)).await.unwrap().items;
        assert_eq!(incidents.iter().map(|row| row.id).collect::<Vec<_>>(), [first]);
    }
}

/// Two replicas find out at the same moment that a kill is not stored, and both record it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_kill_that_two_servers_record_has_one_event() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    one.record(&[call("looper", NOON)]).await;
    let decided = incident("looper", 0).kill.incident;
    let kill = async |server: &Server| {
        let mut incident = incident("looper", 0);
        incident.kill.incident = decided;
        let event = Event { event_type: EventType::KillSwitch, incident: Some(decided), ..call("looper", NOON) };
        server.handle.kill(incident, event).incident().await.unwrap()
    };
    // Both wait for the row of the agent, and then write one after the other.
    let database = one.config.postgres.as_ref().unwrap().address();
    let hold = "begin; select from agents for update; select pg_sleep(1); commit";
    let is_held = "select count(*) from pg_locks where relation = 'agents'::regclass and mode = 'RowShareLock'";
    let holder = database.clone();
    let held = tokio::task::spawn_blocking(move || Postgres::shared().execute(&holder, hold));
    // If this machine is too slow to see the lock, the case proves nothing, but ends.
    while !held.is_finished() && Postgres::shared().execute(&database, is_held).trim() == "0" {}
    assert_eq!(tokio::join!(kill(&one), kill(&two)), (decided, decided));
    held.await.unwrap();
    let filter = EventFilter { event_type: Some(EventType::KillSwitch), ..EventFilter::default() };
    assert_eq!(two.store.events(&filter, &page(10)).await.unwrap().items.len(), 1);
}

async fn add_channel(server: &Server) -> ChannelId {
    let channel = Channel {
        id: ChannelId::new(),
        kind: ChannelKind::Webhook,
        name: "ops".to_owned(),
        enabled: true,
        disabled_reason: None,
        created_at: NOON,
        settings: Some(ChannelSettings::Webhook { url: "https://example.com".to_owned(), secret: "".into() }),
    };
    let id = channel.id;
    server.change(Change::Alerts(AlertChange::PutChannel { channel: channel.into() })).await.unwrap();
    id
}

fn hours_later() -> Timestamp {
    Timestamp::from_millis(NOON.as_millis() + 3_600_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delivery_is_leased_by_one_server_and_again_after_its_time() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    let channel = add_channel(&one).await;
    for agent in ["ann", "ben", "cay"] {
        one.kill(agent, 0).await;
    }
    let lease = async |server: &Server| {
        let due = server.store.due(channel, hours_later(), 10).await.unwrap();
        server.store.lease(due).await.unwrap()
    };
    let (first, second) = tokio::join!(lease(&one), lease(&two));
    let ids: HashSet<_> = first.iter().chain(&second).map(|delivery| delivery.id).collect();
    assert_eq!((ids.len(), first.len() + second.len()), (3, 3), "each is leased once");
    assert!(
        two.store.due(channel, hours_later(), 10).await.unwrap().is_empty(),
        "the other server does not see them as due"
    );

    drop(one);
    Postgres::end_leases(&two.config.postgres.as_ref().unwrap().address()).await;
    assert_eq!(lease(&two).await.len(), 3, "the holder is gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn digest_is_made_once() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    let channel = add_channel(&one).await;
    for agent in ["ann", "ben", "cay"] {
        one.kill(agent, 0).await;
    }
    let digest = async |server: &Server| {
        let change = AlertChange::Digest {
            channel,
            window_opened_at: NOON,
            digest: model::DeliveryId::new(),
            at: hours_later(),
        };
        server.change(Change::Alerts(change)).await.unwrap()
    };
    tokio::join!(digest(&one), digest(&two));
    let history = one.store.deliveries(&store::DeliveryFilter::default(), &page(20)).await.unwrap().items;
    let digests: Vec<_> = history.iter().filter(|row| row.alert_type == AlertType::Digest).collect();
    assert_eq!(digests.len(), 1);
    assert!(matches!(&digests[0].data, Some(AlertData::Digest { count: 3, .. })), "{:?}", digests[0].data);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_is_claimed_by_one_server() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    let (first, second) = tokio::join!(one.store.claim_work("rules", 60_000), two.store.claim_work("rules", 60_000));
    assert_ne!(first.unwrap(), second.unwrap());
    let claims = [&one, &two].map(|server| server.store.claim_work("short", 0));
    for claim in claims {
        assert!(claim.await.unwrap(), "its time is over at once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn audit_log_of_two_servers_is_one_chain() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    let cause = std::sync::Arc::new(model::Cause {
        actor: model::Actor::first_token(model::ActivatedBy::Api, None),
        reason: None,
    });
    let note = async |server: &Server| {
        for _ in 0..20 {
            let note = Change::Note(store::AuditNote { action: "session.open", target: None, details: None });
            server.recorder.change_by(std::sync::Arc::clone(&cause), note).await.unwrap();
        }
    };
    tokio::join!(note(&one), note(&two));
    let report = one.store.verify_audit(None).await.unwrap();
    assert_eq!((report.rows, report.problem), (40, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn right_to_write_is_shared_or_alone() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    one.record(&[call("ann", NOON)]).await;
    two.record(&[call("ann", NOON)]).await;
    let mut alone = one.config.clone();
    alone.shared = false;
    assert!(alone.claim_writer().await.unwrap().is_none(), "others write");
    assert!(one.config.claim_writer().await.unwrap().is_some(), "another replica may join");

    let url = tokio::task::spawn_blocking(|| Postgres::shared().create_database()).await.unwrap();
    alone.postgres = Some(PostgresConfig::new(url.into(), None).unwrap());
    let claim = alone.claim_writer().await.unwrap().unwrap();
    assert!(alone.claim_writer().await.unwrap().is_none(), "one server has it alone");
    let mut shared = alone.clone();
    shared.shared = true;
    assert!(shared.claim_writer().await.unwrap().is_none());
    drop(claim);
}

#[tokio::test]
async fn replica_with_another_key_is_refused() {
    let [one] = Postgres::open_shared(["one"]).await;
    let other = tempfile::tempdir().unwrap();
    let mut config = one.config.clone();
    config.key_file = other.path().join("key");
    let refused = Store::open(config).await;
    assert!(
        matches!(&refused, Err(StoreError::Setup(why)) if why.contains("is not the one that the other replicas")),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_bodies_are_added_by_the_server_that_has_them() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    let mut killed = incident("ann", 0);
    let whole = killed.evidence[0].clone();
    let mut missing = whole.clone();
    missing.call = model::CallId::new();
    (missing.request_body, missing.missing) = (None, Some(model::MissingBodies::Budget));
    killed.evidence.insert(0, missing.clone());
    let id = killed.kill.incident;
    assert!(one.handle.kill(killed, call("ann", NOON)).wait().await);

    assert_eq!(two.store.missing_evidence(id).await.unwrap(), [missing.call]);
    let found = model::Evidence { call: missing.call, ..whole.clone() };
    // The second one is already stored and stays as it is.
    let other = model::Evidence { request_body: Some(b"other".to_vec()), ..whole.clone() };
    assert_eq!(two.store.fill_evidence(id, vec![found, other]).await.unwrap(), 1);
    let evidence = one.store.evidence(id).await.unwrap();
    assert_eq!(evidence.len(), 2);
    assert!(evidence.iter().all(|it| it.evidence.request_body == whole.request_body && it.evidence.missing.is_none()));
    assert!(two.store.missing_evidence(id).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn feed_reports_only_the_changes_of_other_replicas() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    let mut feeds = [one.store.change_feed().await.unwrap().unwrap(), two.store.change_feed().await.unwrap().unwrap()];
    one.kill("ann", 0).await;
    one.activate("ann", 0).await.unwrap();
    let expected = ChangedRow { kind: ChangedKind::Agent, key: "ann".to_owned() };
    let heard = async {
        loop {
            let rows = feeds[1].next().await.unwrap();
            if !rows.is_empty() {
                return rows;
            }
        }
    };
    let heard = tokio::time::timeout(std::time::Duration::from_secs(30), heard).await.unwrap();
    assert_eq!(heard, [expected]);
    assert!(feeds[0].next().await.unwrap().is_empty(), "it made the changes itself");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_are_listed_until_they_leave() {
    let [one, two] = Postgres::open_shared(["one", "two"]).await;
    let replica = |id: &str| store::ReplicaRow {
        id: id.to_owned(),
        version: "1.0".to_owned(),
        address: "http://127.0.0.1:1".to_owned(),
        mode: "shared".to_owned(),
        started_at: NOON,
        silent_ms: 0,
        lag_ms: 7,
    };
    one.store.write_heartbeat(&replica("one")).await.unwrap();
    two.store.write_heartbeat(&replica("two")).await.unwrap();
    one.store.write_heartbeat(&store::ReplicaRow { mode: "degraded".to_owned(), ..replica("one") }).await.unwrap();
    let listed = two.store.replicas().await.unwrap();
    let mut names: Vec<_> = listed.iter().map(|row| (row.id.as_str(), row.mode.as_str(), row.is_alive())).collect();
    names.sort_unstable();
    assert_eq!(names, [("one", "degraded", true), ("two", "shared", true)]);
    one.store.delete_replica().await.unwrap();
    assert_eq!(two.store.replicas().await.unwrap().len(), 1);
}
