//! An engine that becomes unreachable for some time after a third of a budget is spent.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use http::Method;
use serde_json::json;

use super::checks::check_sums;
use super::relay::Fault;
use super::site::{Engine, REPLICAS, Site};
use crate::support::{eventually, openai_request};

/// How many calls the budget pays for.
const PAID: usize = 30;
/// How many calls may stay reserved until their tickets expire: those that the engine admitted
/// although no answer came.
const LOST: usize = 4;

/// Costs that replicas cause while they decide alone count once they agree again.
async fn budget_holds_after_an_outage(engine: Engine) {
    let site = Site::without_load(engine).await;
    for (agent, fault) in [("unasked", Fault::RequestsHeld), ("unanswered", Fault::AnswersHeld)] {
        let pays = async |number: usize| {
            let mut request = openai_request(&format!("Question {number:02}: why does the import fail?"));
            request["model"] = json!("gpt-5-mini");
            site.load.call(agent, &request).await.is_some_and(|answer| answer.status == 200)
        };
        assert!(pays(0).await);
        limit(&site, agent).await;
        for number in 1..10 {
            assert!(pays(number).await, "call {number}");
        }
        site.set_fault(0..REPLICAS, fault);
        // Each replica has a third of what was left.
        for number in 10..25 {
            assert!(pays(number).await, "call {number}, {fault:?}");
        }
        site.set_fault(0..REPLICAS, Fault::None);
        site.wait_until_healthy().await;
        let mut passed = 25;
        for number in 25..50 {
            passed += usize::from(pays(number).await);
        }
        assert!(
            (PAID - LOST..=PAID + 1).contains(&passed),
            "{passed} calls passed, {PAID} and a half are paid for: {fault:?}"
        );
    }
    check_sums(&site);
}

/// Sets the budget of an agent that has not called yet.
async fn limit(site: &Site, agent: &str) {
    let cost = eventually("the event of the call is stored", async || {
        site.running_replica().events(agent, "llm_call").await.first().and_then(|event| event["cost_usd"].as_f64())
    });
    let policy = json!({"budget_daily_usd": cost.await * (PAID as f64 + 0.5)});
    site.running_replica().kill_switch(agent, json!({"enabled": false})).await;
    let path = format!("/api/agents/{agent}/policy");
    site.running_replica().api(Method::PUT, &path, Some(policy)).await;
    for server in site.replicas.iter().flatten() {
        eventually("the policy holds everywhere", async || {
            server.get(&path).await["budget_daily_usd"].is_number().then_some(())
        })
        .await;
    }
}

/// The host of the engine vanishes while there are many more calls in flight than connections to
/// it, and another host takes its address. No connection to the old host is ever closed.
async fn replicas_agree_again_after_the_host_vanished(engine: Engine) {
    let site = Site::without_load(engine).await;
    for agent in (0..9).map(|number| format!("agent-{number}")).chain(["later".to_owned()]) {
        site.running_replica().kill_switch(&agent, json!({"enabled": true, "threshold": 10_000.0})).await;
    }
    let is_over = AtomicBool::new(false);
    let call = async |caller: usize| {
        let agent = format!("agent-{}", caller % 9);
        for turn in 0.. {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            site.load.call(&agent, &openai_request(&format!("Question {turn} of caller {caller}"))).await;
        }
    };
    let outage = async {
        site.wait_for_calls(200).await;
        site.set_fault(0..REPLICAS, Fault::Vanished);
        site.wait_for_calls(100).await;
        site.set_fault(0..REPLICAS, Fault::None);
        site.wait_until_healthy().await;
        is_over.store(true, Ordering::Relaxed);
        for server in site.replicas.iter().flatten() {
            eventually("a call is agreed on", async || {
                let answer = server.agent("later").ask("What is the capital of France?").await;
                (answer.status == 200 && answer.header("x-agentgazer-mode").is_empty()).then_some(())
            })
            .await;
        }
        for server in site.replicas.iter().flatten() {
            eventually("what came since is stored", async || {
                let count = server.events("later", "llm_call").await.len();
                (count >= REPLICAS).then_some(())
            })
            .await;
        }
    };
    tokio::join!(outage, join_all((0..60).map(call)));
    site.load.history.check_kills();
    check_sums(&site);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_agree_again_after_the_host_of_postgres_vanished() {
    replicas_agree_again_after_the_host_vanished(Engine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_agree_again_after_the_host_of_valkey_vanished() {
    replicas_agree_again_after_the_host_vanished(Engine::Valkey).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budget_holds_after_an_outage_of_postgres() {
    budget_holds_after_an_outage(Engine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budget_holds_after_an_outage_of_valkey() {
    budget_holds_after_an_outage(Engine::Valkey).await;
}
