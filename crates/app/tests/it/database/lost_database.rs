//! The files of the database are deleted, replaced or damaged while the server runs. Every
//! acknowledged kill and change holds after kill -9 and a restart, and the server reports what
//! happened.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use http::Method;
use serde_json::json;

use crate::faults::SmallDisk;
use crate::support::{Server, ServerBuilder, eventually, provider, run};

const QUESTION: &str = "Why does the import of customer records fail?";
const DATABASE: &str = "agentgazer.db";

#[tokio::test]
async fn deleted_database_file_loses_no_kill() {
    kills_survive("was deleted", |data| std::fs::remove_file(data.join(DATABASE)).unwrap()).await;
}

#[tokio::test]
async fn deleted_write_ahead_log_loses_no_kill() {
    kills_survive("agentgazer.db-wal was deleted", |data| {
        std::fs::remove_file(data.join("agentgazer.db-wal")).unwrap()
    })
    .await;
}

#[tokio::test]
async fn deleted_data_directory_loses_no_kill() {
    kills_survive("was deleted", |data| std::fs::remove_dir_all(data).unwrap()).await;
}

#[tokio::test]
async fn replaced_database_file_loses_no_kill() {
    kills_survive("was replaced", |data| {
        std::fs::write(data.join("other"), "not a database at all").unwrap();
        std::fs::rename(data.join("other"), data.join(DATABASE)).unwrap();
    })
    .await;
}

#[tokio::test]
async fn garbage_in_every_page_loses_no_kill() {
    kills_survive("is damaged", |data| {
        let length = std::fs::metadata(data.join(DATABASE)).unwrap().len();
        overwrite(&data.join(DATABASE), 0, length);
    })
    .await;
}

#[tokio::test]
async fn garbage_behind_the_first_page_loses_no_kill() {
    kills_survive("is damaged", |data| {
        let length = std::fs::metadata(data.join(DATABASE)).unwrap().len();
        overwrite(&data.join(DATABASE), 4096, length - 4096);
    })
    .await;
}

#[tokio::test]
async fn truncated_database_file_loses_no_kill() {
    for keep_half in [false, true] {
        // A new connection to an empty file deletes the log.
        kills_survive("a new database was written", |data| {
            let file = OpenOptions::new().write(true).open(data.join(DATABASE)).unwrap();
            let half = file.metadata().unwrap().len() / 2 / 4096 * 4096;
            file.set_len(if keep_half { half } else { 0 }).unwrap();
        })
        .await;
    }
}

/// A change right after the loss is refused or kept, never acknowledged and lost.
#[tokio::test]
async fn change_right_after_the_loss_is_refused_or_kept() {
    for _ in 0..5 {
        let provider = provider().await;
        let server = ServerBuilder::new(&provider.url()).start();
        server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
        std::fs::remove_file(server.data_dir().join(DATABASE)).unwrap();
        let path = "/api/agents/looper/kill-switch";
        let answer = server.try_api(Method::PUT, path, Some(json!({"threshold": 7.5}))).await.unwrap();
        let server = server.kill().start();
        let agent = server.try_api(Method::GET, path, None).await.unwrap();
        match answer.status.as_u16() {
            200 => assert_eq!(agent.json()["threshold"], 7.5),
            status => assert_eq!(status, 503),
        }
    }
}

/// There is no room for a second copy of the events: the new database still holds the kills.
#[tokio::test]
async fn deleted_database_on_a_full_disk_loses_no_kill() {
    let Some(disk) = SmallDisk::mount("3m") else { return };
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).data_dir(&disk.path.join("data")).start();
    server.kill_switch("before", json!({"enabled": true, "threshold": 5.0})).await;
    loop_until_stopped(&server, "before").await;
    let ballast = disk.fill();
    std::fs::remove_file(server.data_dir().join(DATABASE)).unwrap();
    eventually("it is not ready", async || {
        (server.try_api(Method::GET, "/readyz", None).await.unwrap().status == 503).then_some(())
    })
    .await;
    let path = "/api/agents/before/kill-switch";
    let refused = server.try_api(Method::PUT, path, Some(json!({"threshold": 7.5}))).await.unwrap();
    assert_eq!(refused.status, 503);
    assert!(server.agent("before").ask("Something else?").await.is_inactive_response());

    std::fs::remove_file(ballast).unwrap();
    eventually("it is ready again", async || {
        (server.try_api(Method::GET, "/readyz", None).await.unwrap().status == 200).then_some(())
    })
    .await;
    let server = server.kill().start();
    assert_eq!(server.get("/api/agents/before").await["active"], false);
    assert_eq!(server.get(path).await["threshold"], 5.0, "what was refused was not changed");
}

