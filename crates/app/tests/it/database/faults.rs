//! The database fails: traffic flows, kills hold, the log reports it once, readiness says why.
//!
//! `LOCK_SECONDS=60 cargo test --test it locked` for a lock of a minute.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use http::Method;
use serde_json::json;
use sqlx::{Connection, Executor, SqliteConnection};

use crate::support::{Server, ServerBuilder, eventually, provider, requests, run, skip_without_root};
use fake_provider::FakeProvider;

pub(crate) const QUESTION: &str = "Why does the import of customer records fail?";

#[tokio::test]
async fn a_locked_database_stops_nothing_but_changes() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    let path = server.data_dir().join("agentgazer.db");
    let mut lock = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
    lock.execute("begin immediate").await.unwrap();

    loop_until_stopped(&server, &provider).await;
    assert!(readiness(&server).await.contains("database"), "{}", readiness(&server).await);
    let refused =
        server.try_api(Method::PUT, "/api/agents/looper/kill-switch", Some(json!({"threshold": 9.0}))).await.unwrap();
    assert_eq!(refused.status, 503);
    assert_eq!(server.get("/api/agents/looper/kill-switch").await["threshold"], 5.0, "nothing was changed");
    let calls = traffic_meanwhile(&server).await;

    lock.execute("rollback").await.unwrap();
    recovers(&server).await;
    eventually("all calls are stored", async || {
        (server.events("walker", "llm_call").await.len() == calls).then_some(())
    })
    .await;
}

#[tokio::test]
async fn change_refused_by_a_locked_database_is_never_in_force() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 10.0})).await;
    let agent = server.agent("looper");
    for _ in 0..5 {
        assert_eq!(agent.ask(QUESTION).await.status, 200);
    }
    eventually("the calls are stored", async || (server.events("looper", "llm_call").await.len() == 5).then_some(()))
        .await;
    let path = server.data_dir().join("agentgazer.db");
    let mut lock = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
    lock.execute("begin immediate").await.unwrap();

    let change = json!({"enabled": false, "window_size": 2});
    let change = server.try_api(Method::PUT, "/api/agents/looper/kill-switch", Some(change));
    let settings_meanwhile = async {
        eventually("the change meets the lock", async || (!readiness(&server).await.is_empty()).then_some(())).await;
        server.get("/api/agents/looper/kill-switch").await
    };
    let (refused, settings) = tokio::join!(change, settings_meanwhile);
    assert_eq!(refused.unwrap().status, 503);
    assert_eq!((&settings["enabled"], &settings["window_size"]), (&json!(true), &json!(20)));

    lock.execute("rollback").await.unwrap();
    assert!(agent.ask(QUESTION).await.is_inactive_response(), "the sixth call finds the five before it");
    let incident = eventually("the kill is stored", async || server.incidents("looper").await.pop()).await;
    assert_eq!(incident["score"], 13.0);
}

/// Calls twice a second for `LOCK_SECONDS`, and at least once.
async fn traffic_meanwhile(server: &Server) -> usize {
    let seconds: usize = std::env::var("LOCK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let calls = 1 + 2 * seconds;
    let mut pace = tokio::time::interval(Duration::from_millis(500));
    for number in 0..calls {
        pace.tick().await;
        assert_eq!(server.agent("walker").ask(&format!("What does page {number:#x} say?")).await.status, 200);
    }
    calls
}

#[tokio::test]
async fn a_full_disk_stops_nothing_but_changes() {
    let Some(disk) = SmallDisk::mount("3m") else { return };
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).data_dir(&disk.path.join("data")).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    let ballast = disk.fill();

    loop_until_stopped(&server, &provider).await;
    assert!(!readiness(&server).await.is_empty());

    std::fs::remove_file(ballast).unwrap();
    recovers(&server).await;
}

#[tokio::test]
async fn full_disk_does_not_keep_the_server_from_starting() {
    let Some(disk) = SmallDisk::mount("3m") else { return };
    let data = disk.path.join("data");
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).data_dir(&data).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    let (builder, status) = server.terminate();
    assert!(status.success());
    let ballast = disk.fill();

    let server = builder.start();
    loop_until_stopped(&server, &provider).await;
    assert!(server.log().contains("server.json cannot be written"), "{}", server.log());
    assert!(!data.join("server.json").exists());
    let leftovers =
        std::fs::read_dir(&data).unwrap().flatten().filter(|file| file.path().extension() == Some("new".as_ref()));
    assert_eq!(leftovers.count(), 0);

    std::fs::remove_file(ballast).unwrap();
    recovers(&server).await;
}

