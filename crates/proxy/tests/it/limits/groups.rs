//! Groups: shared limits hold however many agents call at once.

use std::sync::Arc;

use http::StatusCode;
use model::{AgentPattern, Clock, Group, Policy, PolicyChange};

use crate::provider::{FakeProvider, chat_answer};
use crate::test_proxy::{PROMPT, TestProxy, begin, collect, json, post, question};

fn group(policy: &str) -> Arc<Group> {
    let policy = serde_json::from_str::<PolicyChange>(policy).unwrap().apply(&Policy::default()).unwrap();
    let agents = ["team-a/*", "x"].map(|pattern| AgentPattern::parse(pattern).unwrap()).into();
    Arc::new(Group { name: "team-a".to_owned(), agents, policy, ..Group::default() })
}

fn put(proxy: &TestProxy, policy: &str) {
    proxy.guard.policies().put_group(group(policy), None, Clock::System.now());
}

fn path(agent: &str) -> String {
    format!("/agents/{agent}/openai/v1/chat/completions")
}

/// Makes calls of many agents at once, and returns how many passed.
async fn call_at_once(proxy: &TestProxy, agents: usize) -> u64 {
    let address = proxy.address;
    let call = move |number: usize| async move {
        let request = post(&path(&format!("team-a:{number}")), question(&format!("{number}: {PROMPT}")));
        collect(begin(address, request).await).await
    };
    let calls: Vec<_> = (0..agents).map(|number| tokio::spawn(call(number))).collect();
    let mut passed = 0;
    for call in calls {
        let response = call.await.unwrap();
        match response.status() {
            StatusCode::OK => passed += 1,
            status => assert!(status == 400 || status == 429, "{response:?}"),
        }
    }
    passed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rate_of_a_group_is_shared_by_its_agents() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    put(&proxy, r#"{"rate_limits":[{"provider":"*","requests_per_minute":7}]}"#);
    assert_eq!((call_at_once(&proxy, 60).await, provider.calls()), (7, 7));
    let refused = proxy.call(post(&path("x"), question(PROMPT))).await;
    assert_eq!(
        (json(&refused)["block_reason"].as_str(), json(&refused)["group"].as_str()),
        (Some("rate_limited"), Some("team-a"))
    );
    assert_eq!(proxy.call(post(&path("other"), question(PROMPT))).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn budget_of_a_group_is_shared_by_its_agents() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    // As many calls pass as the budget pays for, and one more: the last may exceed it.
    put(&proxy, r#"{"budget_daily_usd":1000}"#);
    assert_eq!(proxy.call(post(&path("x"), question(PROMPT))).await.status(), 200);
    let of_one = proxy.guard.policies().group("team-a").unwrap().limits.spent(Clock::System.now())[0].nanos();
    assert!(of_one > 0);
    put(&proxy, &format!(r#"{{"budget_daily_usd":{}}}"#, (of_one * 10 + of_one / 2) as f64 / 1e9));
    assert_eq!(call_at_once(&proxy, 80).await, 10, "eleven with the first");
    let spent = proxy.guard.policies().group("team-a").unwrap().limits.spent(Clock::System.now())[0].nanos();
    assert_eq!(spent, of_one * 11);
    let refused = proxy.call(post(&path("x"), question(PROMPT))).await;
    assert_eq!(
        (json(&refused)["block_reason"].as_str(), json(&refused)["group"].as_str()),
        (Some("budget_exceeded"), Some("team-a"))
    );
    assert_eq!(proxy.call(post(&path("other"), question(PROMPT))).await.status(), 200);
}

#[tokio::test]
async fn call_refused_by_the_group_costs_its_agent_nothing() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    let x = model::AgentId::parse("x").unwrap();
    let own = r#"{"rate_limits":[{"provider":"*","requests_per_minute":3}]}"#;
    let own = serde_json::from_str::<PolicyChange>(own).unwrap().apply(&Policy::default()).unwrap();
    proxy.guard.policies().put(&x, own, None, Clock::System.now());
    put(&proxy, r#"{"budget_daily_usd":0}"#);
    for _ in 0..5 {
        let refused = proxy.call(post(&path("x"), question(PROMPT))).await;
        assert_eq!(json(&refused)["block_reason"], "budget_exceeded");
    }
    proxy.guard.policies().remove_group("team-a");
    assert_eq!(proxy.call(post(&path("x"), question(PROMPT))).await.status(), 200);
}

#[tokio::test]
async fn refusal_outside_the_hours_of_a_group_names_it() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    // Three days from now, whenever that is.
    let day = (model::Zone::default().weekday_and_minute(Clock::System.now()).0 as usize + 3) % 7;
    let day = model::Weekday::ALL[day].as_str();
    put(&proxy, &format!(r#"{{"allowed_hours":[{{"days":["{day}"],"from":"00:00","to":"24:00"}}]}}"#));
    let refused = json(&proxy.call(post(&path("x"), question(PROMPT))).await);
    assert_eq!((&refused["block_reason"], &refused["group"]), (&"outside_hours".into(), &"team-a".into()));
    // The agent's own policy is not what has to be changed.
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("its group 'team-a'") && !message.contains("agentgazer policy"), "{message}");
}
