//! The commands that talk to a running server, as scripts and people use them.

use fake_provider::{Behaviour, FakeProvider};
use model::{Clock, Timestamp};
use serde_json::json;

use crate::support::{Run, Server, ServerBuilder, eventually, provider, run};

const QUESTION: &str = "Why does the import of customer records fail?";

/// A server with one agent that was stopped at its fourth call and one that was not.
async fn after_a_kill(provider: &FakeProvider) -> Server {
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..4 {
        server.agent("looper").ask(QUESTION).await;
    }
    server.agent("worker").ask(QUESTION).await;
    let recorded = async || server.events("worker", "llm_call").await.pop();
    eventually("the healthy call is recorded", recorded).await;
    server
}

/// The line of a table that begins with `name`, as cells.
fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let mut rows = table.lines().filter(|line| line.split_whitespace().any(|cell| cell == name));
    let row = rows.next().unwrap_or_else(|| panic!("no {name} in {table}"));
    assert_eq!(rows.next(), None, "{table}");
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[tokio::test]
async fn a_server_without_agents_says_so() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    assert!(server.run(&["agents"]).said().starts_with("No agents yet"));
    assert_eq!(server.run(&["incidents"]).said(), "No incidents.\n");
    for list in ["agents", "incidents"] {
        assert_eq!(server.run(&[list, "--json"]).json(), json!({"items": [], "next_cursor": null}));
    }
}

#[tokio::test]
async fn agents_are_listed() {
    let provider = provider().await;
    let server = after_a_kill(&provider).await;
    let table = server.run(&["agents"]);
    let looper = row(table.said(), "looper");
    assert!(looper[1].starts_with("stopped") && looper[2] == "7.0/5.0", "{looper:?}");
    let worker = row(table.said(), "worker");
    assert_eq!(worker[1..4], ["active", "0.0/10.0", "off"]);
    assert_eq!(server.run(&["agents", "--json"]).json(), server.get("/api/agents").await);
}

#[tokio::test]
async fn incidents_are_listed_and_shown() {
    let provider = provider().await;
    let server = after_a_kill(&provider).await;
    let incident = server.incidents("looper").await.remove(0);
    let id = incident["id"].as_str().unwrap();

    let cells = server.run(&["incidents"]);
    let cells = row(cells.said(), "looper");
    assert!(["looper", "7.0/5.0", "open", id].iter().all(|cell| cells.contains(cell)), "{cells:?}");
    assert_eq!(server.run(&["incidents", "--json"]).json(), server.get("/api/incidents").await);
    assert_eq!(server.run(&["incidents", "--agent", "worker"]).said(), "No incidents.\n");

    let shown = server.run(&["incidents", id]);
    for part in [id, "looper", "7.0", "5.0", "3 × 1.0", "2 × 2.0", "trigger", "prompt as 4 (0), response as 3 (0)"] {
        assert!(shown.said().contains(part), "{part}: {}", shown.stdout);
    }
    let mut expected = incident.clone();
    expected["evidence"] = server.get(&format!("/api/incidents/{id}/evidence")).await["items"].clone();
    assert_eq!(server.run(&["incidents", id, "--json"]).json(), expected);
}

