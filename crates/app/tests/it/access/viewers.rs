//! What a viewer can read: no prompt, no response, and no error in which a provider repeats one.

use std::collections::BTreeSet;

use bytes::Bytes;
use fake_provider::raw::{ByteProvider, Received, Step};
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Answer, Server, ServerBuilder, eventually};

/// Words that only prompts, answers and the errors of the provider hold.
const CANARIES: [&str; 4] = ["canaryprompt", "canaryanswer", "canarytool", "canaryerror"];

/// An answer with a tool call, or an error that repeats the prompt: as a body, or in a stream.
fn answer(request: &Received) -> Vec<Step> {
    let body = String::from_utf8_lossy(&request.body);
    let message = "Your prompt 'please canaryprompt' was rejected: canaryerror.";
    let error = json!({"error": {"message": message, "type": "invalid_request_error", "code": null}}).to_string();
    let call = json!({"name": "look", "arguments": "{\"at\":\"canarytool\"}"});
    let said = json!({
        "id": "c", "object": "chat.completion", "model": "gpt-4o",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "I canaryanswer.",
            "tool_calls": [{"id": "t", "type": "function", "function": call}]}}],
    });
    let (status, kind, text) = if body.contains("in a stream") {
        ("200 OK", "text/event-stream", format!("data: {error}\n\n"))
    } else if body.contains("reject") {
        ("400 Bad Request", "application/json", error)
    } else {
        ("200 OK", "application/json", said.to_string())
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", text.len());
    vec![Step::Send((head + &text).into_bytes())]
}

fn chat(prompt: &str) -> Value {
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
    let messages = json!([{"role": "user", "content": format!("please canaryprompt {prompt}")}]);
    json!({"model": "gpt-4o", "messages": messages, "tools": tools, "stream": prompt == "in a stream"})
}

/// Everything that `token` can read: all operations of the API, and all pages that link to each
/// other.
async fn all_that_is_read(server: &Server, token: &str, ids: &[(&str, String)]) -> Vec<(String, Answer)> {
    let description = server.get("/api/openapi.json").await;
    let operations = description["paths"].as_object().unwrap().iter().filter(|(_, it)| it.get("get").is_some());
    let mut to_read: Vec<String> = operations.map(|(path, _)| path.clone()).filter(|it| it != "/api/stream").collect();
    for (place, id) in ids {
        to_read.iter_mut().for_each(|path| *path = path.replace(place, id));
    }
    to_read.extend(["/api/events/export?format=csv", "/", "/wall", "/metrics"].map(str::to_owned));
    to_read.push(format!("/search?text={}", "looper"));
    let (mut known, mut read) = (BTreeSet::new(), Vec::new());
    while let Some(path) = to_read.pop() {
        if known.len() > 400 || !known.insert(path.clone()) {
            continue;
        }
        let request =
            Request::get(format!("{}{path}", server.dashboard)).header("authorization", format!("Bearer {token}"));
        let answer = server.http.send(request.body(Full::new(Bytes::new())).unwrap()).await.unwrap();
        let text = answer.text();
        let links = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let is_page = |link: &&str| link.starts_with('/') && !link.starts_with("/static");
        to_read
            .extend(links.filter(is_page).map(|link| link.replace("&amp;", "&").split('#').next().unwrap().to_owned()));
        read.push((path, answer));
    }
    read
}

/// The text of the live stream for `token`, from now on.
async fn watch(server: &Server, token: &str) -> TcpStream {
    let address = server.dashboard.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("GET /api/stream HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut bytes = [0; 12];
    stream.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"HTTP/1.1 200");
    stream
}

