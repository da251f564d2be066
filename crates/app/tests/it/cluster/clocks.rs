//! Servers whose clocks show another day follow the clock of the engine.

use http::Method;
use serde_json::json;

use super::{Cluster, Engine, POSTGRES};
use crate::support::{ServerBuilder, eventually, openai_request, requests};

/// Makes a call of an agent with a budget, and returns whether it passed.
async fn passes(cluster: &Cluster, agent: &str, number: usize) -> bool {
    let mut request = openai_request(&format!("Question {number:02}: why does the import fail?"));
    request["model"] = json!("gpt-5-mini");
    cluster.servers[number % 3].agent(agent).chat(&request).await.status == 200
}

async fn servers_go_by_the_clock_of_the_engine(engine: Engine, name: &str) {
    let set_clock = |number, server: ServerBuilder| match number {
        0 => server,
        1 => server.clock("+26h"),
        _ => server.clock("-26h"),
    };
    let cluster = Cluster::start_each(&POSTGRES.create_database(), &engine.settings(), &[], set_clock).await;
    assert_eq!(cluster.loop_until_killed(&format!("{name}-looper")).await, 3);

    let agent = format!("{name}-spender");
    cluster.servers[0].kill_switch(&agent, json!({"enabled": false})).await;
    for number in 0..3 {
        assert!(passes(&cluster, &agent, number).await);
    }
    let cost = eventually("the events of the calls are stored", async || {
        let events = cluster.servers[0].events(&agent, "llm_call").await;
        (events.len() == 3).then(|| events[0]["cost_usd"].as_f64().unwrap())
    });
    let path = format!("/api/agents/{agent}/policy");
    let policy = json!({"budget_daily_usd": cost.await * 8.5});
    cluster.servers[1].api(Method::PUT, &path, Some(policy)).await;
    for server in &cluster.servers {
        eventually("the policy holds everywhere", async || {
            server.get(&path).await["budget_daily_usd"].is_number().then_some(())
        })
        .await;
    }
    let before = requests(&cluster.provider);
    for number in 3..40 {
        passes(&cluster, &agent, number).await;
    }
    let passed = 3 + requests(&cluster.provider) - before;
    assert!((8..=9).contains(&passed), "{passed} calls passed, eight and a half are paid for");
    let count = |sql: &str| POSTGRES.execute(&cluster.database, &format!("select count(*) from {sql}"));
    eventually("the calls are stored", async || {
        (count("events where event_type = 'llm_call'") == (3 + passed).to_string()).then_some(())
    })
    .await;
    assert_eq!(count("events where abs(timestamp - now_ms()) > 3600000"), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_go_by_the_clock_of_postgres() {
    servers_go_by_the_clock_of_the_engine(Engine::Postgres, "clock-p").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_go_by_the_clock_of_valkey() {
    servers_go_by_the_clock_of_the_engine(Engine::Valkey, "clock-v").await;
}
