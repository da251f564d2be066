//! Policies across the API, the command line, calls and restarts.

use fake_provider::{Behaviour, FakeProvider};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Server, ServerBuilder, provider, requests};

async fn set_policy(server: &Server, agent: &str, policy: Value) -> Value {
    server.api(Method::PUT, &format!("/api/agents/{agent}/policy"), Some(policy)).await
}

fn priced(number: usize) -> Value {
    let question = format!("Question {number}: why does the import of customer records fail?");
    json!({"model": "gpt-5-mini", "messages": [{"role": "user", "content": question}]})
}

fn is_refused(answer: &Answer, status: u16, reason: &str) -> bool {
    answer.status == status && answer.header("x-agentgazer-blocked") == reason
}

/// The cost of one call, in dollars.
async fn cost_of_a_call(server: &Server) -> f64 {
    server.agent("probe").chat(&priced(0)).await;
    server.events("probe", "llm_call").await[0]["cost_usd"].as_f64().unwrap()
}

#[tokio::test]
async fn two_hundred_calls_at_once_overshoot_a_budget_by_at_most_one_call() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let cost = cost_of_a_call(&server).await;
    set_policy(&server, "swarm", json!({"budget_daily_usd": cost * 5.5})).await;
    let agent = server.agent("swarm");
    let calls: Vec<_> = (0..200)
        .map(|number| {
            let agent = agent.clone();
            tokio::spawn(async move { agent.chat(&priced(number)).await })
        })
        .collect();
    let mut passed = 0;
    for call in calls {
        let answer = call.await.unwrap();
        assert!(answer.status == 200 || is_refused(&answer, 400, "budget_exceeded"), "{answer:?}");
        passed += u64::from(answer.status == 200);
    }
    assert!((5..=6).contains(&passed), "{passed} calls passed, five and a half are paid for");
    assert_eq!(requests(&provider), passed + 1, "what was refused was not sent");
    let spent = server.get("/api/agents/swarm/policy").await["spent_daily_usd"].as_f64().unwrap();
    assert!(spent < cost * 6.6, "{spent}");
    let blocked = server.events("swarm", "blocked").await;
    let counted: u64 = blocked.iter().map(|event| event["details"]["count"].as_u64().unwrap()).sum();
    assert_eq!(counted, 200 - passed);
    assert!(blocked.len() <= 3, "a storm makes a row a minute: {}", blocked.len());
}

#[tokio::test]
async fn a_budget_survives_a_restart_and_a_change_holds_from_the_next_call() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let cost = cost_of_a_call(&server).await;
    let agent = server.agent("saver");
    assert_eq!(agent.chat(&priced(1)).await.status, 200);
    // Spending before the policy was set counts.
    set_policy(&server, "saver", json!({"budget_daily_usd": cost * 1.5, "budget_conversation_usd": 100})).await;
    assert_eq!(agent.chat(&priced(2)).await.status, 200);
    assert!(is_refused(&agent.chat(&priced(3)).await, 400, "budget_exceeded"));
    let (builder, status) = server.terminate();
    assert!(status.success());

    let server = builder.start();
    let agent = server.agent("saver");
    assert!(is_refused(&agent.chat(&priced(4)).await, 400, "budget_exceeded"));
    set_policy(&server, "saver", json!({"budget_daily_usd": cost * 2.5})).await;
    assert_eq!(agent.chat(&priced(5)).await.status, 200);
    assert!(is_refused(&agent.chat(&priced(6)).await, 400, "budget_exceeded"));
    set_policy(&server, "saver", json!({"budget_daily_usd": null})).await;
    assert_eq!(agent.chat(&priced(7)).await.status, 200);
}

#[tokio::test]
async fn rates_go_on_after_a_restart() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let limits = json!([{"provider": "openai", "requests_per_minute": 3}]);
    set_policy(&server, "hasty", json!({"rate_limits": limits})).await;
    for number in 0..3 {
        assert_eq!(server.agent("hasty").chat(&priced(number)).await.status, 200);
    }
    let (builder, status) = server.terminate();
    assert!(status.success());
    let answer = builder.start().agent("hasty").chat(&priced(4)).await;
    assert!(is_refused(&answer, 429, "rate_limited"), "{answer:?}");
}

