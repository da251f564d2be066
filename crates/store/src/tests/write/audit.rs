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

/// Edits the log in the file, and returns what the check finds.
async fn found_after(statements: &[&'static str]) -> String {
    let fixture = changed_in_the_file(statements).await;
    fixture.store.verify_audit(None).await.unwrap().problem.unwrap_or_default()
}

async fn changed_in_the_file(statements: &[&'static str]) -> Fixture {
    let fixture = with_rows(5).await;
    assert_eq!(fixture.store.verify_audit(None).await.unwrap().problem, None);
    let mut writer = fixture.connect().await;
    for trigger in ["changed", "deleted", "replaced"] {
        let drop = format!("drop trigger audit_is_never_{trigger}");
        sqlx::query(sqlx::AssertSqlSafe(drop)).execute(&mut writer).await.unwrap();
    }
    for statement in statements {
        sqlx::query(*statement).execute(&mut writer).await.unwrap();
    }
    writer.close().await.unwrap();
    fixture
}

#[tokio::test]
async fn verify_finds_changed_removed_and_inserted_rows() {
    let check = async |statements: &[&'static str], expected: &str| {
        let found = found_after(statements).await;
        assert!(found.starts_with(expected), "{statements:?}: {found}");
    };
    check(&["update audit set actor_name = 'mallory' where number = 3"], "row 3 was changed").await;
    check(&["update audit set reason = null where number = 5"], "row 5 was changed").await;
    check(&["update audit set role = 'owner' where number = 3"], "row 3 was changed: it cannot be read").await;
    check(&["update audit set at = 'noon' where number = 4"], "row 4 was changed: it cannot be read").await;
    check(&["delete from audit where number = 2"], "row 2 is missing").await;
    check(&["delete from audit where number = 1"], "row 1 is missing").await;
    check(&["delete from audit where number >= 4"], "rows 4 to 5 are missing").await;
    check(&["delete from audit"], "rows 1 to 5 are missing").await;
    check(&["delete from audit", "delete from audit_head"], "").await;
    check(&["delete from audit_head"], "the head of the log is missing").await;
    check(
        &["insert into audit select 0, at, actor_kind, actor_id, 'mallory', role, address, via, action, target, before,
            after, reason, hash from audit where number = 1"],
        "a row was inserted before the first one",
    )
    .await;
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
async fn verify_finds_removed_rows_after_new_ones() {
    for statements in [
        &["delete from audit where number >= 3"][..],
        &["delete from audit"],
        &["delete from audit_head"],
        &["delete from audit where number >= 3", "delete from audit_head"],
        &["update audit_head set ciphertext = 'AAAA'"],
        &["update audit set hash = 'x' where number = 5"],
    ] {
        let fixture = changed_in_the_file(statements).await;
        for _ in 0..2 {
            fixture.recorder.change_by(cause(), Change::ResetPolicy { agent: id("agent-0") }).await.unwrap();
        }
        let problem = fixture.store.verify_audit(None).await.unwrap().problem;
        assert!(problem.is_some(), "{statements:?}");
    }
}

#[tokio::test]
async fn verify_finds_an_emptied_log_by_its_kept_head() {
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
    let copy = "at, actor_kind, actor_id, actor_name, role, address, via, action, target, before, after, reason, hash";
    let replaced = format!("insert or replace into audit select number, {copy} from audit where number = 2");
    let before_the_first = format!("insert into audit select 0, {copy} from audit where number = 2");
    for statement in [
        "update audit set reason = 'x'",
        "delete from audit",
        "delete from audit where number = 2",
        &replaced,
        &before_the_first,
    ] {
        let statement = sqlx::AssertSqlSafe(statement.to_owned());
        let error = sqlx::query(statement).execute(&mut writer).await.unwrap_err();
        assert!(error.to_string().contains("only added to"), "{error}");
    }
}

#[tokio::test]
async fn audit_row_is_written_with_its_change() {
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
