//! The effects of the kill switch on traffic.

use std::collections::HashSet;
use std::time::Duration;

use model::{
    Action, BlockReason, Clock, Counting, EventType, IncidentState, KillSwitch, Matched, Outcome, Record, Timestamp,
};
use proxy::ProxyConfig;

use crate::provider::{FakeProvider, chat_answer};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, begin, collect, config, enabled_kill_switch, json, post, question};

const ANSWER: &str = "I have looked into it and I will now try again to repair the import of the table";

async fn start_proxy(kill_switch: KillSwitch) -> (FakeProvider, TestProxy) {
    let provider = FakeProvider::sending(chat_answer(ANSWER)).await;
    let proxy = TestProxy::with(&provider, config(), kill_switch).await;
    (provider, proxy)
}

/// Repeats a prompt until the next call exceeds the threshold of 5: the fourth has 3 similar
/// prompts and 2 similar answers.
async fn repeat_until_one_call_before_the_kill(proxy: &mut TestProxy) {
    for _ in 0..3 {
        assert_eq!(proxy.ask(PROMPT).await.status(), 200);
        proxy.event().await;
    }
}

#[tokio::test]
async fn a_kill_is_answered_only_once_it_is_on_disk() {
    let (provider, mut proxy) = start_proxy(enabled_kill_switch(Action::Deactivate)).await;
    repeat_until_one_call_before_the_kill(&mut proxy).await;
    let address = proxy.address;
    let trigger = tokio::spawn(async move { collect(begin(address, post(CHAT, question(PROMPT))).await).await });
    let Record::Kill { incident, event, committed } = proxy.record().await else { panic!("not a kill") };
    let other = tokio::spawn(async move { collect(begin(address, post(CHAT, question("else"))).await).await });
    proxy.make_other_call().await;
    assert!(!trigger.is_finished() && !other.is_finished());
    committed.send(Some(incident.kill.incident)).unwrap();

    for call in [trigger, other] {
        let response = call.await.unwrap();
        assert_eq!(response.status(), 400);
        assert_eq!(response.headers()["x-should-retry"], "false");
        assert_eq!(json(&response)["block_reason"], "inactive");
        assert_eq!(json(&response)["deactivated_by"], "kill_switch");
        assert_eq!(json(&response)["incident_id"], incident.kill.incident.to_string());
    }
    assert_eq!(provider.calls(), 3);
    assert_eq!((event.event_type, event.incident), (EventType::KillSwitch, Some(incident.kill.incident)));
    assert_eq!(event.fingerprint.unwrap().outcome, Outcome::Refused);
    let blocked = proxy.event().await;
    assert_eq!((blocked.event_type, blocked.block_reason), (EventType::Blocked, Some(BlockReason::Inactive)));
}

#[tokio::test]
async fn kill_holds_if_its_commit_times_out() {
    let provider = FakeProvider::sending(chat_answer(ANSWER)).await;
    let impatient = ProxyConfig { kill_commit_timeout: Duration::from_millis(20), ..config() };
    let mut proxy = TestProxy::with(&provider, impatient, enabled_kill_switch(Action::Deactivate)).await;
    repeat_until_one_call_before_the_kill(&mut proxy).await;
    for _ in 0..3 {
        assert_eq!(proxy.ask(PROMPT).await.status(), 400);
    }
    assert_eq!(provider.calls(), 3);
    assert!(matches!(proxy.record().await, Record::Kill { .. }));
}

#[tokio::test]
async fn the_incident_carries_its_evidence() {
    let (_provider, mut proxy) = start_proxy(enabled_kill_switch(Action::Deactivate)).await;
    repeat_until_one_call_before_the_kill(&mut proxy).await;
    let address = proxy.address;
    tokio::spawn(begin(address, post(CHAT, question(PROMPT))));
    let Record::Kill { incident, .. } = proxy.record().await else { panic!("not a kill") };
    assert_eq!(incident.state, IncidentState::Open);
    assert_eq!((incident.provider.as_str(), incident.model.as_deref()), ("openai", Some("gpt-5-mini")));
    assert_eq!(incident.evidence.len(), 4);
    for evidence in &incident.evidence {
        assert_eq!(evidence.prompt.as_deref(), Some(PROMPT));
        assert_eq!(evidence.request_body.as_deref(), Some(question(PROMPT).as_bytes()));
        assert!(evidence.time.is_some() && !evidence.truncated);
    }
    let (trigger, earlier) = incident.evidence.split_last().unwrap();
    assert!(trigger.matched.contains(&Matched::Trigger) && trigger.response_body.is_none());
    for evidence in earlier {
        assert_eq!(evidence.response.as_deref(), Some(ANSWER));
        assert!(chat_answer(ANSWER).ends_with(evidence.response_body.as_deref().unwrap()));
    }
}

