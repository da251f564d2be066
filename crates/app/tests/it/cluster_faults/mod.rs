//! Three replicas behind a balancer, under load, while replicas, engines and wires fail. What was
//! promised is then checked on the whole history, and every verdict is compared with a replay.
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

/// Calls between one fault and the next.
const CALLS: u64 = 20;

/// Ends a run and checks it.
/// The engine was out of reach or emptied `outages` times.
async fn check(mut site: Site, outages: usize) {
    site.serve(CALLS).await;
    site.heal().await;
    site.serve(CALLS).await;
    site.rest().await;
    check_history(&site, outages).await;
    let compared = check_replay(&site);
    assert!(compared > 0, "no call was compared");
}

fn rounds() -> usize {
    std::env::var("CLUSTER_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// Half of the rounds end a replica, half of them the engine.
async fn kills_of_replicas_and_engine_lose_nothing(engine: Engine) {
    let mut site = Site::start(engine).await;
    for round in 0..rounds() {
        site.serve(CALLS + round as u64 % 7).await;
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

/// What hangs is worse than what is dead.
async fn hangs_and_bad_wires_lose_nothing(engine: Engine) {
    let site = Site::start(engine).await;
    site.serve(CALLS).await;
    site.replicas[0].as_ref().unwrap().signal("STOP");
    site.serve(CALLS / 2).await;
    site.replicas[0].as_ref().unwrap().signal("CONT");
    site.serve(CALLS).await;
    site.signal_engine("STOP");
    site.serve(CALLS).await;
    site.signal_engine("CONT");
    for fault in [Fault::RequestsHeld, Fault::AnswersHeld, Fault::SlowAndLossy] {
        site.serve(CALLS).await;
        let replicas = if fault == Fault::SlowAndLossy { 0..REPLICAS } else { 1..2 };
        site.set_fault(replicas, fault);
        site.serve(CALLS).await;
        site.set_fault(0..REPLICAS, Fault::None);
    }
    if let Some(redis) = &site.redis {
        site.serve(CALLS).await;
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

/// The database is stopped as a crash does, comes back, and then only reads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_and_read_only_database_loses_nothing() {
    let site = Site::start(Engine::Valkey).await;
    site.serve(CALLS).await;
    site.postgres.stop_immediately();
    site.serve(CALLS).await;
    site.postgres.start_again();
    site.serve(CALLS).await;
    let name = site.database.rsplit('/').next().unwrap().to_owned();
    let end_sessions = "select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()";
    let read_only = format!("alter database {name} set default_transaction_read_only = on");
    site.postgres.execute(&site.database, &read_only);
    site.postgres.execute(&site.database, end_sessions);
    site.serve(CALLS).await;
    let reset = format!("set transaction read write; alter database {name} reset default_transaction_read_only");
    site.postgres.execute(&site.database, &reset);
    site.postgres.execute(&site.database, end_sessions);
    check(site, 0).await;
}

/// The unlogged tables of the engine are empty on the standby, and it may lack the newest events.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failover_to_a_standby_loses_nothing() {
    let mut site = Site::start(Engine::Postgres).await;
    site.serve(CALLS).await;
    let standby = site.postgres.start_standby();
    site.serve(CALLS).await;
    site.fail_over(standby);
    site.heal().await;
    // Its log is replayed afterwards.
    let known = format!("select agent from share_agents where agent = '{}'", site::WALKER);
    eventually("a call is agreed on again", async || (!site.query(&known).is_empty()).then_some(())).await;
    check(site, 1).await;
}

/// One replica after the other is replaced, as an upgrade does: no call is lost, and nothing is
/// degraded.
async fn rolling_restart_fails_no_call(engine: Engine) {
    let mut site = Site::start(engine).await;
    for number in 0..REPLICAS {
        site.serve(CALLS).await;
        site.drain_replica(number).await;
        site.serve(CALLS / 2).await;
        site.start_replica(number).await;
    }
    site.serve(CALLS).await;
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
