//! A person sets limits for all agents in Settings, and they apply to new agents.

use model::Clock;
use serde_json::json;

use crate::agents::policy::ask;
use crate::driver::{Browser, Kind};
use crate::support::{Answer, Server, ServerBuilder, provider};

/// The agent with its own policy, to which the default does not apply.
const FREE: &str = "free";

fn is_refused(answer: &Answer, status: u16, reason: &str) -> bool {
    answer.status == status && answer.header("x-agentgazer-blocked") == reason
}

/// Limits rates, then budgets, then hours; each time another new agent is refused.
async fn limit_all_agents(kind: Kind) {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let own = json!({"rate_limits": [{"provider": "*", "requests_per_minute": 1000}]});
    server.api(http::Method::PUT, &format!("/api/agents/{FREE}/policy"), Some(own)).await;
    assert_eq!(ask(&server, FREE, 0).await.status, 200);
    let cost = server.events(FREE, "llm_call").await[0]["cost_usd"].as_f64().unwrap();
    let browser = Browser::logged_in(&server, kind).await;

    limit_rates(&server, &browser).await;
    limit_spending(&server, &browser, cost).await;
    limit_hours(&server, &browser).await;
    assert_eq!(ask(&server, FREE, 1).await.status, 200, "it has a policy of its own");

    browser.click("form[action='/settings/policy/reset'] button").await;
    browser.wait_for_text("#notice", "as configured again").await;
    browser.wait_for_text("section[aria-labelledby=default-policy]", "No limits").await;
    assert_eq!(ask(&server, "late-comer", 1).await.status, 200);
}

async fn open_form(browser: &Browser) {
    browser.go("/settings").await;
    browser.click("#policy-form summary").await;
}

/// Saves the form, and waits until the page says `limit`.
async fn save(browser: &Browser, limit: &str) {
    browser.click("#policy-form form > button").await;
    browser.wait_for_text("#notice", "Saved.").await;
    browser.wait_for_text("ul.limits", limit).await;
}

async fn limit_rates(server: &Server, browser: &Browser) {
    open_form(browser).await;
    browser.type_into("input[name=requests_0]", "a few").await;
    browser.click("#policy-form form > button").await;
    browser.wait_for_text("#policy-error", "Rates, line 1: calls must be a whole number").await;
    assert_eq!(ask(server, "early-bird", 0).await.status, 200, "nothing was changed");
    browser.type_into("input[name=requests_0]", "2").await;
    save(browser, "At most 2 calls a minute to all providers together.").await;
    for number in 0..2 {
        assert_eq!(ask(server, "in-a-hurry", number).await.status, 200);
    }
    let refused = ask(server, "in-a-hurry", 2).await;
    assert!(is_refused(&refused, 429, "rate_limited"), "{refused:?}");
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
}

async fn limit_spending(server: &Server, browser: &Browser, cost: f64) {
    open_form(browser).await;
    browser.type_into("input[name=requests_0]", "").await;
    // Half a call more than the cost of one: two pass, the next is refused.
    browser.type_into("input[name=budget_daily_usd]", &format!("{:.9}", cost * 1.5)).await;
    save(browser, "a day.").await;
    for number in 0..2 {
        assert_eq!(ask(server, "spender", number).await.status, 200);
    }
    let refused = ask(server, "spender", 2).await;
    assert!(is_refused(&refused, 400, "budget_exceeded"), "{refused:?}");
    browser.go("/agents/spender").await;
    browser.wait_for_text("#budgets", "It has no policy of its own: the default policy applies.").await;
    browser.wait_for_text("#budgets", "Today, 133 % spent: calls are refused").await;
}

/// Allows an hour far enough from now for any test to end before it.
async fn limit_hours(server: &Server, browser: &Browser) {
    let hour = Clock::System.now().as_millis() / 3_600_000;
    let later = |hours: i64| format!("{:02}:00", (hour + hours) % 24);
    open_form(browser).await;
    browser.type_into("input[name=budget_daily_usd]", "").await;
    for day in ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] {
        browser.click(&format!("input[name={day}_0]")).await;
    }
    browser.type_into("input[name=from_0]", &later(6)).await;
    browser.type_into("input[name=to_0]", &later(8)).await;
    save(browser, &format!("It may call every day {}–{}, and at no other time.", later(6), later(8))).await;
    let refused = ask(server, "night-owl", 0).await;
    assert!(is_refused(&refused, 400, "outside_hours"), "{refused:?}");
}

#[tokio::test]
async fn limits_that_are_set_in_settings_are_met_by_new_agents() {
    limit_all_agents(Kind::DESKTOP).await;
}

#[tokio::test]
async fn the_form_of_the_default_policy_works_without_script() {
    limit_all_agents(Kind::WITHOUT_SCRIPT).await;
}