#[tokio::test]
async fn a_false_alarm_is_exempt_until_it_is_revoked() {
    let provider = provider().await;
    let server = after_a_kill(&provider).await;
    let incident = server.incidents("looper").await.remove(0);
    let id = incident["id"].as_str().unwrap();
    assert!(server.run(&["incidents", id, "--feedback", "false-alarm"]).said().contains("a false alarm"));
    assert_eq!(server.get(&format!("/api/incidents/{id}")).await["feedback"], "false_alarm");

    assert_eq!(server.run(&["exemptions", "looper"]).said(), "Everything counts.\n");
    let in_two_days = Clock::System.now().as_millis() + 2 * 24 * 60 * 60 * 1000;
    let day = Timestamp::from_millis(in_two_days).to_string()[..10].to_owned();
    let make =
        |until: &str| server.run(&["exemptions", "looper", "--incident", id, "--what", "prompt", "--until", until]);
    assert!(make(&day).said().contains("looper: this prompt does not count until"));
    for (until, code) in [("tomorrow", Some(2)), ("2020-01-01", Some(2))] {
        assert_eq!(make(until).code, code, "{until}");
    }
    let listed = server.run(&["exemptions", "looper", "--json"]).json();
    assert_eq!(listed["items"], server.get("/api/agents/looper/exemptions").await["items"]);
    let exemption = listed["items"][0]["id"].as_str().unwrap();
    assert!(server.run(&["exemptions", "looper"]).said().contains(QUESTION));

    server.run(&["activate", "looper"]);
    assert!(server.run(&["incidents", id]).said().contains("from the command line"));
    for _ in 0..8 {
        assert_eq!(server.agent("looper").ask(QUESTION).await.status, 200);
    }
    assert!(server.run(&["exemptions", "looper", "--revoke", exemption]).said().contains("counts again"));
    assert_eq!(server.run(&["exemptions", "looper", "--revoke", exemption]).code, Some(4));
    assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response());

    assert!(server.run(&["incidents", id, "--delete"]).said().starts_with("Deleted"));
    assert_eq!(server.run(&["incidents", id]).code, Some(4));
}

#[tokio::test]
async fn an_agent_is_deactivated_and_activated() {
    let provider = provider().await;
    let server = after_a_kill(&provider).await;
    assert!(server.run(&["deactivate", "worker"]).said().contains("worker is inactive"));
    assert!(server.agent("worker").ask(QUESTION).await.is_inactive_response());
    assert_eq!(server.get("/api/agents/worker").await["deactivated_by"], "manual");
    assert_eq!(row(server.run(&["agents"]).said(), "worker")[1], "inactive");

    assert!(server.run(&["activate", "worker"]).said().contains("worker is active"));
    assert_eq!(server.agent("worker").ask(QUESTION).await.status, 200);
    let again = server.run(&["activate", "worker"]);
    assert_eq!(again.said(), "worker was active already: nothing changed.\n");
    let again = server.run(&["deactivate", "looper"]);
    assert_eq!(again.said(), "looper was inactive already: nothing changed.\n");
    assert_eq!(server.get("/api/agents/looper").await["deactivated_by"], "kill_switch");
    let activated = server.run(&["activate", "looper", "--json"]).json();
    assert_eq!((&activated["agent_id"], &activated["active"]), (&json!("looper"), &json!(true)));
    assert_eq!(server.incidents("looper").await[0]["state"], "closed");
}

#[tokio::test]
async fn a_kill_switch_is_shown_and_changed() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let changes = ["--window", "5", "--threshold", "2.5", "--action", "block", "--counting", "literal"];
    let changed = server.run(&[&["kill-switch", "tuned", "on", "--create"], &changes[..]].concat());
    for part in ["tuned", "on", "5", "2.5", "block", "literal"] {
        assert!(changed.said().contains(part), "{part}: {}", changed.stdout);
    }
    let expected =
        json!({"enabled": true, "window_size": 5, "threshold": 2.5, "action": "block", "counting": "literal"});
    assert_eq!(server.get("/api/agents/tuned").await["kill_switch"], expected);

    let off = server.run(&["kill-switch", "tuned", "off", "--json"]).json();
    assert_eq!((&off["enabled"], &off["threshold"]), (&json!(false), &json!(2.5)));
    assert_eq!(server.run(&["kill-switch", "tuned", "--json"]).json(), off, "asking changes nothing");

    for (flag, value, field) in [("--threshold", "0", "threshold"), ("--window", "1", "window_size")] {
        let refused = server.run(&["kill-switch", "tuned", flag, value]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
        assert!(refused.stderr.contains(field), "{refused:?}");
    }
    assert_eq!(server.run(&["kill-switch", "tuned", "--json"]).json(), off, "a bad value changes nothing");
}

