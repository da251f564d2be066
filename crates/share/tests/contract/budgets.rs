//! Budgets and rates: reserved all or nothing, settled once.

use model::shared_log::ReplicaId;
use share::{Admission, Admitted, Charge};

use crate::engine::Case;

pub(crate) async fn concurrent_calls_do_not_overspend(case: Case) {
    case.open_agent(0).await;
    let charges = [case.budget("agent", 100, 10), case.budget("group", 1_000, 10)];
    let calls = (0..40).map(|_| {
        let (share, admission) = (case.share.clone(), case.charged(&charges));
        tokio::spawn(async move { share.admit(&admission).await.unwrap() })
    });
    let mut granted = 0;
    for call in calls.collect::<Vec<_>>() {
        match call.await.unwrap() {
            Admitted::Granted(_) => granted += 1,
            Admitted::OverBudget(spent) => assert_eq!(spent[0], (0, 100)),
            other => panic!("{other:?}"),
        }
    }
    // Refused calls reserved nothing in the other budget either.
    assert_eq!(granted, 10);
    let other = Charge { limit: 101, ..case.budget("group", 0, 1) };
    assert_eq!(case.grant(&case.charged(&[other])).await.spent, [(0, 100)]);
}

pub(crate) async fn refusal_reserves_nothing(case: Case) {
    case.open_agent(0).await;
    let refused = [case.budget("a", 5, 5), case.budget("b", 0, 5), case.rate("c", 1, 1)];
    for _ in 0..3 {
        let Admitted::OverBudget(spent) = case.share.admit(&case.charged(&refused)).await.unwrap() else { panic!() };
        assert_eq!(spent, [(0, 0); 3]);
    }
    let passes = [case.budget("a", 5, 5), case.rate("c", 1, 1)];
    case.grant(&case.charged(&passes)).await;
}

pub(crate) async fn settlement_counts_once(case: Case) {
    case.open_agent(0).await;
    let call = case.charged(&[case.budget("day", 1_000, 500)]);
    case.grant(&call).await;
    for is_repeated in [false, true, true] {
        case.share.settle(&share::Settlement { is_repeated, ..case.settlement(&call, &[30]) }).await.unwrap();
    }
    let next = case.charged(&[case.budget("day", 1_000, 1)]);
    assert_eq!(case.grant(&next).await.spent, [(30, 0)]);
}

/// A replica admitted the call while it could not reach the engine.
pub(crate) async fn call_without_ticket_counts_once(case: Case) {
    case.open_agent(0).await;
    let call = case.charged(&[case.budget("day", 1_000, 500), case.rate("requests", 2, 1)]);
    let alone = share::Settlement { was_alone: true, ..case.settlement(&call, &[30, 1]) };
    for is_repeated in [false, true, true] {
        case.share.settle(&share::Settlement { is_repeated, ..alone.clone() }).await.unwrap();
    }
    // Its admission was on its way all the time: it reserves nothing, and adds no record.
    case.grant(&Admission { record: case.admission(0).record, ..call.clone() }).await;
    let next = case.charged(&[case.budget("day", 1_000, 1), case.rate("requests", 2, 1)]);
    assert_eq!(case.grant(&next).await.spent[0], (30, 0));
    assert!(matches!(case.share.admit(&case.charged(&next.charges)).await.unwrap(), Admitted::RateLimited { .. }));
    assert_eq!(case.share.log(&case.agent).await.unwrap().unwrap().entries, []);

    // It is forgotten with its replica.
    case.share.leave(case.replica).await.unwrap();
    let expired = case.share.expired().await.unwrap().into_iter().find(|it| it.call == call.call).unwrap();
    assert_eq!(expired.charges, []);
    let settlement = share::Settlement { charges: Vec::new(), is_repeated: true, ..case.settlement(&call, &[]) };
    case.share.settle(&settlement).await.unwrap();
    assert!(case.share.expired().await.unwrap().iter().all(|it| it.call != call.call));
    assert_eq!(case.share.log(&case.agent).await.unwrap().unwrap().entries, []);
}

/// The replica got no answer, but the engine has admitted the call.
pub(crate) async fn call_decided_alone_releases_its_ticket(case: Case) {
    case.open_agent(0).await;
    let call = case.charged(&[case.budget("day", 1_000, 500)]);
    case.grant(&call).await;
    let alone = share::Settlement { was_alone: true, ..case.settlement(&call, &[30]) };
    case.share.settle(&alone).await.unwrap();
    let next = case.charged(&[case.budget("day", 1_000, 1)]);
    assert_eq!(case.grant(&next).await.spent, [(30, 0)]);
}

pub(crate) async fn lost_sums_are_taken_over(case: Case) {
    case.open_agent(0).await;
    let call = case.charged(&[Charge { known: 70, ..case.budget("day", 100, 1) }]);
    assert_eq!(case.grant(&call).await.spent, [(70, 0)]);
    // A replica that knows a smaller sum changes nothing.
    let next = case.charged(&[Charge { known: 20, ..case.budget("day", 100, 1) }]);
    assert_eq!(case.grant(&next).await.spent, [(70, 1)]);
}

pub(crate) async fn rate_tells_the_wait(case: Case) {
    case.open_agent(0).await;
    let charges = [case.rate("requests", 2, 1), case.rate("tokens", 1_000, 10)];
    case.grant(&case.charged(&charges)).await;
    case.grant(&case.charged(&charges)).await;
    let refused = case.share.admit(&case.charged(&charges)).await.unwrap();
    let Admitted::RateLimited { charge: 0, wait_seconds } = refused else { panic!("{refused:?}") };
    assert!((55..=60).contains(&wait_seconds), "{wait_seconds}");
    // A charge above the limit passes if nothing else was counted.
    case.grant(&case.charged(&[case.rate("large", 5, 50)])).await;
}

pub(crate) async fn tokens_are_corrected(case: Case) {
    case.open_agent(0).await;
    let call = case.charged(&[case.rate("tokens", 100, 90)]);
    case.grant(&call).await;
    let next = case.charged(&[case.rate("tokens", 100, 50)]);
    assert!(matches!(case.share.admit(&next).await.unwrap(), Admitted::RateLimited { .. }));
    case.share.settle(&case.settlement(&call, &[40])).await.unwrap();
    case.grant(&next).await;
}

pub(crate) async fn tickets_of_a_dead_replica_expire(case: Case) {
    case.open_agent(0).await;
    let dead = ReplicaId::new();
    case.share.beat(dead).await.unwrap();
    let call = Admission { replica: dead, ..case.charged(&[case.budget("day", 100, 100)]) };
    case.grant(&call).await;
    let of_call = |expired: Vec<share::Expired>| expired.into_iter().find(|it| it.call == call.call);
    assert_eq!(of_call(case.share.expired().await.unwrap()), None, "its replica is alive");

    case.share.leave(dead).await.unwrap();
    let expired = of_call(case.share.expired().await.unwrap()).unwrap();
    assert_eq!((expired.replica, &expired.agent), (dead, &case.agent));
    assert_eq!(expired.charges[0].scope, call.charges[0].scope);
    let settlement = share::Settlement { replica: expired.replica, ..case.settlement(&call, &[0]) };
    case.share.settle(&settlement).await.unwrap();
    assert_eq!(of_call(case.share.expired().await.unwrap()), None);
    case.grant(&case.charged(&[case.budget("day", 100, 100)])).await;
}
