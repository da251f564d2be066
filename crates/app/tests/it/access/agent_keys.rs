//! Agent keys on the real server: created by command, required where the proxy is exposed, and
//! stored nowhere as text.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Answer, Server, ServerBuilder, eventually, openai_request, provider, requests};

const QUESTION: &str = "Why does the import of customer records fail?";

/// Asks on a path of the proxy, with `key` as an OpenAI client sends it.
async fn ask(server: &Server, path: &str, key: &str) -> Answer {
    let request = Request::post(format!("{}{path}", server.proxy))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .body(Full::new(Bytes::from(openai_request(QUESTION).to_string())));
    server.http.send(request.unwrap()).await.unwrap()
}

async fn store_provider_key(server: &Server) {
    server.api(Method::PUT, "/api/providers/openai", Some(json!({"key": "sk-stored"}))).await;
}

/// The files below `folder` that contain `text`.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let is_in = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            found.extend(is_in.then(|| path.display().to_string()));
        }
    }
    found
}

#[tokio::test]
async fn key_made_by_command_works_until_it_is_revoked_and_is_kept_nowhere() {
    let provider = provider().await;
    let flags = ["--set", "proxy.require_key=always", "--set", "recording.agents=*", "--set", "log.level=trace"];
    let server = ServerBuilder::new(&provider.url()).arguments(&flags).start();
    store_provider_key(&server).await;
    let made = server.run(&["keys", "create", "looper", "--name", "ci", "--expires", "2099-12-24"]);
    let key = made.stdout.trim().to_owned();
    assert!(key.starts_with("agk_") && key.len() == 53, "{made:?}");
    let listed = server.run(&["keys", "list", "--json"]).json();
    let id = listed["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed["items"][0]["expires_at"], "2099-12-25T00:00:00.000Z");

    // A kill, so that there is evidence, on both forms of the path.
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for (path, expected) in
        [("/openai/v1", 200), ("/agents/looper/openai/v1", 200), ("/openai/v1", 200), ("/openai/v1", 400)]
    {
        assert_eq!(ask(&server, &format!("{path}/chat/completions"), &key).await.status, expected, "{path}");
    }
    let seen = provider.seen().last().unwrap();
    assert_eq!(seen.headers["authorization"], "Bearer sk-stored");
    let spoofed = ask(&server, "/agents/other/openai/v1/chat/completions", &key).await;
    assert_eq!((spoofed.status.as_u16(), spoofed.header("x-should-retry")), (401, "false"));
    assert_eq!(spoofed.json()["block_reason"], "unauthorized");
    assert_eq!(server.get("/api/status").await["unauthorized_calls"]["other_agent"], 1);
    assert_eq!(server.try_api(Method::GET, "/api/agents/other", None).await.unwrap().status, 404);
    let calls = server.events("looper", "llm_call").await;
    assert_eq!(calls[0]["details"]["key_id"], id.as_str());

    assert_eq!(ask(&server, "/openai/v1/chat/completions", &key).await.status, 400, "the agent is inactive");
    let refused = server.events("looper", "blocked").await;
    assert_eq!(refused[0]["details"]["key_id"], id.as_str(), "refused calls say it too");

    let page = server.try_api(Method::GET, &format!("/requests/{}", calls[0]["id"].as_str().unwrap()), None).await;
    assert!(String::from_utf8_lossy(&page.unwrap().body).contains("ci ("), "the page of the request names the key");

    server.run(&["keys", "revoke", &id]).said();
    let before = requests(&provider);
    assert_eq!(ask(&server, "/openai/v1/chat/completions", &key).await.status, 401);
    assert_eq!(requests(&provider), before);
    check_canary(server, &key).await;
}

/// The key is revoked while the call is being read: it is not sent any more.
#[tokio::test]
async fn key_that_is_revoked_during_an_upload_is_refused() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    store_provider_key(&server).await;
    let made = server.api(Method::POST, "/api/agent-keys", Some(json!({"agent": "slow"}))).await;
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let address = server.proxy.strip_prefix("http://").unwrap();
    let body = openai_request(QUESTION).to_string();
    let (first, rest) = body.split_at(20);
    let mut client = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /openai/v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    let head = format!("{head}authorization: Bearer {key}\r\ncontent-length: {}\r\n\r\n{first}", body.len());
    client.write_all(head.as_bytes()).await.unwrap();
    eventually("the call has begun", async || {
        server.get("/api/agent-keys").await["items"][0]["last_used_at"].is_string().then_some(())
    })
    .await;
    server.api(Method::DELETE, &format!("/api/agent-keys/{id}"), None).await;
    client.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 ") && answer.contains("\"unauthorized\""), "{answer}");
    assert_eq!(requests(&provider), 0);
    let refused = server.events("slow", "blocked").await;
    assert_eq!((&refused[0]["block_reason"], &refused[0]["details"]["key_id"]), (&json!("unauthorized"), &json!(id)));
}