/// What the stream has brought up to the kill.
async fn watched(mut stream: TcpStream) -> String {
    let mut text = String::new();
    let mut bytes = vec![0; 65536];
    while !text.contains("event: incident") {
        let count = stream.read(&mut bytes).await.unwrap();
        assert!(count > 0, "the stream ended: {text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    text
}

async fn token(server: &Server, name: &str, body: Value) -> String {
    let mut body = body;
    body["name"] = json!(name);
    server.api(Method::POST, "/api/tokens", Some(body)).await["token"].as_str().unwrap().to_owned()
}

/// A viewer, an operator of other agents, and an operator of these agents, watching.
#[tokio::test]
async fn viewer_reads_no_prompt_also_not_in_the_error_of_a_provider() {
    let provider = ByteProvider::new(answer).await;
    let flags = ["--set", "recording.agents=*"];
    let server = ServerBuilder::new(&format!("http://{}", provider.address)).arguments(&flags).start();
    for (group, agents) in [("own", "looper"), ("others", "other-*")] {
        server.api(Method::PUT, &format!("/api/groups/{group}"), Some(json!({"agents": [agents]}))).await;
    }
    let viewer = token(&server, "viewer", json!({"role": "viewer"})).await;
    let of_others = token(&server, "of-others", json!({"role": "operator", "groups": ["others"]})).await;
    let of_own = token(&server, "of-own", json!({"role": "operator", "groups": ["own"]})).await;
    let operator = token(&server, "operator", json!({"role": "operator"})).await;
    let streams = [watch(&server, &viewer).await, watch(&server, &of_others).await, watch(&server, &operator).await];

    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    let agent = server.agent("looper");
    for prompt in ["reject", "in a stream", "in a stream", "reject", "reject"] {
        agent.chat(&chat(&format!("{prompt} {}", "x".repeat(prompt.len())))).await;
        agent.chat(&chat(prompt)).await;
    }
    let failing = server.agent("failing");
    for _ in 0..12 {
        failing.chat(&chat("reject")).await;
    }
    eventually("a kill", async || agent.chat(&chat("do it")).await.is_inactive_response().then_some(())).await;
    let incident = server.incidents("looper").await[0]["id"].as_str().unwrap().to_owned();
    let failed = server.get("/api/events?failed=true").await["items"][0]["id"].as_str().unwrap().to_owned();
    let ids = [
        ("/agents/{id}", "/agents/looper".to_owned()),
        ("/incidents/{id}", format!("/incidents/{incident}")),
        ("/events/{id}", format!("/events/{failed}")),
        ("{name}", "own".to_owned()),
    ];

    for token in [&viewer, &of_others] {
        for (path, answer) in all_that_is_read(&server, token, &ids).await {
            let text = answer.text();
            for canary in CANARIES {
                assert!(!text.contains(canary), "{path} {}: {canary}", answer.status);
            }
        }
    }
    let seen: String = all_that_is_read(&server, &operator, &ids).await.iter().map(|(_, it)| it.text()).collect();
    for canary in CANARIES {
        assert!(seen.contains(canary), "an operator does not see {canary}");
    }
    let [of_viewer, of_limited, of_operator] = streams.map(watched);
    let (of_viewer, of_limited, of_operator) = tokio::join!(of_viewer, of_limited, of_operator);
    assert!(of_operator.contains("canaryerror") && of_viewer.contains("event: call"), "{of_viewer}");
    assert!(!of_viewer.contains("canary") && !of_limited.contains("canary"), "{of_viewer}");

    check_search(&server, [&viewer, &of_others, &of_own], &operator).await;
    let own = server.api_as(&of_own, Method::GET, "/api/events?agent=looper&failed=true", None).await.text();
    assert!(own.contains("canaryerror"), "{own}");
    let all = server.api_as(&of_own, Method::GET, "/api/events?agent=failing", None).await.text();
    assert!(all.contains("\"failing\"") && !all.contains("canary"), "{all}");
}

/// A search must not tell a viewer which words a hidden error holds.
async fn check_search(server: &Server, viewers: [&String; 3], operator: &str) {
    for path in ["/api/events?text=canaryerror", "/api/events/export?text=canaryerror"] {
        let read = async |token: &str| server.api_as(token, Method::GET, path, None).await.text();
        assert!(read(operator).await.contains("canaryerror"), "{path}");
        for viewer in viewers {
            let found = read(viewer).await;
            assert!(!found.contains("\"id\""), "{path}: {found}");
        }
    }
    for path in ["/requests?text=canaryerror", "/search?text=canaryerror"] {
        let finds = async |token: &str| {
            let page = server.api_as(token, Method::GET, path, None).await;
            page.text().contains("href=\"/requests/")
        };
        assert!(finds(operator).await, "{path}");
        for viewer in viewers {
            assert!(!finds(viewer).await, "{path}");
        }
    }
}
