//! The audit log: a row for every change of a person, tied to the one before it.

use std::sync::Arc;

use model::{ActivatedBy, Actor, Cause};

use super::*;

fn cause() -> Arc<Cause> {
    let actor = Actor::first_token(ActivatedBy::Api, Some([192, 0, 2, 1].into()));
    Arc::new(Cause { actor, reason: Some("because".to_owned()) })
}

async fn with_rows(count: u64) -> Fixture {
    let fixture = Fixture::new().await;
    for number in 0..count {
        let kill_switch = KillSwitch::default();
        let change =
            Change::Configure { agent: id(&format!("agent-{number}")), kill_switch, window_floor: 0, at: NOON };
        fixture.recorder.change_by(cause(), change).await.unwrap();
    }
    fixture
}

/// Changes the log as somebody would who has the file, and says what the check finds.
async fn found_after(statements: &[&'static str]) -> String {
    let fixture = with_rows(5).await;
    assert_eq!(fixture.store.verify_audit(None).await.unwrap().problem, None);
    let mut writer = fixture.connect().await;
    for trigger in ["drop trigger audit_is_never_changed", "drop trigger audit_is_never_deleted"] {
        sqlx::query(trigger).execute(&mut writer).await.unwrap();
    }
    for statement in statements {
        sqlx::query(*statement).execute(&mut writer).await.unwrap();
    }
    writer.close().await.unwrap();
    fixture.store.verify_audit(None).await.unwrap().problem.unwrap_or_default()
}

#[tokio::test]
async fn row_that_is_changed_removed_or_inserted_is_found() {
    let check = async |statements: &[&'static str], expected: &str| {
        let found = found_after(statements).await;
        assert!(found.starts_with(expected), "{statements:?}: {found}");
    };
    check(&["update audit set actor_name = 'mallory' where number = 3"], "row 3 was changed").await;
    check(&["update audit set reason = null where number = 5"], "row 5 was changed").await;
    check(&["delete from audit where number = 2"], "row 2 is missing").await;
    check(&["delete from audit where number = 1"], "row 1 is missing").await;
    check(&["delete from audit where number >= 4"], "rows 4 to 5 are missing").await;
    check(&["delete from audit"], "rows 1 to 5 are missing").await;
    check(&["delete from audit", "delete from audit_head"], "").await;
    check(&["delete from audit_head"], "the head of the log is missing").await;
    check(
        &[
            "update audit set number = number + 1 where number = 5",
            "insert into audit select 5, at, actor_kind, actor_id, actor_name, role, address, via, action, target, before,
                after, reason, hash from audit where number = 1",
        ],
        "row 5 was changed",
    )
    .await;
    check(
        &["delete from audit where number = 5", "update audit_head set ciphertext = 'AAAA'"],
        "the head of the log cannot be read",
    )
    .await;
}

#[tokio::test]
async fn emptied_log_is_found_by_a_head_that_was_kept() {
    let fixture = with_rows(3).await;
    let head = fixture.store.verify_audit(None).await.unwrap().head;
    fixture.recorder.change_by(cause(), Change::ResetPolicy { agent: id("agent-0") }).await.unwrap();
    assert_eq!(fixture.store.verify_audit(Some(&head)).await.unwrap().problem, None, "it only grew");
    let other = with_rows(3).await;
    let problem = other.store.verify_audit(Some("0000")).await.unwrap().problem.unwrap();
    assert!(problem.starts_with("no row has the given head"), "{problem}");
}

#[tokio::test]
async fn log_is_only_added_to() {
    let fixture = with_rows(2).await;
    let mut writer = fixture.connect().await;
    for statement in ["update audit set reason = 'x'", "delete from audit", "delete from audit where number = 2"] {
        let error = sqlx::query(statement).execute(&mut writer).await.unwrap_err();
        assert!(error.to_string().contains("only added to"), "{error}");
    }
}

#[tokio::test]
async fn change_and_its_row_are_made_together() {
    let fixture = with_rows(1).await;
    let rename = Change::Rename { agent: id("nobody"), name: None };
    assert!(matches!(fixture.recorder.change_by(cause(), rename).await, Err(StoreError::NotFound)));
    let rows = fixture.store.audit_after(0, 10).await.unwrap();
    assert_eq!(rows.len(), 1, "a change that is refused leaves no row");
    let row = &rows[0];
    assert_eq!((row.action.as_str(), row.target.as_deref()), ("agent.kill_switch", Some("agent:agent-0")));
    assert_eq!((row.address.as_deref(), row.reason.as_deref()), (Some("192.0.2.1"), Some("because")));

    let change = Change::Deactivate { agent: id("agent-0"), at: NOON };
    fixture.recorder.change(change).await.unwrap();
    assert_eq!(fixture.store.audit_after(0, 10).await.unwrap().len(), 1, "the program's own change has none");
    let fixture = fixture.restart().await;
    assert_eq!(fixture.store.verify_audit(None).await.unwrap().problem, None);
}
