//! Agent keys, groups, users, API tokens and the audit log.

use std::sync::Arc;

use model::{
    ActivatedBy, Actor, AgentKey, AgentKeyId, AgentPattern, Cause, Group, KeyHash, KillSwitchChange, Label, Role,
    Timestamp,
};
use store::{AccessChange, ApiTokenRow, AuditFilter, Change, PeopleChange, StoreError, UserRow};

use crate::backend::{Backend, NOON, Server, id, page};

pub(crate) async fn agent_keys_survive_a_restart(backend: &impl Backend) {
    let server = backend.create().await;
    let key = |number: u8| AgentKey {
        id: AgentKeyId::new(),
        name: Some(format!("ci {number}")),
        agents: AgentPattern::parse("bot-*").unwrap(),
        hash: KeyHash::of(&format!("agk_{number}")),
        created_at: NOON,
        expires_at: None,
        last_used_at: None,
    };
    let keys = [key(1), key(2)];
    for key in &keys {
        server.change(Change::Access(AccessChange::AddKey { key: Box::new(key.clone()) })).await.unwrap();
    }
    let used = Timestamp::from_millis(NOON.as_millis() + 60_000);
    server.change(Change::Access(AccessChange::NoteKeyUses { uses: vec![(keys[0].id, used)] })).await.unwrap();
    server.change(Change::Access(AccessChange::RemoveKey { id: keys[1].id })).await.unwrap();
    let server = server.restart().await;
    let expected = AgentKey { last_used_at: Some(used), ..keys[0].clone() };
    assert_eq!(server.store.agent_keys().await.unwrap(), [expected]);
    let again = server.change(Change::Access(AccessChange::RemoveKey { id: keys[1].id })).await;
    assert!(matches!(again, Err(StoreError::NotFound)), "{again:?}");
}

pub(crate) async fn groups_survive_a_restart(backend: &impl Backend) {
    let server = backend.create().await;
    let kill_switch = KillSwitchChange { enabled: Some(true), ..KillSwitchChange::default() };
    let agents = vec![AgentPattern::parse("bot-*").unwrap()];
    let group = Group { name: "bots".to_owned(), agents, kill_switch, ..Group::default() };
    for name in ["bots", "others"] {
        let group = Box::new(Group { name: name.to_owned(), ..group.clone() });
        server.change(Change::Access(AccessChange::PutGroup { group })).await.unwrap();
    }
    server.change(Change::Access(AccessChange::RemoveGroup { name: "others".to_owned() })).await.unwrap();
    server.change(Change::Access(AccessChange::StopGroup { name: "bots".to_owned(), at: NOON })).await.unwrap();
    let changed = Box::new(Group { labels: vec![label("x")], ..group.clone() });
    server.change(Change::Access(AccessChange::PutGroup { group: changed })).await.unwrap();
    let server = server.restart().await;
    let groups = server.store.groups().all();
    assert_eq!(groups.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["bots"]);
    assert!(groups[0].includes(&id("bot-7")) && !groups[0].includes(&id("ann")));
    assert_eq!((groups[0].kill_switch, &groups[0].labels), (kill_switch, &vec![label("x")]));
    assert_eq!(groups[0].stopped_at, Some(NOON), "a change does not lift a stop");
    server.change(Change::Access(AccessChange::ActivateGroup { name: "bots".to_owned() })).await.unwrap();
    let gone = server.change(Change::Access(AccessChange::StopGroup { name: "others".to_owned(), at: NOON })).await;
    assert!(matches!(gone, Err(StoreError::NotFound)), "{gone:?}");
    assert_eq!(server.restart().await.store.groups().get("bots").unwrap().stopped_at, None);
}

