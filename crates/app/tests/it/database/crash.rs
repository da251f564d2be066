//! kill -9 at any moment under load: everything acknowledged is stored, and nothing is stored in
//! part.
//!
//! `CRASH_ROUNDS=1000 cargo test --test it crash` for a long run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use sqlx::{Connection, Row, SqliteConnection};

use crate::support::{Server, ServerBuilder, provider};

const AGENTS: usize = 6;
const QUESTION: &str = "Why does the import of customer records fail?";

/// What one agent's worker had acknowledged, and what was pending when the server died.
#[derive(Clone, Debug, Default)]
struct Ledger {
    name: String,
    threshold: Option<f64>,
    threshold_in_doubt: Option<f64>,
    inactive: Option<String>,
    activation_in_doubt: bool,
    kill_in_doubt: bool,
    incidents: BTreeSet<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_kill_or_config_change_is_lost() {
    let rounds: u64 = std::env::var("CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let provider = provider().await;
    let mut builder = ServerBuilder::new(&provider.url());
    let mut ledgers: Vec<Ledger> =
        (0..AGENTS).map(|number| Ledger { name: format!("crash-{number}"), ..Ledger::default() }).collect();
    let mut kills = 0;
    for round in 0..rounds {
        let server = Arc::new(builder.start());
        for ledger in &mut ledgers {
            check(&server, ledger, round).await;
        }
        let workers: Vec<_> =
            ledgers.drain(..).map(|ledger| tokio::spawn(work(Arc::clone(&server), ledger, round))).collect();
        // Spread over the course of a round, the same in every run.
        tokio::time::sleep(Duration::from_millis(5 + (round * 37) % 180)).await;
        server.signal("KILL");
        for worker in workers {
            ledgers.push(worker.await.unwrap());
        }
        builder = Arc::into_inner(server).unwrap().kill();
        kills = ledgers.iter().map(|ledger| ledger.incidents.len()).sum();
        check_database(builder.data_path()).await;
    }
    assert!(kills as u64 >= rounds / 4, "only {kills} kills in {rounds} rounds: the test hardly tested anything");
}

/// Configures, loops until refused, activates, and repeats until the server is gone.
async fn work(server: Arc<Server>, mut ledger: Ledger, round: u64) -> Ledger {
    let gone = AtomicBool::new(false);
    let mut turn = round;
    while !gone.load(Ordering::Relaxed) {
        turn += 1;
        let step = async {
            configure(&server, &mut ledger, 3.0 + (turn % 3) as f64).await?;
            loop_until_refused(&server, &mut ledger).await?;
            activate(&server, &mut ledger).await
        };
        if step.await.is_err() {
            gone.store(true, Ordering::Relaxed);
        }
    }
    ledger
}

async fn configure(server: &Server, ledger: &mut Ledger, threshold: f64) -> Result<(), String> {
    ledger.threshold_in_doubt = Some(threshold);
    let path = format!("/api/agents/{}/kill-switch", ledger.name);
    let answer = server.try_api(Method::PUT, &path, Some(json!({"enabled": true, "threshold": threshold}))).await?;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    ledger.threshold = Some(threshold);
    ledger.threshold_in_doubt = None;
    Ok(())
}

async fn loop_until_refused(server: &Server, ledger: &mut Ledger) -> Result<(), String> {
    let agent = server.agent(&ledger.name);
    ledger.kill_in_doubt = true;
    for _ in 0..100 {
        let answer = agent.try_chat(&crate::support::openai_request(QUESTION)).await?;
        if answer.is_inactive_response() {
            let incident = answer.json()["incident_id"].as_str().unwrap().to_owned();
            ledger.incidents.insert(incident.clone());
            ledger.inactive = Some(incident);
            ledger.kill_in_doubt = false;
            return Ok(());
        }
        assert_eq!(answer.status, 200, "{:?}", answer.body);
    }
    panic!("{} is never killed", ledger.name);
}

async fn activate(server: &Server, ledger: &mut Ledger) -> Result<(), String> {
    ledger.activation_in_doubt = true;
    let path = format!("/api/agents/{}", ledger.name);
    let answer = server.try_api(Method::PATCH, &path, Some(json!({"active": true}))).await?;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    ledger.activation_in_doubt = false;
    ledger.inactive = None;
    Ok(())
}

/// After a restart: everything acknowledged is stored. What was in doubt may be stored or not, and
/// is settled now.
async fn check(server: &Server, ledger: &mut Ledger, round: u64) {
    let answer = server.try_api(Method::GET, &format!("/api/agents/{}", ledger.name), None).await.unwrap();
    if answer.status == 404 {
        assert!(ledger.threshold.is_none(), "round {round}: {} is gone", ledger.name);
        return;
    }
    let agent = answer.json();
    let threshold = agent["kill_switch"]["threshold"].as_f64();
    assert!(
        threshold == ledger.threshold || threshold == ledger.threshold_in_doubt || ledger.threshold.is_none(),
        "round {round}: threshold {threshold:?}, {ledger:?}"
    );
    check_activity(&agent, ledger, round);
    let known: BTreeSet<String> = server
        .incidents(&ledger.name)
        .await
        .iter()
        .map(|incident| incident["id"].as_str().unwrap().to_owned())
        .collect();
    assert!(ledger.incidents.is_subset(&known), "round {round}: incidents are missing, {ledger:?} {known:?}");
    ledger.incidents = known;
    ledger.threshold = threshold;
    ledger.inactive = agent["incident_id"].as_str().map(str::to_owned);
    (ledger.threshold_in_doubt, ledger.activation_in_doubt, ledger.kill_in_doubt) = (None, false, false);
}

fn check_activity(agent: &Value, ledger: &Ledger, round: u64) {
    match &ledger.inactive {
        Some(incident) if agent["active"] == false => assert_eq!(agent["incident_id"], *incident, "round {round}"),
        Some(_) => assert!(ledger.activation_in_doubt, "round {round}: an acknowledged kill is lost: {ledger:?}"),
        None if agent["active"] == false => {
            assert!(ledger.kill_in_doubt, "round {round}: killed by nobody: {ledger:?}")
        }
        None => {}
    }
}

/// With no other user: the file is sound, and kills, events and incidents agree.
async fn check_database(folder: &std::path::Path) {
    let path = folder.join("agentgazer.db");
    let mut database = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
    let sound: String = sqlx::query("pragma integrity_check").fetch_one(&mut database).await.unwrap().get(0);
    assert_eq!(sound, "ok");
    let half = "
        select count(*) from incidents i where
            i.id not in (select incident_id from events where event_type = 'kill_switch' and incident_id is not null)
            or (i.state = 'open' and not exists (select 1 from agents a where a.incident_id = i.id and a.active = 0))
            or not exists (select 1 from evidence v where v.incident_id = i.id)";
    let half: i64 = sqlx::query(half).fetch_one(&mut database).await.unwrap().get(0);
    assert_eq!(half, 0, "incidents without their kill");
    database.close().await.unwrap();
}
