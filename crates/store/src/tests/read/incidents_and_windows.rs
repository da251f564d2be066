//! Reads of pages: counts, evidence, windows.

use model::DeactivatedBy;

use super::*;
use crate::{AgentCounts, AgentFilter, EvidenceBody};

#[tokio::test]
async fn agents_are_counted_by_state() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.store.agent_counts().await.unwrap(), AgentCounts::default());
    fixture.record_all(vec![call("busy"), call("resting")]).await;
    fixture.change(Change::Deactivate { agent: id("resting"), at: NOON }).await.unwrap();
    fixture.kill("looper", 0).await;
    let counts = fixture.store.agent_counts().await.unwrap();
    assert_eq!(counts, AgentCounts { all: 3, inactive: 2, stopped: 1 });

    let stopped = AgentFilter { deactivated_by: Some(DeactivatedBy::KillSwitch), ..AgentFilter::default() };
    let page = PageRequest { limit: 10, cursor: None };
    let stopped = fixture.store.agents(&stopped, &page).await.unwrap();
    assert_eq!(stopped.items.iter().map(|agent| agent.id.as_str()).collect::<Vec<_>>(), ["looper"]);
}

#[tokio::test]
async fn evidence_is_read_by_its_beginnings_or_one_body_at_a_time() {
    let fixture = Fixture::new().await;
    let killed = fixture.kill("looper", 0).await;
    let whole = fixture.store.evidence(killed).await.unwrap();
    let heads = fixture.store.evidence_heads(killed, 3).await.unwrap();
    assert_eq!(heads.len(), whole.len());
    for (head, whole) in heads.iter().zip(&whole) {
        let beginning = |text: &Option<String>| text.as_ref().map(|text| text.chars().take(3).collect::<String>());
        assert_eq!((head.call, &head.matched), (whole.evidence.call, &whole.evidence.matched));
        assert_eq!(
            (&head.prompt, &head.response),
            (&beginning(&whole.evidence.prompt), &beginning(&whole.evidence.response))
        );
        for (which, body, chars) in [
            (EvidenceBody::Request, &whole.evidence.request_body, head.request_chars),
            (EvidenceBody::Response, &whole.evidence.response_body, head.response_chars),
        ] {
            assert_eq!(&fixture.store.evidence_body(killed, head.call, which).await.unwrap(), body);
            assert_eq!(chars.is_some(), body.is_some());
        }
    }
    assert_eq!(fixture.store.evidence_body(killed, CallId::new(), EvidenceBody::Request).await.unwrap(), None);
}

#[tokio::test]
async fn window_ends_with_the_given_call() {
    let fixture = Fixture::new().await;
    let calls: Vec<Event> = (1..=5).map(|number| scored("looper", 0, number)).collect();
    let ids: Vec<CallId> = calls.iter().map(|call| call.id).collect();
    fixture.record_all(calls).await;
    let window = fixture.store.window(ids[3], WindowKind::Agent, 3).await.unwrap();
    assert_eq!(window.iter().map(|call| call.call).collect::<Vec<_>>(), ids[1..4]);
    assert!(fixture.store.window(CallId::new(), WindowKind::Agent, 3).await.unwrap().is_empty());

    let prints = fixture.store.fingerprints(&id("looper"), 2).await.unwrap();
    assert_eq!(prints.iter().map(|print| print.call).collect::<Vec<_>>(), ids[3..]);
}

#[tokio::test]
async fn incidents_are_counted_by_time() {
    let fixture = Fixture::new().await;
    fixture.kill("looper", 0).await;
    let at = |millis: i64| Timestamp::from_millis(NOON.as_millis() + millis);
    assert_eq!(fixture.store.incident_count(at(-1), at(1)).await.unwrap(), 1);
    assert_eq!(fixture.store.incident_count(at(-1000), at(-1)).await.unwrap(), 0);
    assert_eq!(fixture.store.incident_count(at(1), at(1000)).await.unwrap(), 0);
}