#[tokio::test]
async fn two_hundred_parallel_calls_make_one_incident_and_none_is_dialled_after_it() {
    let (provider, mut proxy) =
        start_proxy(KillSwitch { threshold: 10.0, ..enabled_kill_switch(Action::Deactivate) }).await;
    let address = proxy.address;
    let calls: Vec<_> = (0..200)
        .map(|_| tokio::spawn(async move { collect(begin(address, post(CHAT, question(PROMPT))).await).await }))
        .collect();
    let Record::Kill { committed, incident, .. } = proxy.record().await else { panic!("not a kill") };
    committed.send(Some(incident.kill.incident)).unwrap();
    let mut passed = 0;
    let mut incidents = HashSet::new();
    for call in calls {
        let response = call.await.unwrap();
        match response.status().as_u16() {
            200 => passed += 1,
            400 => drop(incidents.insert(json(&response)["incident_id"].as_str().unwrap().to_owned())),
            other => panic!("{other}"),
        }
    }
    // The twelfth call has eleven similar ones before it, so the kill came by then at the latest.
    assert!(passed <= 11);
    assert_eq!(provider.calls(), passed);
    assert_eq!(incidents, HashSet::from([incident.kill.incident.to_string()]));
    assert!(proxy.inbox.records.try_recv().is_err());
}

#[tokio::test]
async fn block_refuses_the_call_and_leaves_the_agent_active() {
    let (provider, mut proxy) = start_proxy(enabled_kill_switch(Action::Block)).await;
    repeat_until_one_call_before_the_kill(&mut proxy).await;
    let response = proxy.ask(PROMPT).await;
    assert_eq!(response.status(), 429);
    assert_eq!(json(&response)["block_reason"], "loop_detected");
    let event = proxy.event().await;
    assert_eq!((event.event_type, event.block_reason), (EventType::Blocked, Some(BlockReason::LoopDetected)));
    assert_eq!(event.fingerprint.unwrap().outcome, Outcome::Refused);
    assert_eq!(proxy.ask("Something altogether different: what is the weather like in Lisbon?").await.status(), 200);
    assert_eq!(provider.calls(), 4);
}

#[tokio::test]
async fn blocked_call_passes_after_the_announced_pause() {
    let provider = FakeProvider::sending(chat_answer(ANSWER)).await;
    let clock = Clock::manual(Timestamp::from_millis(1_705_314_600_000));
    let kill_switch = KillSwitch { counting: Counting::Adaptive, ..enabled_kill_switch(Action::Block) };
    let mut proxy = TestProxy::at(&provider, config(), kill_switch, clock.clone()).await;
    repeat_until_one_call_before_the_kill(&mut proxy).await;
    let response = proxy.ask(PROMPT).await;
    let seconds: i64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert_eq!(json(&response)["retry_after_seconds"], seconds);
    assert!(json(&response)["error"]["message"].as_str().unwrap().contains(&format!("for {seconds} s")));
    // A refused call counts: one that comes too early restarts the pause.
    for (wait, status) in [(seconds - 1, 429), (1, 429), (seconds, 200)] {
        clock.advance(wait * 1000);
        assert_eq!(proxy.ask(PROMPT).await.status(), status, "after {wait} more seconds");
    }
}

#[tokio::test]
async fn observe_lets_the_call_through_and_records_one_incident() {
    let (provider, mut proxy) = start_proxy(enabled_kill_switch(Action::Observe)).await;
    for _ in 0..6 {
        assert_eq!(proxy.ask(PROMPT).await.status(), 200);
    }
    let Record::Observed { incident } = proxy.record().await else { panic!("not observed") };
    assert_eq!(incident.state, IncidentState::Observed);
    assert_eq!(incident.evidence.len(), 4);
    assert!(proxy.inbox.records.try_recv().is_err());
    assert_eq!(provider.calls(), 6);
}

#[tokio::test]
async fn disabled_kill_switch_records_what_it_would_have_stopped() {
    let (_provider, mut proxy) =
        start_proxy(KillSwitch { enabled: false, ..enabled_kill_switch(Action::Deactivate) }).await;
    repeat_until_one_call_before_the_kill(&mut proxy).await;
    let response = proxy.ask(PROMPT).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["x-agentgazer-loop-score"], "7.0/5.0");
    assert!(proxy.event().await.would_have_stopped);
    assert_eq!(proxy.inner.detection_failures().count(), 0);
}