/// Searches for `key` in everything the server writes: API, export, recordings, log, data
/// directory.
async fn check_canary(server: Server, key: &str) {
    let incident = server.incidents("looper").await[0]["id"].as_str().unwrap().to_owned();
    let evidence = format!("/api/incidents/{incident}/evidence");
    for path in [
        "/api/agent-keys",
        "/api/agents",
        "/api/events",
        "/api/incidents",
        "/api/status",
        "/api/events/export?format=csv",
        "/api/events/export?format=json",
        evidence.as_str(),
        "/agents/looper",
        "/requests",
    ] {
        let answer = server.try_api(Method::GET, path, None).await.unwrap();
        assert!(answer.status.is_success(), "{path}: {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.body).contains(key), "{path}");
    }
    let data = server.data_dir().to_owned();
    let exported = server.run_on_data(&["export", "--agent", "looper"]);
    assert!(!exported.stdout.contains(key) && !server.log().contains(key) && !server.banner().await.contains(key));
    let (_builder, status) = server.terminate();
    assert!(status.success());
    assert_eq!(files_with(&data, key), Vec::<String>::new());
}

#[tokio::test]
async fn last_use_is_known_after_a_restart() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    store_provider_key(&server).await;
    let made = server.api(Method::POST, "/api/agent-keys", Some(json!({"agent": "bot"}))).await;
    let key = made["key"].as_str().unwrap().to_owned();
    assert_eq!(ask(&server, "/openai/v1/chat/completions", &key).await.status, 200);
    let used = server.get("/api/agent-keys").await["items"][0]["last_used_at"].clone();
    assert!(used.is_string(), "{used}");
    let server = server.terminate().0.start();
    assert_eq!(server.get("/api/agent-keys").await["items"][0]["last_used_at"], used);
    assert_eq!(ask(&server, "/openai/v1/chat/completions", &key).await.status, 200);
}

#[tokio::test]
async fn open_proxy_requires_keys_once_a_provider_key_is_stored() {
    let provider = provider().await;
    let open = ["--bind", "0.0.0.0"];
    let server = ServerBuilder::new(&provider.url()).arguments(&open).start();
    assert_eq!(server.agent("guest").ask(QUESTION).await.status, 200);
    store_provider_key(&server).await;
    assert_eq!(server.agent("guest").ask(QUESTION).await.status, 401);
    let made = server.api(Method::POST, "/api/agent-keys", Some(json!({"agent": "team-a/*"}))).await;
    let key = made["key"].as_str().unwrap();
    assert_eq!(ask(&server, "/agents/team-a:bot/openai/v1/chat/completions", key).await.status, 200);
    assert_eq!(ask(&server, "/agents/guest/openai/v1/chat/completions", key).await.status, 401);
    // Names have no slash: who writes one is told what it stands for.
    let with_slash = ask(&server, "/agents/team-a/bot/openai/v1/chat/completions", key).await;
    assert_eq!(with_slash.status, 401);
    assert!(with_slash.text().contains("The slash stands for . or : or @"), "{with_slash:?}");

    let (builder, _) = server.terminate();
    let never = ["--bind", "0.0.0.0", "--set", "proxy.require_key=never"];
    let start = ["start", "--port", "0", "--proxy-port", "0", "--token", "a-long-token-of-the-operator"];
    let refused = builder.run_on_data(&[&start[..], &never].concat());
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("stored key of openai") && refused.stderr.contains("proxy.allow_open_relay"));

    let meant = [&never[..], &["--set", "proxy.allow_open_relay=true"]].concat();
    let server = builder.arguments(&meant).start();
    assert_eq!(server.agent("guest").ask(QUESTION).await.status, 200);
}

#[tokio::test]
async fn key_is_needed_behind_a_reverse_proxy_on_the_same_machine() {
    let provider = provider().await;
    let behind = ["--set", "auth.trusted_proxies=127.0.0.1"];
    let server = ServerBuilder::new(&provider.url()).arguments(&behind).start();
    assert_eq!(server.agent("guest").ask(QUESTION).await.status, 200, "with the client's own credential");
    store_provider_key(&server).await;
    assert_eq!(server.agent("guest").ask(QUESTION).await.status, 401);
}

