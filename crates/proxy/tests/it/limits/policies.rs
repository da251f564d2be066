//! Calls of agents that a policy limits.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use guard::{Charge, Refused};
use http::Response;
use model::{Action, AgentId, BlockReason, Clock, EventType, KillSwitch, NanoUsd, Policy, PolicyChange, Timestamp};

use crate::provider::{FakeProvider, LAST_CHUNK, Received, Step, chat_answer, chat_stream, chunk, stream_head, whole};
use crate::test_proxy::{
    CHAT, PROMPT, TestProxy, begin, collect, config, enabled_kill_switch, json, post, question, streamed_question,
};

/// What `chat_answer` costs: 11 tokens of gpt-5-mini at 0.25 and 7 at 2 dollars per million.
const COST: i64 = 11 * 250 + 7 * 2000;

fn bot() -> AgentId {
    AgentId::parse("bot").unwrap()
}

fn now() -> Timestamp {
    Clock::System.now()
}

fn limit(proxy: &TestProxy, policy: &str) {
    let change: PolicyChange = serde_json::from_str(policy).unwrap();
    let current = proxy.guard.policies().policy(&bot());
    proxy.guard.policies().put(&bot(), change.apply(&current).unwrap(), None, now());
}

fn budget(nanos: i64) -> String {
    format!(r#"{{"budget_daily_usd":{nanos}e-9}}"#)
}

fn spent(proxy: &TestProxy) -> i64 {
    proxy.guard.policies().counted(&bot()).unwrap().spent(now())[0].nanos()
}

fn check_refusal(response: &Response<Bytes>, status: u16, reason: &str) {
    assert_eq!(response.status(), status, "{:?}", response.body());
    assert_eq!(response.headers()["x-agentgazer-blocked"], reason);
    assert_eq!(json(response)["block_reason"], reason);
    assert_eq!(response.headers().contains_key("retry-after"), status == 429);
    assert_eq!(response.headers().get("x-should-retry").is_some_and(|it| it == "false"), status != 429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_at_once_overshoot_a_budget_by_at_most_one() {
    let provider = FakeProvider::sending(chat_answer("The import is repaired.")).await;
    let proxy = TestProxy::new(&provider).await;
    limit(&proxy, &budget(COST * 21 / 2));
    let address = proxy.address;
    let call = |number: usize| async move {
        let body = question(&format!("{number}: {PROMPT}"));
        collect(begin(address, post(CHAT, body)).await).await
    };
    let calls: Vec<_> = (0..200).map(|number| tokio::spawn(call(number))).collect();
    let mut passed = 0;
    for call in calls {
        let response = call.await.unwrap();
        if response.status() == 200 {
            passed += 1;
        } else {
            check_refusal(&response, 400, "budget_exceeded");
        }
    }
    assert_eq!((passed, provider.calls(), spent(&proxy)), (11, 11, 11 * COST));
}

/// Whether nothing is reserved: otherwise a call of any cost would have to wait.
fn nothing_is_reserved(proxy: &TestProxy) -> bool {
    let limits = proxy.guard.policies().counted(&bot()).unwrap();
    limit(proxy, &budget(spent(proxy) + 1));
    let charge = Charge { time: now(), provider: "openai".into(), ..Charge::default() };
    let is_free = !matches!(limits.admit(charge, now()), Err((Refused::BudgetHeld { .. }, _)));
    limit(proxy, &budget(i64::from(u32::MAX)));
    is_free
}

#[tokio::test]
async fn reservation_ends_with_every_outcome_of_a_call() {
    let half = || chunk(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"twelve bytes\"}}]}\n\n");
    let endings: [(&str, Vec<Step>); 5] = [
        ("an error of the provider", vec![Step::Send(whole("500 Oops", "application/json", "{}"))]),
        ("no answer", vec![Step::Close]),
        ("half an answer", vec![Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{".to_vec()), Step::Close]),
        ("half a stream", vec![Step::Send(stream_head("text/event-stream")), Step::Send(half()), Step::Close]),
        (
            "a whole stream",
            vec![
                Step::Send(stream_head("text/event-stream")),
                Step::Send(chunk(&chat_stream(&["a"]))),
                Step::Send(LAST_CHUNK.into()),
            ],
        ),
    ];
    for (name, steps) in endings {
        let provider = FakeProvider::new(move |_| steps.clone()).await;
        let mut proxy = TestProxy::new(&provider).await;
        limit(&proxy, &budget(i64::from(u32::MAX)));
        let response = proxy.begin(post(CHAT, streamed_question(PROMPT))).await;
        crate::test_proxy::read_until_end(response.into_body()).await;
        let event = proxy.event().await;
        assert!(nothing_is_reserved(&proxy), "{name}");
        assert_eq!(spent(&proxy), event.cost.map_or(0, NanoUsd::nanos), "{name}");
    }
}

#[tokio::test]
async fn spent_budget_refuses_the_first_call_after_the_clock_was_set() {
    let provider = FakeProvider::sending(chat_answer("The import is repaired.")).await;
    let clock = Clock::manual(now());
    let proxy = TestProxy::at(&provider, config(), KillSwitch::default(), clock.clone()).await;
    limit(&proxy, &budget(1));
    assert_eq!(proxy.ask(PROMPT).await.status(), 200);
    for hours in [24, -24, -48, 72, 960] {
        clock.set_by(hours * 3_600_000);
        check_refusal(&proxy.ask(PROMPT).await, 400, "budget_exceeded");
    }
}

#[tokio::test]
async fn reservation_ends_when_the_client_disconnects() {
    let begun = || vec![Step::Send(stream_head("text/event-stream")), Step::Send(chunk(b": hello\n\n")), Step::Hold];
    for steps in [vec![Step::Hold], begun()] {
        let answers = steps.len() > 1;
        let mut provider = FakeProvider::new(move |_| steps.clone()).await;
        let mut proxy = TestProxy::new(&provider).await;
        limit(&proxy, &budget(i64::from(u32::MAX)));
        let address = proxy.address;
        let call = tokio::spawn(async move { begin(address, post(CHAT, streamed_question(PROMPT))).await });
        provider.received().await;
        assert!(!nothing_is_reserved(&proxy), "it is in flight");
        match answers {
            true => drop(call.await.unwrap()),
            false => call.abort(),
        }
        provider.hung_up_on().await;
        proxy.event().await;
        assert!(spent(&proxy) > 0, "the provider was sent it");
        assert!(nothing_is_reserved(&proxy));
    }
}

/// An agent cannot get around its budget by hanging up before its answers begin.
#[tokio::test]
async fn calls_that_their_client_cancels_spend_the_budget() {
    let mut provider = FakeProvider::new(|_| vec![Step::Hold]).await;
    let mut proxy = TestProxy::new(&provider).await;
    // What is sent of each call costs some 6,000 nanodollars.
    limit(&proxy, &budget(20_000));
    let (address, mut cancelled) = (proxy.address, 0);
    loop {
        let body = question(&format!("{cancelled}: {PROMPT}"));
        let mut call = tokio::spawn(async move { begin(address, post(CHAT, body)).await });
        tokio::select! {
            _ = provider.received() => call.abort(),
            // The provider never answers: only a refusal comes.
            response = &mut call => {
                check_refusal(&collect(response.unwrap()).await, 400, "budget_exceeded");
                break;
            }
        }
        let event = proxy.event().await;
        assert_eq!((event.status, event.estimated), (Some(499), true));
        cancelled += 1;
        assert!(cancelled < 10, "cancelled calls cost nothing");
    }
    assert!((2..=4).contains(&cancelled), "{cancelled}");
    assert!(spent(&proxy) >= 20_000);
}

#[tokio::test]
async fn reservation_ends_when_a_loop_is_blocked() {
    let provider = FakeProvider::sending(chat_answer("I cannot do that, I am afraid.")).await;
    let proxy = TestProxy::with(&provider, config(), enabled_kill_switch(Action::Block)).await;
    limit(&proxy, &budget(i64::from(u32::MAX)));
    let mut calls = 0;
    while proxy.ask(PROMPT).await.status() == 200 {
        calls += 1;
        assert!(calls < 100, "never blocked");
    }
    assert!(nothing_is_reserved(&proxy));
    assert_eq!(spent(&proxy), provider.calls() as i64 * COST);
}

#[tokio::test]
async fn call_waits_while_others_reserve_the_rest_of_the_budget() {
    let provider =
        FakeProvider::new(|request: &Received| match String::from_utf8_lossy(&request.body).contains("never ends") {
            true => vec![Step::Hold],
            false => vec![Step::Send(chat_answer("Done."))],
        })
        .await;
    let mut provider = provider;
    let mut proxy = TestProxy::new(&provider).await;
    limit(&proxy, &budget(COST));
    let address = proxy.address;
    let first = tokio::spawn(async move { begin(address, post(CHAT, question("this never ends"))).await });
    provider.received().await;
    let second = tokio::spawn(async move { collect(begin(address, post(CHAT, question(PROMPT))).await).await });
    first.abort();
    assert_eq!(proxy.event().await.status, Some(499));
    assert_eq!(second.await.unwrap().status(), 200);
    check_refusal(&proxy.ask(PROMPT).await, 400, "budget_exceeded");
}

#[tokio::test]
async fn each_limit_refuses_with_its_own_reason() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = TestProxy::new(&provider).await;
    // Three days from now, whenever that is.
    let day = (model::Zone::default().weekday_and_minute(now()).0 as usize + 3) % 7;
    let day = model::Weekday::ALL[day].as_str();
    let hours = format!(r#"{{"allowed_hours":[{{"days":["{day}"],"from":"00:00","to":"24:00"}}]}}"#);
    let check = async |proxy: &mut TestProxy, policy: &str, status: u16, reason: BlockReason| {
        limit(proxy, policy);
        // Calls without a conversation are refused too.
        for request in [post(CHAT, question(PROMPT)), post("/agents/bot/openai/v1/embeddings", "{}")] {
            let response = proxy.call(request).await;
            check_refusal(&response, status, reason.as_str());
            let event = proxy.event().await;
            assert_eq!((event.event_type, event.block_reason), (EventType::Blocked, Some(reason)));
            assert_eq!((event.status, event.provider.as_deref()), (Some(status), Some("openai")));
        }
    };
    check(&mut proxy, &hours, 400, BlockReason::OutsideHours).await;
    check(&mut proxy, r#"{"allowed_hours":null,"budget_daily_usd":0}"#, 400, BlockReason::BudgetExceeded).await;
    assert_eq!(provider.calls(), 0);

    limit(&proxy, r#"{"budget_daily_usd":null,"rate_limits":[{"provider":"openai","requests_per_minute":1}]}"#);
    assert_eq!(proxy.ask(PROMPT).await.status(), 200);
    proxy.event().await;
    let response = proxy.ask(PROMPT).await;
    check_refusal(&response, 429, "rate_limited");
    let seconds = json(&response)["retry_after_seconds"].as_u64().unwrap();
    assert_eq!(response.headers()["retry-after"], seconds.to_string());
    assert!((1..=60).contains(&seconds));
    assert_eq!(proxy.call(post("/agents/bot/anthropic/v1/models", "{}")).await.status(), 200, "the limit is openai's");

    // Inactivity takes precedence over every other refusal.
    proxy.guard.deactivate(&bot(), now());
    check_refusal(&proxy.ask(PROMPT).await, 400, "inactive");
}

#[tokio::test]
async fn model_override_changes_only_the_model() {
    let mut provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = TestProxy::new(&provider).await;
    limit(&proxy, r#"{"model_overrides":[{"provider":"openai","model":"*","use":"gpt-5-nano"}]}"#);
    let body = "{\n \"messages\" : [{\"role\":\"user\",\"content\":\"h\\u0069\"}],\t\"model\":\"gpt-5\" , \"n\":1.0}";
    let expected = body.replace("\"gpt-5\"", "\"gpt-5-nano\"");
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(body.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    for (body, encoding) in [(body.as_bytes().to_vec(), None), (gzip, Some("gzip"))] {
        let mut request = post(CHAT, body);
        if let Some(encoding) = encoding {
            request.headers_mut().insert("content-encoding", encoding.parse().unwrap());
        }
        assert_eq!(proxy.call(request).await.status(), 200);
        let received = provider.received().await;
        assert_eq!(String::from_utf8_lossy(&received.body), expected);
        assert_eq!(received.header("content-length"), [expected.len().to_string()]);
        assert!(received.header("content-encoding").is_empty());
        let event = proxy.event().await;
        assert_eq!((event.model.as_deref(), event.model_asked.as_deref()), (Some("gpt-5-nano"), Some("gpt-5")));
    }
    // The requested model is already the right one: not a byte is changed.
    let same = "{\"model\" : \"gpt-5-nano\",\"messages\":[]}";
    proxy.call(post(CHAT, same)).await;
    assert_eq!(provider.received().await.body, same.as_bytes());
    assert_eq!(proxy.event().await.model_asked, None);
}

#[tokio::test]
async fn a_model_in_the_path_is_replaced_there() {
    let mut provider = FakeProvider::sending(whole("200 OK", "application/json", r#"{"candidates":[]}"#)).await;
    let mut proxy = TestProxy::new(&provider).await;
    limit(
        &proxy,
        r#"{"model_overrides":[{"provider":"google","model":"gemini-3-pro","use":"gemini-3-flash"},
            {"provider":"google","model":"*","use":"gemini-3-nano"}]}"#,
    );
    let endless = "g".repeat(5_000);
    for (asked, used) in [("gemini-3-pro", "gemini-3-flash"), (&endless, "gemini-3-nano")] {
        // The model in the path takes precedence over the one in the body.
        let body = r#"{"model":"gemini-3-nano","contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#;
        let path = format!("/agents/bot/google/v1beta/models/{asked}:generateContent?alt=json");
        proxy.call(post(&path, body)).await;
        let received = provider.received().await;
        assert_eq!(received.line(), format!("POST /v1beta/models/{used}:generateContent?alt=json HTTP/1.1"));
        assert_eq!(received.body, body.as_bytes());
        let event = proxy.event().await;
        let recorded = &asked[..asked.len().min(200)];
        assert_eq!((event.model.as_deref(), event.model_asked.as_deref()), (Some(used), Some(recorded)));
    }
}

#[tokio::test]
async fn policy_set_during_a_call_counts_it() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = TestProxy::new(&provider).await;
    let response = proxy.begin(post(CHAT, question(PROMPT))).await;
    proxy.event().await;
    limit(&proxy, &budget(COST));
    collect(response).await;
    // The first call ended before the policy; the next one counts, though it began under another
    // policy.
    assert_eq!(proxy.ask(PROMPT).await.status(), 200);
    assert_eq!(spent(&proxy), COST);
    check_refusal(&proxy.ask(PROMPT).await, 400, "budget_exceeded");
}

#[tokio::test]
async fn agent_without_a_policy_is_not_limited() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    let other = AgentId::parse("other").unwrap();
    proxy.guard.policies().put(&other, Policy::default(), None, now());
    assert_eq!(proxy.ask(PROMPT).await.status(), 200);
    assert!(proxy.guard.policies().counted(&bot()).is_none());
    assert_eq!(Arc::strong_count(&proxy.guard.policies().counted(&other).unwrap()), 2);
}