#[tokio::test]
async fn read_only_data_directory_is_refused_in_one_sentence() {
    let Some(disk) = SmallDisk::mount("3m") else { return };
    let provider = provider().await;
    let data = disk.path.join("data");
    let (_, status) = ServerBuilder::new(&provider.url()).data_dir(&data).start().terminate();
    assert!(status.success());
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&disk.path).status();
    assert!(remounted.unwrap().success());
    let refused = run(&["start", "--port", "0", "--proxy-port", "0", "--data-dir", data.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(refused.stderr.trim().lines().count(), 1, "{refused:?}");
    assert!(refused.stderr.contains("read-only file system") && refused.stderr.contains("--data-dir"), "{refused:?}");
}

#[tokio::test]
async fn a_read_only_file_stops_nothing_but_changes() {
    if skip_without_root("an immutable file") {
        return;
    }
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    let read_only =
        ReadOnly::make(&[server.data_dir().join("agentgazer.db"), server.data_dir().join("agentgazer.db-wal")]);

    loop_until_stopped(&server, &provider).await;
    assert!(!readiness(&server).await.is_empty());

    drop(read_only);
    recovers(&server).await;
}

/// Calls pass until the loop is detected; then the kill holds, although it cannot be stored.
pub(crate) async fn loop_until_stopped(server: &Server, provider: &FakeProvider) {
    let agent = server.agent("looper");
    for _ in 0..3 {
        assert_eq!(agent.ask(QUESTION).await.status, 200);
    }
    assert!(agent.ask(QUESTION).await.is_inactive_response());
    assert!(agent.ask("Something else: what is the weather like?").await.is_inactive_response());
    let seen = requests(provider);
    for number in ["one", "two", "three", "four", "five"] {
        assert_eq!(
            server.agent("bystander").ask(&format!("Tell me about chapter {number} of the book")).await.status,
            200
        );
    }
    assert_eq!(requests(provider), seen + 5);
    eventually("readiness says so", async || (!readiness(server).await.is_empty()).then_some(())).await;
}

/// Checks that the kept records are written, readiness is back, and the log has one line for each
/// change.
pub(crate) async fn recovers(server: &Server) {
    let incident = eventually("the kill is stored", async || server.incidents("looper").await.pop()).await;
    assert_eq!(incident["state"], "open");
    eventually("the calls are stored", async || {
        (server.events("bystander", "llm_call").await.len() == 5).then_some(())
    })
    .await;
    eventually("readiness is back", async || readiness(server).await.is_empty().then_some(())).await;
    assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response());
    let log = server.log();
    let said = log.lines().filter(|line| line.contains("nothing can be recorded")).count();
    assert_eq!(said, 1, "{log}");
}

/// Why the server is not ready; empty if it is.
pub(crate) async fn readiness(server: &Server) -> String {
    let answer = server.try_api(Method::GET, "/readyz", None).await.unwrap();
    if answer.status == 200 { String::new() } else { String::from_utf8_lossy(&answer.body).into_owned() }
}

/// Files that no one can write: root ignores their mode and open files keep it, so they are made
/// immutable.
struct ReadOnly(Vec<PathBuf>);

impl ReadOnly {
    fn make(files: &[PathBuf]) -> ReadOnly {
        for file in files {
            assert!(chattr("+i", file), "the file system has no immutable files");
        }
        ReadOnly(files.to_vec())
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        for file in &self.0 {
            chattr("-i", file);
        }
    }
}

fn chattr(flag: &str, file: &Path) -> bool {
    Command::new("chattr").arg(flag).arg(file).status().is_ok_and(|status| status.success())
}

/// A separate file system that can be filled.
pub(crate) struct SmallDisk {
    pub(crate) path: PathBuf,
    _folder: tempfile::TempDir,
}

impl SmallDisk {
    /// `None` without root: the caller's test is skipped.
    pub(crate) fn mount(size: &str) -> Option<SmallDisk> {
        if skip_without_root("a file system of its own") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        std::fs::create_dir(&path).unwrap();
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(&path)
            .status()
            .expect("mount is needed");
        assert!(status.success(), "mount failed");
        Some(SmallDisk { path, _folder: folder })
    }

    /// Fills it completely with a file, and returns its path.
    pub(crate) fn fill(&self) -> PathBuf {
        let ballast = self.path.join("ballast");
        let mut file = std::fs::File::create(&ballast).unwrap();
        for size in [65_536, 4_096, 512, 1] {
            while std::io::Write::write_all(&mut file, &vec![b'x'; size]).is_ok() {}
        }
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}