#[tokio::test]
async fn provider_key_is_not_stored_where_everybody_could_use_it() {
    let provider = provider().await;
    let never = ["--bind", "0.0.0.0", "--set", "proxy.require_key=never"];
    let server = ServerBuilder::new(&provider.url()).arguments(&never).start();
    let refused =
        server.try_api(Method::PUT, "/api/providers/openai", Some(json!({"key": "sk-stored"}))).await.unwrap();
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(server.agent("guest").ask(QUESTION).await.status, 200, "with the client's own credential");
}

#[tokio::test]
async fn agent_key_shapes() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for (body, field) in [
        (json!({}), "agent"),
        (json!({"agent": "a b"}), "agent"),
        (json!({"agent": "a/b"}), "agent"),
        (json!({"agent": 7}), "agent"),
        (json!({"agent": "a", "nmae": "x"}), "nmae"),
        (json!({"agent": "a", "name": ""}), "name"),
        (json!({"agent": "a", "expires_at": "2001-01-01T00:00:00Z"}), "expires_at"),
        (json!({"agent": "a", "expires_at": "tomorrow"}), "expires_at"),
    ] {
        let refused = server.try_api(Method::POST, "/api/agent-keys", Some(body.clone())).await.unwrap();
        assert_eq!((refused.status.as_u16(), &refused.json()["field"]), (400, &json!(field)), "{body}: {refused:?}");
    }
    let body = json!({"agent": "team-a/*", "name": "ci", "expires_at": "2099-01-01T00:00:00Z"});
    let made = server.try_api(Method::POST, "/api/agent-keys", Some(body)).await.unwrap();
    assert_eq!(made.status, 201);
    let (made, listed) = (made.json(), server.get("/api/agent-keys").await);
    assert_eq!(
        (&made["agent"], &made["name"], &made["expires_at"]),
        (&json!("team-a/*"), &json!("ci"), &json!("2099-01-01T00:00:00.000Z"))
    );
    assert_eq!(listed["next_cursor"], json!(null));
    assert_eq!((&listed["items"][0]["id"], &listed["items"][0]["key"]), (&made["id"], &json!(null)));
    let path = format!("/api/agent-keys/{}", made["id"].as_str().unwrap());
    assert_eq!(server.get(&path).await, listed["items"][0]);
    let optional = json!({"agent": "a", "name": null, "expires_at": null});
    let optional = server.api(Method::POST, "/api/agent-keys", Some(optional)).await;
    assert_eq!((&optional["name"], &optional["expires_at"]), (&json!(null), &json!(null)));
    assert_eq!(server.try_api(Method::DELETE, &path, None).await.unwrap().status, 204);
    assert_eq!(server.try_api(Method::DELETE, &path, None).await.unwrap().status, 404);
    assert_eq!(server.try_api(Method::GET, &path, None).await.unwrap().status, 404);
}

#[tokio::test]
async fn flood_of_wrong_keys_is_counted_and_locks_no_one_out() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", "proxy.require_key=always"]).start();
    store_provider_key(&server).await;
    let made = server.api(Method::POST, "/api/agent-keys", Some(json!({"agent": "bot"}))).await;
    let key = made["key"].as_str().unwrap();
    let rows = async || server.get("/api/audit?limit=500").await["items"].as_array().unwrap().len();
    let before = (rows().await, server.log().lines().count());
    for number in 0..300 {
        let wrong = format!("agk_{number:049}");
        let path = format!("/agents/guess-{number}/openai/v1/chat/completions");
        assert_eq!(ask(&server, &path, &wrong).await.status, 401, "{number}");
    }
    assert_eq!(ask(&server, "/openai/v1/chat/completions", key).await.status, 200, "the right key is let in");
    // A call without a key is no guess.
    assert_eq!(server.agent("bot").ask(QUESTION).await.status, 401);
    let status = server.get("/api/status").await;
    assert_eq!(status["unauthorized_calls"]["malformed"], 300);
    assert_eq!(status["refused_callers"][0]["address"], "127.0.0.1");
    assert_eq!((&status["refused_callers"][0]["count"], &status["refused_callers"][1]), (&json!(300), &json!(null)));
    let page = server.try_api(Method::GET, "/keys", None).await.unwrap();
    assert!(String::from_utf8_lossy(&page.body).contains("127.0.0.1"), "the page of keys says where they come from");
    let listed = server.run(&["keys"]);
    assert!(listed.said().contains("300 calls with a wrong key from 127.0.0.1"), "{listed:?}");
    assert_eq!(server.log().matches("this address sends agent keys").count(), 1, "{}", server.log());
    let agents = server.get("/api/agents").await;
    assert_eq!(agents["items"].as_array().unwrap().len(), 1, "{agents}");
    assert!(server.events("guess-1", "blocked").await.is_empty());
    assert_eq!(rows().await, before.0);
    assert!(server.log().lines().count() < before.1 + 10, "{}", server.log());
}