/// Another server has started on a new directory of the same name: the first one does not touch it,
/// and says so.
#[tokio::test]
async fn directory_of_another_server_is_left_alone() {
    let provider = provider().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let first = ServerBuilder::new(&provider.url()).data_dir(&data).start();
    first.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    // It would create the directory again before the other server is up.
    first.signal("STOP");
    std::fs::rename(&data, folder.path().join("moved")).unwrap();
    let second = ServerBuilder::new(&provider.url()).data_dir(&data).start();
    let files = ["evidence.db", "recordings.db", "agentgazer.db"].map(|name| data.join(name));
    let inodes = || files.each_ref().map(|file| std::fs::metadata(file).map(|file| file.ino()).ok());
    let of_second = inodes();
    first.signal("CONT");

    let why = eventually("the first is not ready", async || {
        let answer = first.try_api(Method::GET, "/readyz", None).await.unwrap();
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        (answer.status == 503 && text.contains("another server")).then_some(text)
    })
    .await;
    assert!(why.contains("in memory only"), "{why}");
    let refused = first.try_api(Method::PUT, "/api/agents/looper/kill-switch", Some(json!({"threshold": 9.0}))).await;
    assert_eq!(refused.unwrap().status, 503);
    loop_until_stopped(&first, "looper").await;
    second.kill_switch("other", json!({"enabled": true})).await;
    assert_eq!(inodes(), of_second, "the files of the second server");
    assert!(first.log().lines().filter(|line| line.contains("while the server was running")).count() == 1);
}

/// The lock file is not the only protection against a second server.
#[tokio::test]
async fn second_server_does_not_start_after_the_lock_file_was_deleted() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    std::fs::remove_file(server.data_dir().join("agentgazer.lock")).unwrap();
    let data = server.data_dir().to_str().unwrap();
    let second = run(&["start", "--port", "0", "--proxy-port", "0", "--data-dir", data]);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("another server"), "{second:?}");
}

/// A kill and a change before the loss, the loss, a kill and a change after it, kill -9, restart.
async fn kills_survive(said: &str, lose: impl Fn(&Path)) {
    let provider = provider().await;
    let folder = tempfile::tempdir().unwrap();
    let server = ServerBuilder::new(&provider.url()).data_dir(&folder.path().join("data")).without_token().start();
    let token = server.token.clone();
    server.kill_switch("before", json!({"enabled": true, "threshold": 5.0})).await;
    server.kill_switch("after", json!({"enabled": true, "threshold": 5.0})).await;
    server
        .api(
            Method::PUT,
            "/api/providers/mine",
            Some(json!({"base_url": provider.url(), "format": "openai", "key": "sk-mine"})),
        )
        .await;
    let first = loop_until_stopped(&server, "before").await;

    lose(server.data_dir());
    let notice = eventually("the server says what happened", async || {
        server.get("/api/status").await["database_notice"].as_str().map(str::to_owned)
    })
    .await;
    assert!(notice.contains(said), "{notice}");
    eventually("it is ready again", async || {
        (server.try_api(Method::GET, "/readyz", None).await.unwrap().status == 200).then_some(())
    })
    .await;
    assert!(server.agent("before").ask("Something else?").await.is_inactive_response());
    server.kill_switch("after", json!({"threshold": 4.5})).await;
    let second = loop_until_stopped(&server, "after").await;
    let log = server.log();
    assert_eq!(log.lines().filter(|line| line.contains("nothing is acknowledged until")).count(), 1, "{log}");

    let server = server.kill().start();
    assert_eq!(server.token, token, "the token is the same");
    for (agent, incident) in [("before", first), ("after", second)] {
        let stored = server.get(&format!("/api/agents/{agent}")).await;
        assert_eq!(stored["active"], false, "{said}: {agent}: {stored}");
        assert_eq!(stored["deactivated_by"], "kill_switch");
        assert_eq!(stored["incident_id"], incident, "{said}");
        assert!(server.agent(agent).ask(QUESTION).await.is_inactive_response());
    }
    assert_eq!(server.get("/api/agents/after/kill-switch").await["threshold"], 4.5);
}

/// Repeats a call until the kill is acknowledged, and returns its incident.
async fn loop_until_stopped(server: &Server, agent: &str) -> String {
    let client = server.agent(agent);
    for _ in 0..20 {
        let answer = client.ask(QUESTION).await;
        if answer.is_inactive_response() {
            return answer.json()["incident_id"].as_str().unwrap().to_owned();
        }
    }
    panic!("{agent} was not stopped: {}", server.log());
}

fn overwrite(path: &Path, from: u64, length: u64) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(length).unwrap()]).unwrap();
}
