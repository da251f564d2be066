//! Tests of sessions.
#![allow(clippy::unwrap_used)]

use super::*;

fn sessions() -> (Sessions, Token) {
    (Sessions::restore(SessionStorage::default()), Token::configured("token"))
}

fn user(id: &str) -> Owner {
    Owner::User { id: id.to_owned(), version: 3 }
}

#[tokio::test]
async fn session_ends_after_seven_days_or_when_it_is_closed() {
    let (sessions, token) = sessions();
    let start = Timestamp::from_millis(1_000);
    let day = |days: i64| Timestamp::from_millis(1_000 + days * 24 * 60 * 60 * 1000);
    let person = FederatedPerson {
        issuer: "https://login.example".to_owned(),
        subject: "1".to_owned(),
        name: "ann b".to_owned(),
        groups: vec!["ops".to_owned()],
    };
    let federated = sessions.open(Owner::Federated(person), None, &token, start).await.unwrap();
    assert!(sessions.find(&federated, &token, start).is_some());
    assert!(sessions.find(&federated, &token, day(1)).is_none(), "it ends sooner");
    for owner in [Owner::FirstToken, user("ann")] {
        let id = sessions.open(owner.clone(), None, &token, start).await.unwrap();
        assert_eq!(sessions.find(&id, &token, day(6)).unwrap().1.owner, owner);
        assert!(sessions.find(&id, &token, day(7)).is_none());
        let other = sessions.find(&id, &Token::configured("another"), start);
        assert_eq!(other.is_some(), owner != Owner::FirstToken, "a session of the first token ends with it");
        sessions.close(&id, &token).await;
        assert!(sessions.find(&id, &token, start).is_none());
    }
    assert!(sessions.find("", &token, start).is_none());
}

#[tokio::test]
async fn sessions_are_bounded_and_the_oldest_leaves() {
    let (sessions, token) = sessions();
    let first = sessions.open(Owner::FirstToken, None, &token, Timestamp::from_millis(0)).await.unwrap();
    let session = |moment: i64| Session {
        owner: user(&(moment % 100).to_string()),
        opened_at: Timestamp::from_millis(moment),
        ends_at: Timestamp::from_millis(moment + LIFE_SECONDS * 1000),
        address: None,
    };
    for moment in 1..=MAX_SESSIONS as i64 {
        sessions.insert(moment.to_string(), session(moment), Timestamp::from_millis(moment));
    }
    assert!(sessions.find(&first, &token, Timestamp::from_millis(1)).is_none());
    assert_eq!(sessions.0.open.lock().len(), MAX_SESSIONS);
}

#[tokio::test]
async fn one_user_cannot_push_the_sessions_of_others_out() {
    let (sessions, token) = sessions();
    let now = Timestamp::from_millis(0);
    let first = sessions.open(Owner::FirstToken, None, &token, now).await.unwrap();
    for _ in 0..2 * MAX_OF_ONE {
        sessions.open(user("ann"), None, &token, now).await.unwrap();
    }
    assert!(sessions.find(&first, &token, now).is_some());
    assert_eq!(sessions.list(now).len(), MAX_OF_ONE + 1);
}

#[tokio::test]
async fn stored_sessions_are_read_again_and_hold_no_id() {
    let written = Arc::new(Mutex::new(String::new()));
    let file = Arc::clone(&written);
    let storage = SessionStorage::new(String::new(), move |text| {
        *file.lock() = text.to_owned();
        Ok(())
    });
    let (sessions, token) = (Sessions::restore(storage), Token::configured("token"));
    let now = Timestamp::from_millis(1_000);
    let address = Some("192.0.2.1".parse().unwrap());
    let first = sessions.open(Owner::FirstToken, None, &token, now).await.unwrap();
    let second = sessions.open(user("ann"), address, &token, now).await.unwrap();
    let person = FederatedPerson {
        issuer: "https://login.example".to_owned(),
        subject: "1 2".to_owned(),
        name: "ann b\u{e9}".to_owned(),
        groups: vec!["ops".to_owned()],
    };
    sessions.open(Owner::Federated(person), address, &token, now).await.unwrap();
    let text = written.lock().clone();
    assert!(!text.contains(&first) && !text.contains(&second) && text.lines().count() == 3, "{text}");

    let damaged = format!("nonsense\n{text}{} x\n", "0".repeat(64));
    let restored = Sessions::restore(SessionStorage::new(damaged, |_| Ok(())));
    assert_eq!(restored.list(now), sessions.list(now));
    sessions.close_of_user("ann").await;
    assert!(sessions.find(&second, &token, now).is_none() && sessions.find(&first, &token, now).is_some());
    sessions.close_all().await;
    assert_eq!(*written.lock(), "");
}
