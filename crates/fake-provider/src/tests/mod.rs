#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod client;
mod formats;

use bytes::Bytes;
use http_body_util::Full;
use serde_json::{Value, json};

use super::*;
use client::Http;

/// The answer of a provider with this behaviour to `body` at `path`.
async fn asked(behaviour: Behaviour, path: &str, body: Value) -> anyhow::Result<Response<Bytes>> {
    let provider = FakeProvider::start(0, behaviour).await?;
    let request = Request::post(format!("{}{path}", provider.url())).body(Full::from(body.to_string()))?;
    Http::new().send(request).await
}

const CHAT: &str = "/v1/chat/completions";

fn question(stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "how are you?"}]})
}

#[tokio::test]
async fn dying_provider_breaks_off_the_body() {
    for stream in [true, false] {
        let behaviour = Behaviour::fault(Fault::DieAfter(100));
        assert!(asked(behaviour, CHAT, question(stream)).await.is_err(), "stream: {stream}");
    }
}

#[tokio::test]
async fn disconnected_caller_is_counted_as_cancelled() {
    for fault in [Fault::Stall, Fault::StallAfter(10)] {
        let provider = FakeProvider::start(0, Behaviour::fault(fault)).await.unwrap();
        let uri = format!("{}{CHAT}", provider.url());
        let call = tokio::spawn(async move {
            let request = Request::post(uri).body(Full::from(question(true).to_string())).unwrap();
            Http::new().send(request).await
        });
        provider.seen().wait_for(|counts| counts.requests == 1).await;
        call.abort();
        let counts = provider.seen().wait_for(|counts| counts.cancelled == 1).await;
        assert_eq!(counts, Counts { requests: 1, finished: 0, cancelled: 1 });
    }
}

#[tokio::test]
async fn requests_are_counted_and_the_last_one_kept() {
    let provider = FakeProvider::start(0, Behaviour::text("yes")).await.unwrap();
    let http = Http::new();
    let request = Request::post(format!("{}/v1/files?a=b", provider.url())).body(Full::from("as it came")).unwrap();
    assert_eq!(http.send(request).await.unwrap().body(), "as it came");
    let last = provider.seen().last().unwrap();
    assert_eq!((last.uri.to_string().as_str(), &last.body[..]), ("/v1/files?a=b", &b"as it came"[..]));
    provider.seen().wait_for(|counts| counts.finished == 1).await;
    let get = async |path: &str| {
        let request = Request::get(format!("{}{path}", provider.url())).body(Full::default()).unwrap();
        serde_json::from_slice::<Value>(http.send(request).await.unwrap().body()).unwrap()
    };
    assert_eq!(get("/_seen").await, json!({"requests": 1, "finished": 1, "cancelled": 0}));
    assert_eq!(get("/_last").await["body"], "as it came");
}

#[tokio::test]
async fn scripted_faults_apply_one_request_each() {
    let provider = FakeProvider::start(0, Behaviour::default()).await.unwrap();
    let http = Http::new();
    let send = async |method: &str, path: &str, body: String| {
        let uri = format!("{}{path}", provider.url());
        let request = Request::builder().method(method).uri(uri).body(Full::from(body)).unwrap();
        http.send(request).await.unwrap().status().as_u16()
    };
    assert_eq!(send("PUT", "/_faults", r#"[{"status":500},{"status":42}]"#.to_owned()).await, 400);
    assert_eq!(send("POST", CHAT, question(false).to_string()).await, 200, "a bad list changes nothing");
    assert_eq!(send("PUT", "/_faults", r#"[{"status":500},{"status":429}]"#.to_owned()).await, 200);
    for expected in [500, 429, 200] {
        assert_eq!(send("POST", CHAT, question(false).to_string()).await, expected);
    }
}

#[tokio::test]
async fn scripted_steps_go_to_requests_that_offer_their_tool() {
    let provider = FakeProvider::start(0, Behaviour::default()).await.unwrap();
    let http = Http::new();
    let send = async |method: &str, path: &str, body: Value| {
        let uri = format!("{}{path}", provider.url());
        let request = Request::builder().method(method).uri(uri).body(Full::from(body.to_string())).unwrap();
        let response = http.send(request).await.unwrap();
        (response.status().as_u16(), serde_json::from_slice::<Value>(response.body()).unwrap())
    };
    let steps = json!([{"name": "run", "arguments": {"command": "ls"}}, {"text": "a plan"}]);
    assert_eq!(send("PUT", "/_steps", json!([{"arguments": {}}])).await.0, 400);
    assert_eq!(send("PUT", "/_steps", steps).await.0, 200);

    let with_tool = |name: &str| {
        let mut body = question(false);
        body["tools"] = json!([{"type": "function", "function": {"name": name, "parameters": {}}}]);
        body
    };
    for (offered, expected) in [("title", "That is done."), ("run", ""), ("title", "a plan"), ("run", "That is done.")]
    {
        let (_, answer) = send("POST", CHAT, with_tool(offered)).await;
        let message = &answer["choices"][0]["message"];
        assert_eq!(message["content"].as_str().unwrap_or_default(), expected, "{message}");
        if expected.is_empty() {
            assert_eq!(message["tool_calls"][0]["function"]["name"], "run");
        }
    }
    let (_, progress) = send("GET", "/_steps", Value::Null).await;
    assert_eq!((progress["left"].as_u64(), progress["calls"].as_array().map(Vec::len)), (Some(0), Some(4)));
    assert_eq!(progress["calls"][1]["request"]["tools"][0]["function"]["name"], "run");

    send("PUT", "/_steps", json!([])).await;
    let (_, answer) = send("POST", CHAT, with_tool("other")).await;
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "other", "no script is left");
}
