//! People over real sockets: roles, tokens, and an audit log that reveals changes of its file.

use std::io::Write;
use std::process::{Command, Stdio};

use http::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{ServerBuilder, agentgazer, eventually, provider, run, skip_without_sqlite};

#[tokio::test]
async fn commands_manage_users_and_tokens() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let added = server.run(&["users", "add", "ann", "--role", "operator", "--json"]).json();
    let password = added["password"].as_str().unwrap().to_owned();
    assert!(password.len() >= 24 && added["role"] == "operator", "{added}");
    assert_eq!(server.run(&["users", "add", "ANN", "--role", "viewer"]).code, Some(2), "the name is taken");
    let listed = server.run(&["users"]);
    assert!(listed.said().contains("ann") && !listed.said().contains(&password), "{listed:?}");
    server.run(&["users", "change", "ann", "--role", "viewer"]).said();
    assert_eq!(server.get("/api/users").await["items"][0]["role"], "viewer");

    let made = server.run(&["tokens", "create", "ci", "--role", "viewer", "--json"]).json();
    let token = made["token"].as_str().unwrap();
    let data = server.data_dir().to_str().unwrap();
    let with_token = |arguments: &[&str]| run(&[arguments, &["--data-dir", data, "--token", token]].concat());
    with_token(&["agents"]).said();
    let refused = with_token(&["users"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.stderr.contains("This needs the role admin"), "{refused:?}");
    server.run(&["groups", "set", "team-a", "--agent", "team-a/*"]).said();
    server.run(&["users", "change", "ann", "--role", "operator", "--group", "team-a"]).said();
    assert!(server.run(&["users"]).said().contains("operator@team-a"), "the limit is shown");
    server.run(&["tokens", "create", "of-team", "--role", "operator", "--group", "team-a"]).said();
    assert!(server.run(&["tokens"]).said().contains("operator@team-a"));
    server.run(&["tokens", "revoke", "ci"]).said();
    assert_eq!(with_token(&["agents"]).code, Some(5));
    server.run(&["users", "delete", "ann"]).said();
    assert_eq!(server.run(&["users", "delete", "ann"]).code, Some(4));
    let log = server.log();
    assert!(!log.contains(&password) && !log.contains(token), "{log}");
}

#[tokio::test]
async fn token_that_is_revoked_is_refused_on_an_open_connection() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let made = server.api(Method::POST, "/api/tokens", Some(json!({"name": "ci", "role": "viewer"}))).await;
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let mut stream = TcpStream::connect(server.dashboard.strip_prefix("http://").unwrap()).await.unwrap();
    let ask = format!("GET /api/status HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
    let mut status = async || {
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = String::new();
        while !answer.contains('}') {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).await.unwrap();
            assert!(count > 0, "closed: {answer}");
            answer.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(status().await, "200");
    server.api(Method::DELETE, &format!("/api/tokens/{id}"), None).await;
    assert_eq!(status().await, "401");
}

#[tokio::test]
async fn users_and_tokens_survive_a_restart() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let made = server.api(Method::POST, "/api/tokens", Some(json!({"name": "ci", "role": "viewer"}))).await;
    let token = made["token"].as_str().unwrap().to_owned();
    let body = json!({"name": "ann", "role": "viewer", "password": "a-password-of-the-test"});
    server.api(Method::POST, "/api/users", Some(body)).await;
    let server = server.kill().start();
    let url = format!("{}/api/agents", server.dashboard);
    assert_eq!(server.http.json(Method::GET, &url, Some(&token), None).await.unwrap().status, 200);
    assert_eq!(server.get("/api/users").await["items"][0]["name"], "ann");
}

#[tokio::test]
async fn row_of_the_audit_log_that_is_changed_in_the_file_is_found() {
    if skip_without_sqlite() {
        return;
    }
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.agent("looper").ask("What does the first page say?").await;
    for reason in ["canary-reason-one", "canary-reason-two"] {
        server.run(&["deactivate", "looper", "--reason", reason]).said();
        server.run(&["activate", "looper", "--reason", reason]).said();
    }
    let place = server.data_dir().to_str().unwrap().to_owned();
    let verify = || run(&["audit", "verify", "--data-dir", &place]);
    assert!(verify().said().contains("4 rows, none changed or missing"), "{:?}", verify());
    let exported = run(&["audit", "export", "--data-dir", &place]);
    let rows: Vec<serde_json::Value> =
        exported.said().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (rows.len(), &rows[3]["action"], &rows[3]["reason"]),
        (4, &json!("agent.activate"), &json!("canary-reason-two"))
    );
    assert_eq!(rows[0]["actor"]["kind"], "command_line");

    let (builder, _) = server.terminate();
    let file = builder.data_path().join("agentgazer.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let (from, to) = (b"canary-reason-one", b"forged-reason-one");
    let places: Vec<usize> =
        bytes.windows(from.len()).enumerate().filter(|(_, it)| it == from).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    std::fs::write(&file, bytes).unwrap();
    let found = verify();
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.stderr.contains("row 1 was changed"), "{found:?}");
}

#[tokio::test]
async fn audit_command_lists_failed_logins() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let url = format!("{}/api/status", server.dashboard);
    assert_eq!(server.http.json(Method::GET, &url, Some("a-wrong-token"), None).await.unwrap().status, 401);
    // The row is written after the answer.
    eventually("the row of the failed login", async || {
        let rows = server.get("/api/audit?action=session.refuse").await;
        (rows["items"] != json!([])).then_some(())
    })
    .await;
    let listed = server.run(&["audit"]);
    let line = listed.said().lines().find(|line| line.contains("session.refuse")).unwrap_or_default();
    assert!(line.contains("unknown (127.0.0.1)"), "{listed:?}");
}

#[tokio::test]
async fn person_at_a_terminal_is_asked_why_an_agent_is_activated() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.agent("looper").ask("What does the first page say?").await;
    let activate = format!("activate looper --data-dir {} --token {}", server.data_dir().display(), server.token);
    let log = server.data_dir().join("terminal.log");
    for (answer, expected) in [("the import is fixed\n", json!("the import is fixed")), ("\n", json!(null))] {
        server.run(&["deactivate", "looper"]).said();
        // `script` gives the command a terminal.
        let program = format!("{} {activate}", agentgazer().get_program().display());
        let mut script = Command::new("script");
        script.args(["--quiet", "--return", "--command", &program]).arg(&log);
        let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        script.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let output = script.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("Why?") && said.contains("looper is active"), "{said}");
        let row = server.get("/api/audit?action=agent.activate").await["items"][0].clone();
        assert_eq!(row["reason"], expected);
    }
}
