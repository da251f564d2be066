//! A data directory of the version before agent keys, users and the audit log: the server starts
//! with it, and everything is as before.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::json;
use sqlx::{Connection, SqliteConnection};

use crate::support::{Answer, Server, ServerBuilder, provider, run, skip_without_sqlite};

const QUESTION: &str = "Why does the import of customer records fail?";

/// Takes out of the database what later migrations added.
const EARLIER_VERSION: [&str; 11] = [
    "drop table agent_keys",
    "drop table agent_groups",
    "drop table group_spending",
    "drop table users",
    "drop table api_tokens",
    "drop table audit",
    "drop table audit_head",
    "alter table events drop column key_id",
    "drop index agents_with_labels",
    "alter table agents drop column labels",
    "delete from _sqlx_migrations where version >= 13",
];

async fn send(server: &Server, method: Method, path: &str, cookie: &str, form: &'static str) -> Answer {
    let request = Request::builder().method(method).uri(format!("{}{path}", server.dashboard)).header("cookie", cookie);
    let request = request.header("origin", &server.dashboard);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    server.http.send(request.body(Full::new(Bytes::from_static(form.as_bytes()))).unwrap()).await.unwrap()
}

#[tokio::test]
async fn data_directory_of_an_earlier_version_needs_nothing_to_be_done() {
    if skip_without_sqlite() {
        return;
    }
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).token("the-token-of-an-earlier-version").start();
    server.api(Method::PUT, "/api/providers/openai", Some(json!({"key": "sk-stored"}))).await;
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..4 {
        server.agent("looper").ask(QUESTION).await;
    }
    let login = send(&server, Method::POST, "/login", "", "token=the-token-of-an-earlier-version").await;
    let cookie = login.header("set-cookie").split(';').next().unwrap().to_owned();
    let before = server.get("/api/agents/looper").await;
    assert_eq!(before["active"], false);

    let (builder, _) = server.terminate();
    let folder = builder.data_path().to_owned();
    let mut database =
        SqliteConnection::connect(&format!("sqlite:{}", folder.join("agentgazer.db").display())).await.unwrap();
    for statement in EARLIER_VERSION {
        sqlx::query(statement).execute(&mut database).await.unwrap();
    }
    database.close().await.unwrap();
    // Sessions had a hash and an end.
    let sessions = std::fs::read_to_string(folder.join("agentgazer.sessions")).unwrap();
    let short = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ") + "\n";
    std::fs::write(folder.join("agentgazer.sessions"), sessions.lines().map(short).collect::<String>()).unwrap();

    let server = builder.start();
    let after = server.get("/api/agents/looper").await;
    for field in ["active", "deactivated_by", "deactivated_at", "incident_id", "kill_switch"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(server.agent("other").ask(QUESTION).await.status, 200, "a laptop needs no agent key");
    assert_eq!(provider.seen().last().unwrap().headers["authorization"], "Bearer sk-stored");
    assert_eq!(send(&server, Method::GET, "/agents", &cookie, "").await.status, 200, "nobody is logged out");
    for path in ["/api/agent-keys", "/api/users", "/api/tokens", "/api/groups", "/api/audit"] {
        assert_eq!(server.get(path).await["items"], json!([]), "{path}");
    }
    server.activate("looper").await;
    let verified = run(&["audit", "verify", "--data-dir", folder.to_str().unwrap()]);
    assert!(verified.said().contains("1 row"), "{verified:?}");
}
