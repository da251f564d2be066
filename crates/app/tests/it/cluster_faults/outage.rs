//! An engine that is out of reach for a while when a third of a budget is spent.

use http::Method;
use serde_json::json;

use super::relay::Fault;
use super::site::{Engine, REPLICAS, Site};
use crate::support::{eventually, openai_request};

/// How many calls the budget pays for.
const PAID: usize = 30;
/// How many calls may stay reserved until their tickets expire: those that the engine admitted
/// although no answer came.
const LOST: usize = 4;

/// What replicas spend while they decide alone counts when they agree again.
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
        site.heal().await;
        let mut passed = 25;
        for number in 25..50 {
            passed += usize::from(pays(number).await);
        }
        assert!(
            (PAID - LOST..=PAID + 1).contains(&passed),
            "{passed} calls passed, {PAID} and a half are paid for: {fault:?}"
        );
    }
}

/// Sets the agent's budget, of which its first call is the first.
async fn limit(site: &Site, agent: &str) {
    let cost = eventually("the event of the call is stored", async || {
        site.any().events(agent, "llm_call").await.first().and_then(|event| event["cost_usd"].as_f64())
    });
    let policy = json!({"budget_daily_usd": cost.await * (PAID as f64 + 0.5)});
    site.any().kill_switch(agent, json!({"enabled": false})).await;
    let path = format!("/api/agents/{agent}/policy");
    site.any().api(Method::PUT, &path, Some(policy)).await;
    for server in site.replicas.iter().flatten() {
        eventually("the policy holds everywhere", async || {
            server.get(&path).await["budget_daily_usd"].is_number().then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budget_holds_after_an_outage_of_postgres() {
    budget_holds_after_an_outage(Engine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budget_holds_after_an_outage_of_valkey() {
    budget_holds_after_an_outage(Engine::Valkey).await;
}