#[tokio::test]
async fn exit_codes_are_stable() {
    let provider = provider().await;
    let server = after_a_kill(&provider).await;
    let data = server.data_dir().to_str().unwrap();
    let check = |run: Run, code: i32, part: &str| {
        assert_eq!(run.code, Some(code), "{run:?}");
        assert!(run.stderr.contains(part), "{part}: {run:?}");
        assert_eq!(run.stdout, "", "{run:?}");
    };
    let nowhere = "http://127.0.0.1:1";
    let unknown = "0190b6a4-0000-7000-8000-000000000000";
    let taken = server.dashboard.rsplit(':').next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().to_str().unwrap();

    check(run(&["start", "--port", taken, "--proxy-port", "0", "--data-dir", elsewhere]), 1, taken);
    check(run(&["agents", "--colour"]), 2, "--colour");
    check(server.run(&["activate", "../etc"]), 2, "no agent");
    check(server.run(&["incidents", "../etc"]), 2, "no id");
    check(server.run(&["kill-switch", "looper", "--action", "explode"]), 2, "action");
    check(run(&["agents", "--url", nowhere, "--token", "t", "--data-dir", data]), 3, nowhere);
    let secure = server.dashboard.replace("http:", "https:");
    check(run(&["agents", "--url", &secure, "--token", "t", "--data-dir", data]), 3, "no TLS connection");
    check(run(&["agents", "--url", nowhere, "--data-dir", elsewhere]), 2, "--token");
    check(server.run(&["activate", "nobody"]), 4, "nobody");
    check(server.run(&["kill-switch", "nobody"]), 4, "nobody");
    check(server.run(&["incidents", unknown]), 4, unknown);
    check(run(&["token", "--data-dir", elsewhere]), 4, "no token");
    check(run(&["agents", "--data-dir", elsewhere]), 3, "no server");
    check(run(&["agents", "--token", "wrong", "--data-dir", data]), 5, "token");
}

#[tokio::test]
async fn token_command_prints_the_token() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).without_token().start();
    let data = server.data_dir().to_str().unwrap();
    assert_eq!(run(&["token", "--data-dir", data]).said().trim_end(), server.token);
    assert_eq!(
        run(&["agents", "--json", "--data-dir", data]).json()["items"],
        json!([]),
        "the data directory is enough"
    );
}

#[test]
fn completions_are_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        assert!(script.said().contains("kill-switch"), "{shell}");
    }
    let mut bash = std::process::Command::new("bash")
        .args(["-n", "/dev/stdin"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let script = run(&["completions", "bash"]).stdout;
    std::io::Write::write_all(&mut bash.stdin.take().unwrap(), script.as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success());
}

#[tokio::test]
async fn hostile_text_does_not_reach_the_terminal() {
    const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\u{8}\u{202e}gnp\u{200b}";
    let answer = format!("{HOSTILE} The import fails because the column is missing.");
    let provider = FakeProvider::start(0, Behaviour::text(&answer)).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    let question = format!("{HOSTILE} {QUESTION}");
    let body = json!({"model": HOSTILE, "messages": [{"role": "user", "content": question}]});
    for _ in 0..4 {
        server.agent("looper").chat(&body).await;
    }
    let incident = server.incidents("looper").await.remove(0);
    assert_eq!(incident["model"], HOSTILE, "it is kept as it came");
    let id = incident["id"].as_str().unwrap();

    for command in [vec!["agents"], vec!["incidents"], vec!["incidents", id], vec!["kill-switch", "looper"]] {
        harmless(&server.run(&command));
        let json = server.run(&[&command[..], &["--json"]].concat());
        harmless(&json);
        json.json();
    }
    assert_eq!(server.run(&["incidents", id, "--json"]).json()["model"], HOSTILE, "JSON means the same");
    harmless(&server.run(&["activate", HOSTILE]));
    harmless(&server.run(&["kill-switch", "looper", "--action", HOSTILE]));
}

/// Checks that the output is only lines of visible text.
fn harmless(run: &Run) {
    let obeyed = |c: char| c != '\n' && (c.is_control() || ('\u{200b}'..='\u{202e}').contains(&c));
    for text in [&run.stdout, &run.stderr] {
        assert!(!text.contains(obeyed), "{text:?}");
    }
}
