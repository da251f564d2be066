//! Costs, from the provider's answer to the commands that show them.

use serde_json::json;

use crate::support::{Server, ServerBuilder, provider};

fn question(model: &str, text: &str) -> serde_json::Value {
    json!({"model": model, "messages": [{"role": "user", "content": text}]})
}

async fn after_two_calls(url: &str) -> Server {
    let server = ServerBuilder::new(url).start();
    server.agent("spender").chat(&question("gpt-4o", "What does it cost?")).await;
    server.agent("spender").chat(&question("unheard-of", "And this one?")).await;
    server
}

#[tokio::test]
async fn a_call_is_priced_and_an_unknown_model_is_unpriced() {
    let provider = provider().await;
    let server = after_two_calls(&provider.url()).await;
    let events = server.get("/api/events?agent=spender").await;
    let [unpriced, priced] = events["items"].as_array().unwrap().as_slice() else { panic!("{events}") };
    assert_eq!((&unpriced["model"], &unpriced["cost_usd"]), (&json!("unheard-of"), &json!(null)));
    let tokens = |name: &str| priced[name].as_f64().unwrap();
    let cached = priced["details"]["tokens_cached"].as_f64().unwrap();
    let expected = ((tokens("tokens_in") - cached) * 2.5 + cached * 1.25 + tokens("tokens_out") * 10.0) / 1e6;
    assert!((priced["cost_usd"].as_f64().unwrap() - expected).abs() < 1e-12, "{priced}");

    let stats = server.get("/api/agents/spender/stats?range=24h").await;
    assert_eq!((&stats["requests"], &stats["unpriced_requests"]), (&json!(2), &json!(1)));
    assert_eq!(stats["cost_usd"], priced["cost_usd"]);
}

#[tokio::test]
async fn costs_and_agents_are_shown_in_the_terminal() {
    let provider = provider().await;
    let server = after_two_calls(&provider.url()).await;
    let costs = server.run(&["costs", "--by", "model", "--since", "7d"]);
    for part in ["MODEL", "gpt-4o", "unheard-of", "1 unpriced", "total", "in the same length of time before"] {
        assert!(costs.said().contains(part), "{part}: {}", costs.stdout);
    }
    assert_eq!(server.run(&["costs", "--by", "agent", "--json"]).json()["agents"][0]["agent_id"], "spender");
    assert!(server.run(&["costs", "--by", "conversation", "--agent", "spender"]).said().contains("CONVERSATION"));
    assert_eq!(server.run(&["costs", "--since", "soon"]).code, Some(2));
    assert_eq!(server.run(&["costs", "--by", "conversation"]).code, Some(2));

    let top = server.run(&["top", "--once"]);
    assert!(top.said().contains("spender") && top.stdout.contains("0.0/10.0"), "{}", top.stdout);
    assert_eq!(server.run(&["top"]).code, Some(2), "there is no terminal");
}

#[tokio::test]
async fn own_prices_take_precedence_and_their_mistakes_are_named() {
    let provider = provider().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prices.toml");
    std::fs::write(&file, "[openai.\"unheard-of\"]\ninput = 1000000\noutput = 0\n").unwrap();
    let setting = format!("prices.file={}", file.display());
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", &setting]).start();
    server.agent("spender").chat(&question("unheard-of", "And this one?")).await;
    let events = server.get("/api/events?agent=spender").await;
    assert_eq!(events["items"][0]["cost_usd"], events["items"][0]["tokens_in"].as_f64().unwrap());

    std::fs::write(&file, "[openai.\"unheard-of\"]\ninput = 1\n").unwrap();
    let run = crate::support::run(&["start", "--set", &setting]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("openai.\"unheard-of\".output is missing"), "{}", run.stderr);
}