#[tokio::test]
async fn a_budget_survives_a_crash() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let cost = cost_of_a_call(&server).await;
    set_policy(&server, "saver", json!({"budget_monthly_usd": cost * 0.5, "time_zone": "Asia/Kathmandu"})).await;
    assert_eq!(server.agent("saver").chat(&priced(1)).await.status, 200);
    assert_eq!(server.events("saver", "llm_call").await.len(), 1);
    let server = server.kill().start();
    assert!(is_refused(&server.agent("saver").chat(&priced(2)).await, 400, "budget_exceeded"));
}

#[tokio::test]
async fn a_bug_in_detection_leaves_nothing_reserved() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).fault("scoring").start();
    let cost = cost_of_a_call(&server).await;
    set_policy(&server, "saver", json!({"budget_daily_usd": cost * 2.5})).await;
    for number in 0..3 {
        assert_eq!(server.agent("saver").chat(&priced(number)).await.status, 200, "{number}");
    }
    assert!(is_refused(&server.agent("saver").chat(&priced(3)).await, 400, "budget_exceeded"));
}

#[tokio::test]
async fn the_default_policy_is_for_agents_without_their_own() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", "policy.requests_per_minute=2"]).start();
    let agent = server.agent("new");
    for number in 0..2 {
        assert_eq!(agent.chat(&priced(number)).await.status, 200);
    }
    let refused = agent.chat(&priced(2)).await;
    assert!(is_refused(&refused, 429, "rate_limited"), "{refused:?}");
    assert_eq!(refused.header("retry-after"), refused.json()["retry_after_seconds"].to_string());
    assert_eq!(server.get("/api/agents/new/policy").await["is_default"], true);
    // Settings of people override the configuration, also after a restart.
    let said = server.run(&["policy", "*", "--rate", "*=3", "--budget-daily", "5"]);
    assert_eq!(
        said.said(),
        "all other agents: time zone UTC\n  budget per day $5.00\n  rate to *: 3 calls per minute\n"
    );
    assert_eq!(agent.chat(&priced(3)).await.status, 200);
    let (builder, _) = server.terminate();
    let server = builder.start();
    assert_eq!(server.get("/api/agents/new/policy").await["rate_limits"][0]["requests_per_minute"], 3);
    let agent = server.agent("new");
    set_policy(&server, "new", json!({"rate_limits": []})).await;
    assert_eq!(agent.chat(&priced(3)).await.status, 200);
}

#[tokio::test]
async fn the_command_line_shows_and_changes_a_policy() {
    let provider = FakeProvider::start(0, Behaviour::text("Done.")).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).start();
    let said = server.run(&["policy", "bot", "--create", "--budget-daily", "5", "--model", "openai/*=gpt-5-nano"]);
    assert_eq!(
        said.said(),
        "bot: time zone UTC\n  budget per day $5.00, $0.00 spent\n  model openai/* becomes gpt-5-nano\n"
    );
    assert_eq!(server.agent("bot").chat(&priced(0)).await.status, 200);
    let event = &server.events("bot", "llm_call").await[0];
    assert_eq!((&event["model"], &event["details"]["model_asked"]), (&json!("gpt-5-nano"), &json!("gpt-5-mini")));
    assert_eq!(
        server.run(&["policy", "bot", "--create", "--budget-daily", "none", "--json"]).json()["budget_daily_usd"],
        Value::Null
    );
    assert_eq!(server.run(&["policy", "bot", "--reset"]).said(), "bot: no limits\n");
    let wrong = server.run(&["policy", "bot", "--time-zone", "Mars/Olympus"]);
    assert!(wrong.code != Some(0) && wrong.stderr.contains("time_zone must be the IANA name"), "{wrong:?}");
}
