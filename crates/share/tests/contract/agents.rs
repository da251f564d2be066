//! Agents: registration, epochs and kills.

use std::sync::Arc;

use model::shared_log::ReplicaId;
use model::{CallId, Epoch, IncidentId, Timestamp};
use share::{Admission, Admitted, Killed, Takeover};
use tokio::sync::Notify;

use crate::engine::Case;

fn kill() -> Killed {
    let at = Timestamp::from_millis(1_700_000_000_000);
    Killed { incident: Some(IncidentId::of_call(CallId::new(), at)), at }
}

pub(crate) async fn unknown_agent_is_opened_once(case: Case) {
    assert_eq!(case.share.admit(&case.admission(0)).await.unwrap(), Admitted::Unknown);
    assert_eq!(case.share.status(&case.agent).await.unwrap(), None);
    assert!(case.open_agent(0).await);
    assert!(!case.open_agent(0).await);
    case.grant(&case.admission(0)).await;
    case.share.forget(&case.agent).await.unwrap();
    assert_eq!(case.share.admit(&case.admission(0)).await.unwrap(), Admitted::Unknown);
}

pub(crate) async fn kill_has_one_winner(case: Case) {
    assert_eq!(case.share.kill(&case.agent, Epoch(0), kill()).await.unwrap(), Takeover::Unknown);
    case.open_agent(0).await;
    let attempts = (0..16).map(|_| {
        let (share, agent, kill) = (case.share.clone(), case.agent.clone(), kill());
        tokio::spawn(async move { (kill, share.kill(&agent, Epoch(0), kill).await.unwrap()) })
    });
    let (mut won, mut lost) = (Vec::new(), Vec::new());
    for attempt in attempts.collect::<Vec<_>>() {
        match attempt.await.unwrap() {
            (kill, Takeover::Won) => won.push(kill),
            (_, Takeover::Lost(to)) => lost.push(to),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(won.len(), 1);
    assert!(lost.len() == 15 && lost.iter().all(|to| *to == won[0]), "{lost:?}");
}

pub(crate) async fn killed_agent_is_refused_until_a_newer_epoch(case: Case) {
    case.open_agent(0).await;
    let running = case.admission(0);
    case.grant(&running).await;
    let kill = kill();
    assert_eq!(case.share.kill(&case.agent, Epoch(0), kill).await.unwrap(), Takeover::Won);
    assert_eq!(case.share.admit(&case.admission(0)).await.unwrap(), Admitted::Killed(kill));
    assert_eq!(case.share.settle(&case.settlement(&running, &[])).await.unwrap(), Some(kill));

    assert!(case.open_agent(1).await);
    assert_eq!(case.share.admit(&case.admission(0)).await.unwrap(), Admitted::Epoch(Epoch(1)));
    let grant = case.grant(&Admission { epoch: Epoch(1), ..case.admission(0) }).await;
    assert_eq!(grant.log.entries.len(), 1, "the log starts empty");
    assert_eq!(case.share.kill(&case.agent, Epoch(0), kill).await.unwrap(), Takeover::Epoch(Epoch(1)));
}

pub(crate) async fn older_epoch_changes_nothing(case: Case) {
    case.open_agent(3).await;
    let running = Admission { epoch: Epoch(3), ..case.admission(0) };
    case.grant(&running).await;
    assert!(!case.open_agent(2).await);
    let status = case.share.status(&case.agent).await.unwrap().unwrap();
    assert_eq!((status.epoch, status.killed), (Epoch(3), None));

    // The end of a call is only written in its own epoch.
    case.open_agent(4).await;
    case.share.settle(&case.settlement(&running, &[])).await.unwrap();
    let grant = case.grant(&Admission { epoch: Epoch(4), ..case.admission(0) }).await;
    assert_eq!(grant.log.entries.len(), 1);
}

pub(crate) async fn changes_are_listed_and_pushed(case: Case) {
    case.open_agent(0).await;
    let (_, since) = case.share.changes(Timestamp::from_millis(0)).await.unwrap();
    let (share, agent) = (case.share.clone(), case.agent.clone());
    let changed = Arc::new(Notify::new());
    let woken = Arc::clone(&changed);
    let watching = tokio::spawn(async move { share.watch(&woken).await });
    // The first says that it listens, the others that it goes on doing so.
    changed.notified().await;
    for _ in 0..3 {
        case.share.touch(&agent).await.unwrap();
        changed.notified().await;
    }
    watching.abort();
    let by_hand = Killed { incident: None, at: since };
    case.share.kill(&case.agent, Epoch(0), by_hand).await.unwrap();
    let (changes, _) = case.share.changes(since).await.unwrap();
    let change = changes.into_iter().find(|status| status.agent == case.agent).unwrap();
    assert_eq!(change.killed, Some(by_hand));
    assert!(change.settings > 0);
}

pub(crate) async fn changes_of_who_may_call_are_in_the_answer(case: Case) {
    case.open_agent(0).await;
    let before = case.grant(&case.admission(0)).await.access;
    case.share.touch_access().await.unwrap();
    let after = case.grant(&case.admission(0)).await.access;
    assert!(after > before, "{before} {after}");
    case.share.touch_access().await.unwrap();
    let charged = case.charged(&[case.budget("money", 100, 1)]);
    assert!(case.grant(&charged).await.access > after);
}

pub(crate) async fn replicas_that_beat_are_alive(case: Case) {
    let before = case.share.beat(case.replica).await.unwrap();
    assert!(!before.is_new);
    let other = ReplicaId::new();
    assert!(case.share.beat(other).await.unwrap().is_new);
    assert!(case.share.beat(case.replica).await.unwrap().alive > before.alive.min(1), "{before:?}");
    case.share.leave(other).await.unwrap();
}
