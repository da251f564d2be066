//! The policy of an agent, the agents nearest to a budget, and the default policy.

use axum::http::StatusCode;
use guard::Charge;
use model::{AgentId, NanoUsd, Policy, PolicyChange};
use serde_json::json;

use super::Browser;
use crate::server::Server;

const FORM: &str = "/agents/bot/policy";

async fn server() -> Server {
    let server = Server::start().await;
    server.put("/api/agents/bot/kill-switch", json!({})).await;
    server
}

fn charge(server: &Server, agent: &str, nanos: i64) {
    let agent = AgentId::parse(agent).unwrap();
    let (time, provider) = (server.web.clock.now(), "openai".to_owned());
    let charge = Charge { time, provider, cost: NanoUsd::new(nanos), ..Charge::default() };
    server.web.guard.policies().settle(&agent, None, &charge);
}

#[tokio::test]
async fn a_policy_is_set_line_by_line_and_taken_back() {
    let server = server().await;
    let browser = Browser::new(&server).await;
    assert!(browser.page("/agents/bot").await.contains("No limits"));
    let fields = "budget_daily_usd=5&budget_weekly_usd=&budget_monthly_usd=&budget_conversation_usd=%240.25\
        &time_zone=Europe%2FBerlin&mon_0=on&fri_0=on&from_0=22%3A00&to_0=06%3A00\
        &rate_provider_0=openai&requests_0=60&tokens_0=&model_provider_0=*&model_0=&use_0=gpt-5-mini";
    browser.submit(FORM, fields, "/agents/bot?done=saved").await;
    let policy = server.json("/api/agents/bot/policy").await;
    assert_eq!((&policy["budget_daily_usd"], &policy["budget_conversation_usd"]), (&json!(5.0), &json!(0.25)));
    assert_eq!(policy["allowed_hours"], json!([{"days": ["mon", "fri"], "from": "22:00", "to": "06:00"}]));
    assert_eq!(policy["rate_limits"][0]["requests_per_minute"], 60);
    assert_eq!(policy["model_overrides"], json!([{"provider": "*", "model": "*", "use": "gpt-5-mini"}]));

    let page = browser.page("/agents/bot").await;
    for said in ["$0.00 of $5.00", "It may call Mon, Fri 22:00–06:00", "At most 60 calls a minute to openai.", "from_1"]
    {
        assert!(page.contains(said), "{said}");
    }
    browser.submit("/agents/bot/policy/reset", "", "/agents/bot?done=reset").await;
    assert_eq!(server.json("/api/agents/bot/policy").await["is_default"], true);
}

#[tokio::test]
async fn a_wrong_policy_names_its_field_keeps_what_was_typed_and_changes_nothing() {
    let server = server().await;
    let browser = Browser::new(&server).await;
    for (fields, said, kept) in [
        ("budget_daily_usd=much", "Budget per day must be a number of dollars", "value=\"much\""),
        ("budget_weekly_usd=-3", "Budget per week must be a number of dollars", "value=\"-3\""),
        ("time_zone=Mars%2FOlympus", "Time zone must be the IANA name", "value=\"Mars/Olympus\""),
        (
            "from_0=9&to_0=18%3A00&mon_0=on",
            "Allowed hours, line 1: from must be a time of day",
            "name=\"mon_0\" checked",
        ),
        ("from_0=09%3A00&to_0=18%3A00", "Allowed hours, line 1: days must name", "value=\"18:00\""),
        (
            "rate_provider_0=*&requests_0=fast&tokens_0=",
            "Rates, line 1: calls must be a whole number",
            "value=\"fast\"",
        ),
        ("model_provider_0=*&model_0=a&use_0=%22%3E%3Cb%3E", "Models, line 1: model must be", "&#34;&#62;&#60;b&#62;"),
    ] {
        let answer = browser.post(FORM, &format!("budget_monthly_usd=100&{fields}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{fields}");
        for expected in [said, kept, "Nothing was changed", "value=\"100\""] {
            assert!(answer.text.contains(expected), "{fields}: {expected}");
        }
    }
    assert_eq!(server.web.store.policies().await.unwrap(), []);
}

#[tokio::test]
async fn the_agents_nearest_to_a_budget_come_first() {
    let server = server().await;
    let browser = Browser::new(&server).await;
    assert!(browser.page("/costs").await.contains("Nothing has a budget."));
    for (agent, cents) in [("far", 10), ("spent", 500), ("near", 450)] {
        let budget = json!({"budget_daily_usd": 5, "budget_monthly_usd": 1000});
        server.put(&format!("/api/agents/{agent}/policy"), budget).await;
        charge(&server, agent, cents * 10_000_000);
    }
    let page = browser.page("/costs").await;
    let places = ["budget-spent", "budget-near", "budget-far"].map(|key| page.find(key).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains("100 %, refused") && page.contains("$4.50 of $5.00"), "{page}");
    let agents = browser.page("/agents").await;
    assert!(
        agents.contains("href=\"/agents/spent#policy\">Budget spent") && !agents.contains("near#policy"),
        "{agents}"
    );
}

#[tokio::test]
async fn the_default_policy_is_said_and_changed_in_the_settings() {
    let server = server().await;
    let browser = Browser::new(&server).await;
    assert!(browser.page("/settings").await.contains("No limits: agents may spend any amount"));
    let change = json!({"budget_weekly_usd": 20, "rate_limits": [{"provider": "*", "requests_per_minute": 30}]});
    let change: PolicyChange = serde_json::from_value(change).unwrap();
    let default = change.apply(&Policy::default()).unwrap();
    let server = Server::with_policy(default).await;
    let browser = Browser::new(&server).await;
    let page = browser.page("/settings").await;
    for said in ["At most $20.00 a week.", "At most 30 calls a minute to all providers together."] {
        assert!(page.contains(said), "{said}");
    }
    browser.submit("/settings/policy", "budget_daily_usd=5&time_zone=Asia%2FTokyo", "/settings?done=saved").await;
    let page = browser.page("/settings").await;
    assert!(page.contains("At most $5.00 a day.") && !page.contains("$20.00"), "the form is the whole policy");
    let wrong = browser.post("/settings/policy", "budget_daily_usd=much").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("Budget per day must be") && wrong.text.contains("value=\"much\""), "{}", wrong.text);
    server.put("/api/agents/bot/kill-switch", json!({})).await;
    assert!(browser.page("/agents/bot").await.contains("$0.00 of $5.00"));
    browser.submit("/settings/policy/reset", "", "/settings?done=as-configured").await;
    assert!(browser.page("/settings").await.contains("At most $20.00 a week."));
    assert!(
        browser
            .page("/agents/bot")
            .await
            .contains("the <a href=\"/settings#default-policy\">default policy</a> applies")
    );
}
