//! What a start checks, creates and refuses.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bytes::Bytes;
use fake_provider::{Behaviour, FakeProvider, Fault};
use http::{Method, Request};
use http_body_util::Full;
use serde_json::json;

use crate::support::{
    Run, Server, ServerBuilder, agentgazer, eventually, messages_request, provider, run, skip_without_sqlite,
    wants_postgres,
};

const QUESTION: &str = "Why does the import of customer records fail?";

#[test]
fn server_with_mistakes_reports_all_and_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "prot = 1\n[limits]\nidle_timeout = 5\n").unwrap();
    let data = folder.path().join("data");
    let run: Run = agentgazer()
        .args(["start", "--port", "99999", "--provider", "mine=http://127.0.0.1:1", "--bind", "0.0.0.0", "--config"])
        .arg(&file)
        .arg("--data-dir")
        .arg(&data)
        .env("AGENTGAZER_REFUSAL_STATUS", "200")
        .output()
        .unwrap()
        .into();
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("6 mistakes in the configuration"), "{}", run.stderr);
    let told = |key: &str, origin: &str| {
        let told = run.stderr.lines().any(|line| line.trim_start().starts_with(key) && line.contains(origin));
        assert!(told, "{key} ({origin}): {}", run.stderr);
    };
    told("prot", "mine.toml:1)");
    told("limits.idle_timeout", "mine.toml:3)");
    told("refusal_status", "(AGENTGAZER_REFUSAL_STATUS)");
    told("port", "(--port)");
    told("providers", "(--provider)");
    told("token", "(--bind)");
    assert!(!data.exists(), "nothing was made");
}

#[tokio::test]
async fn an_open_address_needs_a_token_of_the_operator() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let refused = run(&["start", "--bind", "0.0.0.0", "--port", "0", "--data-dir", data.to_str().unwrap()]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("token must be set") && refused.stderr.contains("AGENTGAZER_TOKEN"), "{refused:?}");
    assert!(!data.exists(), "nothing was made");

    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--bind", "0.0.0.0"]).start();
    assert_eq!(server.agent("guest").ask(QUESTION).await.status, 200);
}

#[test]
fn short_token_is_refused_with_a_random_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let refused = run(&["start", "--token", "a", "--port", "0", "--data-dir", data.to_str().unwrap()]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("token must have at least 16 characters, not 1"), "{refused:?}");
    assert!(refused.stderr.contains("random one: ") && refused.stderr.contains("(--token)"), "{refused:?}");
    assert!(!data.exists(), "nothing was made");
}

#[tokio::test]
async fn a_short_token_in_the_data_directory_is_used_with_a_warning() {
    let provider = provider().await;
    let builder = ServerBuilder::new(&provider.url()).without_token();
    std::fs::write(builder.data_path().join("token"), "short\n").unwrap();
    let server = builder.start();
    assert_eq!(server.token, "short");
    server.get("/api/agents").await;
    assert!(server.log().contains("fewer than 16 characters") && !server.log().contains("short"), "{}", server.log());
}

#[tokio::test]
async fn a_data_directory_has_one_server() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let data = server.data_dir().to_str().unwrap();
    let second = run(&["start", "--port", "0", "--proxy-port", "0", "--data-dir", data]);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("another server") && second.stderr.contains(data), "{second:?}");
    assert_eq!(server.run(&["agents"]).code, Some(0), "the first goes on, and is still found");
}

#[tokio::test]
async fn data_that_other_users_could_read_is_made_private() {
    if skip_without_sqlite() {
        return;
    }
    let provider = provider().await;
    let builder = ServerBuilder::new(&provider.url()).without_token().start().kill();
    let data = builder.data_path().to_owned();
    let open = |name: &str, mode: u32| {
        std::fs::set_permissions(data.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open("", 0o777);
    let files = ["token", "agentgazer.key", "agentgazer.db"];
    files.iter().for_each(|name| open(name, 0o644));
    let server = builder.start();
    let mode = |name: &str| std::fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    assert_eq!(files.map(mode), [0o600; 3]);
    let log = server.log();
    assert_eq!(log.lines().filter(|line| line.contains("by other users")).count(), 4, "{log}");
    assert!(log.contains("mode 0777") && log.contains("mode 0644"), "{log}");
}

#[tokio::test]
async fn first_start_generates_a_token_that_stays() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).without_token().start();
    let mode = |name: &str| std::fs::metadata(server.data_dir().join(name)).unwrap().permissions().mode() & 0o777;
    let database = (!wants_postgres()).then_some("agentgazer.db");
    for secret in ["token", "agentgazer.key"].into_iter().chain(database) {
        assert_eq!(mode(secret), 0o600, "{secret}");
    }
    let banner = server.banner().await;
    for part in [&server.proxy, &server.dashboard, &format!("{}/#token={}", server.dashboard, server.token)] {
        assert!(banner.contains(part), "{part}: {banner}");
    }
    assert!(!server.log().contains(&server.token));

    let token = server.token.clone();
    let (builder, status) = server.terminate();
    assert!(status.success());
    assert_eq!(builder.start().token, token);
}