pub(crate) async fn labels_survive_a_restart(backend: &impl Backend) {
    let server = backend.create().await;
    server.kill("ann", 0).await;
    let set = |agent: &str, labels: &[&str]| {
        let labels = labels.iter().copied().map(label).collect();
        Change::Access(AccessChange::SetLabels { agent: id(agent), labels })
    };
    server.change(set("ann", &["x", "y"])).await.unwrap();
    let unknown = server.change(set("nobody", &["x"])).await;
    assert!(matches!(unknown, Err(StoreError::NotFound)), "{unknown:?}");
    let server = server.restart().await;
    assert_eq!(server.store.groups().labels().of(&id("ann")), [label("x"), label("y")]);
    assert_eq!(server.store.agent(&id("ann")).await.unwrap().unwrap().labels, [label("x"), label("y")]);
    server.change(set("ann", &[])).await.unwrap();
    assert!(server.restart().await.store.groups().labels().of(&id("ann")).is_empty());
}

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

pub(crate) async fn users_and_tokens_survive_a_restart(backend: &impl Backend) {
    let server = backend.create().await;
    let token = ApiTokenRow {
        id: "t1".to_owned(),
        name: "ci".to_owned(),
        role: Role::Viewer,
        groups: None,
        hash: "ab".repeat(32),
        created_at: NOON,
        created_by: "ann".to_owned(),
        expires_at: Some(NOON),
        last_used: None,
    };
    put_user(&server, "u1", "Ann").await.unwrap();
    let taken = put_user(&server, "u2", "ANN").await;
    assert!(matches!(taken, Err(StoreError::Conflict(_))), "names differ by more than capitals: {taken:?}");
    server.change(Change::People(PeopleChange::AddToken { token: token.clone() })).await.unwrap();
    server.change(Change::People(PeopleChange::LoggedIn { id: "u1".to_owned(), at: NOON })).await.unwrap();
    let server = server.restart().await;
    let users = server.store.users().await.unwrap();
    assert_eq!((users.len(), users[0].name.as_str(), users[0].last_login), (1, "Ann", Some(NOON)));
    assert_eq!(users[0].groups, Some(vec!["bots".to_owned()]));
    assert_eq!(server.store.api_tokens().await.unwrap(), [token]);
    for change in [PeopleChange::RemoveUser { id: "u1".to_owned() }, PeopleChange::RemoveToken { id: "t1".to_owned() }]
    {
        server.change(Change::People(change)).await.unwrap();
    }
    assert!(server.store.users().await.unwrap().is_empty() && server.store.api_tokens().await.unwrap().is_empty());
}

async fn put_user(server: &Server, id: &str, name: &str) -> Result<(), StoreError> {
    let user = UserRow {
        id: id.to_owned(),
        name: name.to_owned(),
        role: Role::Operator,
        groups: Some(vec!["bots".to_owned()]),
        password_hash: None,
        session_version: 1,
        created_at: NOON,
        last_login: None,
    };
    let change = PeopleChange::PutUser { user, is_new: true, has_new_password: false };
    server.change(Change::People(change)).await.map(drop)
}

pub(crate) async fn audit_log_tells_who_changed_what_and_is_one_chain(backend: &impl Backend) {
    let server = backend.create().await;
    let reason = Some("it was told to stop".to_owned());
    let cause = Arc::new(Cause { actor: Actor::first_token(ActivatedBy::Api, None), reason });
    server.kill("ann", 0).await;
    for name in ["Ann", "Anna"] {
        let change = Change::Rename { agent: id("ann"), name: Some(name.to_owned()) };
        server.recorder.change_by(Arc::clone(&cause), change).await.unwrap();
    }
    let server = server.restart().await;
    let rows = server.store.audit(&AuditFilter::default(), &page(10)).await.unwrap().items;
    assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [2, 1]);
    assert_eq!((rows[0].action.as_str(), rows[0].target.as_deref()), ("agent.rename", Some("agent:ann")));
    assert!(rows[0].before.as_deref().unwrap_or_default().contains("Ann"), "{:?}", rows[0]);
    assert!(rows[0].after.as_deref().unwrap_or_default().contains("Anna"), "{:?}", rows[0]);
    let report = server.store.verify_audit(None).await.unwrap();
    assert_eq!((report.rows, report.problem), (2, None));
}
