//! Three replicas behind a load balancer, under load, while replicas, engines and connections fail.
//! The whole history is checked afterwards, and every verdict is compared with a replay.
//!
//! `scripts/cluster-faults 300` for a long run of kill -9.

#![allow(clippy::print_stdout, reason = "says how much was compared, and prints figures")]

mod checks;
mod figures;
mod history;
mod load;
mod lost_answers;
mod outage;
mod relay;
mod replay_check;
mod site;

use std::sync::atomic::Ordering;

use checks::check_history;
use relay::Fault;
use replay_check::check_replay;
use site::{Engine, REPLICAS, Site};

use crate::support::eventually;

/// The number of calls between two faults.
const CALLS: u64 = 20;

/// Ends a run and checks it. The engine was unreachable or emptied `outages` times.
async fn check(mut site: Site, outages: usize) {
    site.wait_for_calls(CALLS).await;
    site.wait_until_healthy().await;
    site.wait_for_calls(CALLS).await;
    site.end_load().await;
    check_history(&site, outages).await;
    let compared = check_replay(&site);
    assert!(compared > 0, "no call was compared");
}

fn rounds() -> usize {
    std::env::var("CLUSTER_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// Kills a replica in half of the rounds, and the engine in the others.
async fn kills_of_replicas_and_engine_lose_nothing(engine: Engine) {
    let mut site = Site::start(engine).await;
    for round in 0..rounds() {
        site.wait_for_calls(CALLS + round as u64 % 7).await;
        if round % 2 == 0 {
            let number = round / 2 % REPLICAS;
            site.kill_replica(number);
            site.start_replica(number).await;
        } else {
            site.crash_engine().await;
        }
    }
    check(site, rounds() / 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_replicas_and_postgres_lose_nothing() {
    kills_of_replicas_and_engine_lose_nothing(Engine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_replicas_and_valkey_lose_nothing() {
    kills_of_replicas_and_engine_lose_nothing(Engine::Valkey).await;
}

/// A replica or an engine that hangs is harder to detect than one that is dead.
async fn hangs_and_bad_wires_lose_nothing(engine: Engine) {
    let site = Site::start(engine).await;
    site.wait_for_calls(CALLS).await;
    site.replicas[0].as_ref().unwrap().signal("STOP");
    site.wait_for_calls(CALLS / 2).await;
    site.replicas[0].as_ref().unwrap().signal("CONT");
    site.wait_for_calls(CALLS).await;
    site.signal_engine("STOP");
    site.wait_for_calls(CALLS).await;
    site.signal_engine("CONT");
    for fault in [Fault::RequestsHeld, Fault::AnswersHeld, Fault::SlowAndLossy] {
        site.wait_for_calls(CALLS).await;
        let replicas = if fault == Fault::SlowAndLossy { 0..REPLICAS } else { 1..2 };
        site.set_fault(replicas, fault);
        site.wait_for_calls(CALLS).await;
        site.set_fault(0..REPLICAS, Fault::None);
    }
    if let Some(redis) = &site.redis {
        site.wait_for_calls(CALLS).await;
        redis.execute("FLUSHALL");
    }
    check(site, 5).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hangs_and_bad_wires_on_postgres_lose_nothing() {
    hangs_and_bad_wires_lose_nothing(Engine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hangs_and_bad_wires_on_valkey_lose_nothing() {
    hangs_and_bad_wires_lose_nothing(Engine::Valkey).await;
}

/// The database crashes, returns, and is then read-only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_and_read_only_database_loses_nothing() {
    let site = Site::start(Engine::Valkey).await;
    site.wait_for_calls(CALLS).await;
    site.postgres.stop_immediately();
    site.wait_for_calls(CALLS).await;
    site.postgres.start_again();
    site.wait_for_calls(CALLS).await;
    let name = site.database.rsplit('/').next().unwrap().to_owned();
    let end_sessions = "select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()";
    let read_only = format!("alter database {name} set default_transaction_read_only = on");
    site.postgres.execute(&site.database, &read_only);
    site.postgres.execute(&site.database, end_sessions);
    site.wait_for_calls(CALLS).await;
    let reset = format!("set transaction read write; alter database {name} reset default_transaction_read_only");
    site.postgres.execute(&site.database, &reset);
    site.postgres.execute(&site.database, end_sessions);
    check(site, 0).await;
}

/// The unlogged tables of the engine are empty on the standby, and it may lack the newest events.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failover_to_a_standby_loses_nothing() {
    let mut site = Site::start(Engine::Postgres).await;
    site.wait_for_calls(CALLS).await;
    let standby = site.postgres.start_standby();
    site.wait_for_calls(CALLS).await;
    site.fail_over(standby);
    site.wait_until_healthy().await;
    // Its log is replayed afterwards.
    let known = format!("select agent from share_agents where agent = '{}'", site::WALKER);
    eventually("a call is agreed on again", async || (!site.query(&known).is_empty()).then_some(())).await;
    check(site, 1).await;
}

/// The replicas are replaced one after the other, as in an upgrade: no call is lost, and none is
/// decided alone.
async fn rolling_restart_fails_no_call(engine: Engine) {
    let mut site = Site::start(engine).await;
    for number in 0..REPLICAS {
        site.wait_for_calls(CALLS).await;
        site.drain_replica(number).await;
        site.wait_for_calls(CALLS / 2).await;
        site.start_replica(number).await;
    }
    site.wait_for_calls(CALLS).await;
    assert_eq!(site.load.failed.load(Ordering::Relaxed), 0, "calls without an answer");
    check(site, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rolling_restart_on_postgres_fails_no_call() {
    rolling_restart_fails_no_call(Engine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rolling_restart_on_valkey_fails_no_call() {
    rolling_restart_fails_no_call(Engine::Valkey).await;
}
