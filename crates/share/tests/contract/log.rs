//! The log of an agent: one order, no duplicates.

use std::collections::HashMap;

use guard::{Decision, Followed, Guard, GuardConfig};
use model::shared_log::{LogEntry, LogRecord, ReplicaId};
use model::{CallId, Epoch, Fingerprint, Timestamp};
use share::{Admission, Killed, Opening};

use crate::engine::{Case, print};

pub(crate) async fn replicas_see_one_order(case: Case) {
    case.open_agent(0).await;
    let replicas = (0..3).map(|_| {
        let (share, replica) = (case.share.clone(), ReplicaId::new());
        let admissions: Vec<_> = (0..30).map(|_| Admission { replica, ..case.admission(0) }).collect();
        tokio::spawn(async move {
            share.beat(replica).await.unwrap();
            let (mut seen, mut records): (u64, Vec<LogEntry>) = (0, Vec::new());
            for admission in admissions {
                let admission = Admission { seen, ..admission };
                let share::Admitted::Granted(grant) = share.admit(&admission).await.unwrap() else { panic!() };
                let own = grant.log.entries.last().unwrap();
                let LogRecord::Arrived(_, print) = own.record else { panic!("{own:?}") };
                assert_eq!(print.call, admission.call, "a replica's own record is the last");
                seen = own.position;
                records.extend(grant.log.entries);
            }
            records
        })
    });
    let mut at: HashMap<u64, LogEntry> = HashMap::new();
    for replica in replicas.collect::<Vec<_>>() {
        let records = replica.await.unwrap();
        assert!(records.windows(2).all(|pair| pair[1].position == pair[0].position + 1), "nothing is missing");
        assert!(records.windows(2).all(|pair| pair[1].number == pair[0].number + 1));
        assert!(records.windows(2).all(|pair| pair[1].at >= pair[0].at));
        for record in records {
            assert_eq!(*at.entry(record.position).or_insert(record), record);
        }
    }
    assert_eq!(at.len(), 90);
}

pub(crate) async fn repeated_admission_adds_nothing(case: Case) {
    case.open_agent(0).await;
    let charges = vec![case.budget("day", 100, 60)];
    let call = Admission { charges, ..case.admission(0) };
    let first = case.grant(&call).await;
    let again = case.grant(&call).await;
    assert_eq!(first.log, again.log);
    for _ in 0..2 {
        case.share.settle(&case.settlement(&call, &[60])).await.unwrap();
    }
    let next = case.admission(first.log.entries[0].position);
    let kinds: Vec<bool> =
        case.grant(&next).await.log.entries.iter().map(|it| matches!(it.record, LogRecord::Ended(_))).collect();
    assert_eq!(kinds, [true, false], "one end, and the call itself");
}

pub(crate) async fn log_begins_with_the_calls_of_its_opener(case: Case) {
    let call = |number| Fingerprint { number, ..print(CallId::new()) };
    let calls = vec![call(500), call(502)];
    case.share.open(&Opening { newest: 502, calls: calls.clone(), ..case.opening(0) }).await.unwrap();
    let log = case.grant(&case.admission(0)).await.log;
    let numbers: Vec<u64> = log.entries.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, [500, 502, 503]);
    assert_eq!(log.entries[0].record, LogRecord::Restored(calls[0]));
    assert_eq!(log.entries[0].position, log.floor + 1);
    assert!(!log.is_trimmed);
}

pub(crate) async fn appended_calls_get_the_next_numbers(case: Case) {
    case.open_agent(0).await;
    let first = case.grant(&case.admission(0)).await.log.entries[0];
    let restored = LogRecord::Restored(Fingerprint { number: 7, ..print(CallId::new()) });
    case.share.append(&case.agent, Epoch(1), &[restored]).await.unwrap();
    case.share.append(&case.agent, Epoch(0), &[restored, restored]).await.unwrap();
    let log = case.grant(&case.admission(first.position)).await.log;
    let numbers: Vec<u64> = log.entries.iter().map(|entry| entry.number - first.number).collect();
    assert_eq!(numbers, [1, 2, 3], "those of another epoch are not added");
}

pub(crate) async fn long_log_says_that_it_was_trimmed(case: Case) {
    case.open_agent(0).await;
    let restored = vec![LogRecord::Restored(print(CallId::new())); 1_000];
    case.share.append(&case.agent, Epoch(0), &restored).await.unwrap();
    let before = case.grant(&case.admission(0)).await.log;
    assert_eq!((before.entries.len(), before.is_trimmed), (1_001, false));
    case.share.append(&case.agent, Epoch(0), &restored[..100]).await.unwrap();
    let after = case.grant(&case.admission(before.floor)).await.log;
    assert!(after.is_trimmed && after.floor > before.floor);
    assert_eq!(after.entries[0].position, after.floor + 1);
    assert!(after.entries.len() >= 1_000, "{}", after.entries.len());
    assert_eq!(after.entries.last().unwrap().position, before.floor + 1_102);
}

pub(crate) async fn log_is_read_after_a_kill(case: Case) {
    assert_eq!(case.share.log(&case.agent).await.unwrap(), None);
    case.open_agent(0).await;
    assert_eq!(case.share.log(&case.agent).await.unwrap().unwrap().entries, []);
    case.grant(&case.admission(0)).await;
    let whole = case.grant(&case.admission(0)).await.log;
    let killed = Killed { incident: None, at: Timestamp::from_millis(1) };
    case.share.kill(&case.agent, Epoch(0), killed).await.unwrap();
    assert_eq!(case.share.log(&case.agent).await.unwrap(), Some(whole));
}

pub(crate) async fn record_of_a_newer_version_is_skipped(case: Case) {
    case.open_agent(0).await;
    case.grant(&case.admission(0)).await;
    case.share.append(&case.agent, Epoch(0), &[LogRecord::Unknown]).await.unwrap();
    let admission = case.admission(0);
    let log = case.grant(&admission).await.log;
    assert_eq!(log.entries[1].record, LogRecord::Unknown);
    let guard = Guard::new(GuardConfig::default());
    let followed = guard.follow(&case.agent, &log, (case.replica, admission.call), None);
    let Followed::Decided(Decision::Scored(_)) = followed else { panic!("{followed:?}") };
    assert_eq!(guard.log_position(&case.agent).seen, log.entries[2].position);
}