/// Behind a reverse proxy all calls come from its address.
#[tokio::test]
async fn wrong_keys_are_counted_by_the_real_client() {
    let provider = provider().await;
    let settings = ["--set", "auth.trusted_proxies=127.0.0.1"];
    let server = ServerBuilder::new(&provider.url()).arguments(&settings).start();
    let call = |hops: &str| {
        Request::post(format!("{}/agents/bot/openai/v1/chat/completions", server.proxy))
            .header("authorization", "Bearer agk_wrong")
            .header("x-forwarded-for", hops)
            .body(Full::new(Bytes::from_static(b"{}")))
            .unwrap()
    };
    for hops in ["203.0.113.7", "198.51.100.1, 203.0.113.7", "203.0.113.8"] {
        assert_eq!(server.http.send(call(hops)).await.unwrap().status, 401);
    }
    let callers = server.get("/api/status").await["refused_callers"].clone();
    let count = |address: &str| {
        let caller = callers.as_array().unwrap().iter().find(|caller| caller["address"] == address);
        caller.map(|caller| caller["count"].clone())
    };
    let counts = ["203.0.113.7", "203.0.113.8", "198.51.100.1", "127.0.0.1"].map(count);
    assert_eq!(counts, [Some(json!(2)), Some(json!(1)), None, None]);
}

/// As the name of an agent it would be stored, and shown to everybody who may look.
#[tokio::test]
async fn secret_in_a_path_is_refused_and_stored_nowhere() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let made = server.api(Method::POST, "/api/tokens", Some(json!({"name": "ci", "role": "admin"}))).await;
    let api_token = made["token"].as_str().unwrap();
    let key = server.run(&["keys", "create", "bot"]).stdout.trim().to_owned();
    for secret in [api_token, &key, &server.token] {
        for path in [format!("/agents/{secret}/openai/v1/models"), format!("/agents/bot/openai/v1/{secret}")] {
            let refused = ask(&server, &path, "sk-own").await;
            assert_eq!(refused.status, 400, "{refused:?}");
            assert!(!String::from_utf8_lossy(&refused.body).contains(secret));
        }
    }
    assert_eq!(requests(&provider), 0);
    assert_eq!(server.get("/api/agents").await["items"], json!([]));
}

#[tokio::test]
async fn first_token_in_the_place_of_a_provider_key_is_not_sent() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let refused = ask(&server, "/agents/bot/openai/v1/chat/completions", &server.token).await;
    assert_eq!(refused.status, 401, "{refused:?}");
    assert!(!String::from_utf8_lossy(&refused.body).contains(&server.token));
    assert_eq!(requests(&provider), 0);
    let beside = Request::post(format!("{}/agents/bot/openai/v1/chat/completions?t={}", server.proxy, server.token))
        .header("authorization", "Bearer sk-own")
        .header("x-auth-token", &server.token)
        .header("x-proxy", format!("Basic {}", STANDARD.encode(format!("user:{}", server.token))))
        .body(Full::new(Bytes::from(openai_request(QUESTION).to_string())));
    assert_eq!(server.http.send(beside.unwrap()).await.unwrap().status, 200);
    let seen = provider.seen().last().unwrap();
    assert_eq!(
        (seen.uri.to_string(), seen.headers["authorization"].as_bytes()),
        ("/v1/chat/completions".to_owned(), &b"Bearer sk-own"[..])
    );
    assert!(!seen.headers.contains_key("x-auth-token") && !seen.headers.contains_key("x-proxy"), "{:?}", seen.headers);
    store_provider_key(&server).await;
    assert_eq!(ask(&server, "/agents/bot/openai/v1/chat/completions", &server.token).await.status, 200);
    assert_eq!(provider.seen().last().unwrap().headers["authorization"], "Bearer sk-stored");
}
