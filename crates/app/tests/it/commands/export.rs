//! `export`: one run on each line, whatever the layout of its bodies.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::{ServerBuilder, run};

/// The address of a provider that answers every request with `body`.
async fn reciter(body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = Response::builder().header(header::CONTENT_TYPE, "application/json");
            let answer = answer.body(Full::<Bytes>::from(body.clone())).unwrap();
            let service = service_fn(move |_| std::future::ready(Ok::<_, Infallible>(answer.clone())));
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    url
}

/// An agent is stopped at its fourth call of `path`; its incident is exported on one line and
/// replays as it was live.
async fn check(path: &str, request: Value, answer: Value) {
    let pretty = |json: &Value| serde_json::to_string_pretty(json).unwrap() + "\n";
    let url = reciter(pretty(&answer)).await;
    let server = ServerBuilder::new(&url).arguments(&["--provider", &format!("google={url}")]).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for expected in [200, 200, 200, 400] {
        let call = Request::post(format!("{}/agents/looper/{path}", server.proxy))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(pretty(&request)));
        assert_eq!(server.http.send(call.unwrap()).await.unwrap().status, expected, "{path}");
    }

    let exported = server.run_on_data(&["export"]);
    let runs: Vec<Value> = exported.said().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(runs.len(), 1, "{path}: {}", exported.stdout);
    let call = &runs[0]["calls"][0];
    assert_eq!((&call["request"], &call["response"]), (&request, &answer), "{path}: nothing is lost");

    let file = server.data_dir().join("export.jsonl");
    std::fs::write(&file, &exported.stdout).unwrap();
    let replayed = run(&["replay", "--json", "--threshold", "5", file.to_str().unwrap()]);
    let lines: Vec<Value> = replayed.said().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["killed_at"], &lines[0]["score"]), (&json!(3), &json!(7.0)), "{path}: as it was live");
    assert_eq!(lines[1]["runs"], 1, "{path}");
}

const QUESTION: &str = "Why does the import of customer records fail?";
const ANSWER: &str = "The import fails because the column is missing.";

#[tokio::test]
async fn bodies_with_line_ends_come_out_on_one_line() {
    let message = json!({"role": "assistant", "content": ANSWER});
    check(
        "openai/v1/chat/completions",
        json!({"model": "gpt-test", "messages": [{"role": "user", "content": QUESTION}]}),
        json!({"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}),
    )
    .await;
}

#[tokio::test]
async fn a_stream_that_is_an_array_comes_out_on_one_line() {
    let part = |text: &str| json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]});
    let (start, end) = ANSWER.split_at(20);
    check(
        "google/v1beta/models/gemini-test:streamGenerateContent",
        json!({"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]}),
        json!([part(start), part(end)]),
    )
    .await;
}