#[tokio::test]
async fn both_listeners_answer_only_to_names_of_this_machine() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--allow-host", "gazer.test"]).start();
    for (host, answered) in [
        ("localhost", true),
        ("127.0.0.1:1", true),
        ("host.docker.internal", true),
        ("gazer.test:18900", true),
        ("evil.test", false),
        ("localhost.evil.test", false),
    ] {
        for url in [format!("{}/agents/a/openai/v1/models", server.proxy), format!("{}/api/agents", server.dashboard)] {
            let status = with_host(&server, &url, host).await;
            assert_eq!(status != 421, answered, "{host} at {url}: {status}");
        }
    }
    assert_eq!(provider.seen().counts().requests, 4, "the others were not sent on");
}

async fn with_host(server: &Server, url: &str, host: &str) -> u16 {
    // The proxy refuses the token of the dashboard in the place of a provider's key.
    let key = if url.starts_with(&server.dashboard) { &server.token } else { "sk" };
    let request = Request::get(url).header("host", host).header("authorization", format!("Bearer {key}"));
    server.http.send(request.body(Full::new(Bytes::new())).unwrap()).await.unwrap().status.as_u16()
}

#[tokio::test]
async fn provider_key_is_used_survives_a_restart_and_is_never_shown() {
    const KEY: &str = "sk-stored-5f0c1d9be7a24c3f";
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for name in ["openai", "anthropic"] {
        let answer = server.api(Method::PUT, &format!("/api/providers/{name}"), Some(json!({"key": KEY}))).await;
        assert_eq!(answer["has_key"], true);
        assert!(!answer.to_string().contains(KEY));
    }
    uses(&server, &provider, KEY).await;

    let (builder, status) = server.terminate();
    assert!(status.success());
    assert_eq!(files_with(builder.data_path(), KEY), [""; 0]);
    let server = builder.start();
    uses(&server, &provider, KEY).await;
    for path in ["/api/providers", "/api/providers/openai", "/api/events"] {
        assert!(!server.get(path).await.to_string().contains(KEY), "{path}");
    }
    assert!(!server.log().contains(KEY));
    assert_eq!(files_with(server.data_dir(), KEY), [""; 0]);

    server.api(Method::DELETE, "/api/providers/openai", None).await;
    server.agent("keyed").ask(QUESTION).await;
    assert_eq!(provider.seen().last().unwrap().headers["authorization"], "Bearer sk-client", "the client's own again");
}

/// Checks that calls in both formats carry `key` instead of the client's.
async fn uses(server: &Server, provider: &FakeProvider, key: &str) {
    let agent = server.agent("keyed");
    assert_eq!(agent.ask(QUESTION).await.status, 200);
    assert_eq!(provider.seen().last().unwrap().headers["authorization"], format!("Bearer {key}"));
    assert_eq!(agent.messages(&messages_request(QUESTION)).await.status, 200);
    let headers = provider.seen().last().unwrap().headers;
    assert_eq!(headers["x-api-key"], key);
    assert!(!format!("{headers:?}").contains("sk-client"), "{headers:?}");
}

/// The files of a data directory that contain `text`.
fn files_with(data: &Path, text: &str) -> Vec<String> {
    let files: Vec<_> = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(wants_postgres() || files.iter().any(|file| file.ends_with("agentgazer.db")), "{files:?}");
    let holds = |file: &&std::path::PathBuf| {
        std::fs::read(file).unwrap().windows(text.len()).any(|window| window == text.as_bytes())
    };
    files.iter().filter(holds).map(|file| file.display().to_string()).collect()
}

#[tokio::test]
async fn a_second_signal_ends_the_drain_at_once() {
    let provider = FakeProvider::start(0, Behaviour::fault(Fault::Stall)).await.unwrap();
    let mut server = ServerBuilder::new(&provider.url()).start();
    let agent = server.agent("patient");
    let call = tokio::spawn(async move { agent.try_chat(&crate::support::openai_request(QUESTION)).await });
    provider.seen().wait_for(|counts| counts.requests == 1).await;
    server.signal("TERM");
    eventually("it says that it stops", async || server.log().contains("stopping").then_some(())).await;
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(143));
    assert!(call.await.unwrap().is_err());
}
