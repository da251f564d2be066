//! A person sets a budget for an agent, the agent spends it, and the page shows it.

use serde_json::{Value, json};

use crate::driver::{Browser, Kind};
use crate::support::{Answer, Server, ServerBuilder, provider};

const AGENT: &str = "saver";

/// Lets `agent` ask a question of a model whose price is known.
pub(crate) async fn ask(server: &Server, agent: &str, number: usize) -> Answer {
    let question = format!("Question {number}: why does the import of customer records fail?");
    let messages = json!([{"role": "user", "content": question}]);
    server.agent(agent).chat(&json!({"model": "gpt-4o", "messages": messages})).await
}

async fn policy(server: &Server) -> Value {
    server.get(&format!("/api/agents/{AGENT}/policy")).await
}

/// Spends a budget that is set with the form: refusal, bar, and removal.
async fn spend_a_budget(kind: Kind, is_live: bool) {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    assert_eq!(ask(&server, AGENT, 0).await.status, 200);
    let cost = server.events(AGENT, "llm_call").await[0]["cost_usd"].as_f64().unwrap();
    let browser = Browser::logged_in(&server, kind).await;
    browser.go(&format!("/agents/{AGENT}")).await;
    browser.wait_for_text("#budgets", "No limits").await;
    browser.click("#policy-form summary").await;
    type_nonsense(&server, &browser).await;
    // Half a call more than what is spent: one call passes, the next is refused.
    set_a_budget(&server, &browser, cost * 1.5).await;
    assert_eq!(ask(&server, AGENT, 1).await.status, 200);
    let refused = ask(&server, AGENT, 2).await;
    assert_eq!((refused.status.as_u16(), refused.header("x-agentgazer-blocked")), (400, "budget_exceeded"));
    if !is_live {
        browser.reload().await;
    }
    see_it_spent_and_take_it_back(&browser).await;
    assert_eq!(ask(&server, AGENT, 3).await.status, 200);
}

/// Checks that an invalid value is named, the input stays, and nothing is changed.
async fn type_nonsense(server: &Server, browser: &Browser) {
    browser.type_into("input[name=budget_daily_usd]", "a lot").await;
    browser.type_into("input[name=time_zone]", "Europe/Berlin").await;
    browser.click("#policy-form form > button").await;
    browser.wait_for_text("#policy-error", "Budget per day must be a number of dollars").await;
    assert!(browser.find("input[name=budget_daily_usd][aria-invalid=true]").await.is_some());
    assert_eq!(typed(browser, "budget_daily_usd").await, "a lot");
    assert_eq!(typed(browser, "time_zone").await, "Europe/Berlin");
    assert_eq!(policy(server).await["is_default"], true);
}

async fn set_a_budget(server: &Server, browser: &Browser, dollars: f64) {
    browser.type_into("input[name=budget_daily_usd]", &format!("{dollars:.9}")).await;
    browser.type_into("input[name=requests_0]", "1000").await;
    browser.click("#policy-form form > button").await;
    browser.wait_for_text("#notice", "Saved.").await;
    browser.wait_for_text("#budgets", "Today, 66 % spent").await;
    let holds = policy(server).await;
    assert_eq!((&holds["time_zone"], &holds["is_default"]), (&json!("Europe/Berlin"), &json!(false)));
    assert_eq!(holds["rate_limits"][0]["requests_per_minute"], 1000);
}

async fn see_it_spent_and_take_it_back(browser: &Browser) {
    browser.wait_for_text("#budgets", "Today, 133 % spent: calls are refused").await;
    browser.wait_for_text("#requests", "budget spent").await;
    browser.go("/costs").await;
    browser.wait_for_text("main", "133 %, refused").await;
    browser.click(&format!("tr[data-key='budget-{AGENT}'] a")).await;
    browser.click("form[action$='/policy/reset'] button").await;
    browser.wait_for_text("#notice", "default policy again").await;
    browser.wait_for_text("#budgets", "No limits").await;
}

async fn typed(browser: &Browser, field: &str) -> String {
    let element = browser.wait_for(&format!("#policy-form input[name={field}]")).await;
    browser.property(&element, "value").await
}

#[tokio::test]
async fn a_budget_that_is_set_in_the_browser_is_spent_and_seen() {
    spend_a_budget(Kind::DESKTOP, true).await;
}

#[tokio::test]
async fn the_policy_form_works_without_script() {
    spend_a_budget(Kind::WITHOUT_SCRIPT, false).await;
}
