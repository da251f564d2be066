#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use http_body_util::Full;
use serde_json::{Value, json};

use super::*;
use crate::client::Http;

/// What a provider with this behaviour answers to `body` at `path`.
async fn asked(behaviour: Behaviour, path: &str, body: Value) -> anyhow::Result<Response<Bytes>> {
    let provider = BuiltinProvider::start(0, behaviour).await?;
    let request = Request::post(format!("{}{path}", provider.url())).body(Full::from(body.to_string()))?;
    Http::new().send(request).await
}

async fn text(behaviour: Behaviour, path: &str, body: Value) -> String {
    let response = asked(behaviour, path, body).await.unwrap();
    assert_eq!(response.status(), 200);
    String::from_utf8(response.body().to_vec()).unwrap()
}

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";

fn question(stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "how are you?"}]})
}

/// The JSON of every `data:` line but `[DONE]`.
fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[tokio::test]
async fn chat_completions_are_answered() {
    let echo = Behaviour { answer: Answer::Echo, ..Behaviour::default() };
    let body: Value = serde_json::from_str(&text(echo.clone(), CHAT, question(false)).await).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"], "how are you?");
    assert_eq!(body["choices"][0]["finish_reason"], "stop");

    let stream = text(echo, CHAT, question(true)).await;
    assert!(stream.ends_with("data: [DONE]\n\n"), "{stream}");
    let events = events(&stream);
    let said: String = events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!((said.as_str(), events.len()), ("how are you?", 6));
}

#[tokio::test]
async fn messages_are_answered() {
    let echo = Behaviour { answer: Answer::Echo, chunks: 50, ..Behaviour::default() };
    let body: Value = serde_json::from_str(&text(echo.clone(), MESSAGES, question(false)).await).unwrap();
    assert_eq!(body["content"][0]["text"], "how are you?");
    assert_eq!(body["stop_reason"], "end_turn");

    let events = events(&text(echo, MESSAGES, question(true)).await);
    let said: String = events.iter().filter_map(|event| event["delta"]["text"].as_str()).collect();
    assert_eq!((said.as_str(), events.len()), ("how are you?", 55));
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

#[tokio::test]
async fn an_assistant_calls_the_tool_it_is_offered_and_then_speaks() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let mut openai = question(false);
    openai["tools"] = json!([{"type": "function", "function": {"name": "weather", "parameters": schema}}]);
    let body: Value = serde_json::from_str(&text(Behaviour::default(), CHAT, openai.clone()).await).unwrap();
    let function = &body["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!((&function["name"], &function["arguments"]), (&json!("weather"), &json!(r#"{"city":"example"}"#)));

    openai["messages"].as_array_mut().unwrap().push(json!({"role": "tool", "tool_call_id": "1", "content": "sunny"}));
    let body: Value = serde_json::from_str(&text(Behaviour::default(), CHAT, openai).await).unwrap();
    assert_eq!(body["choices"][0]["finish_reason"], "stop");

    let mut anthropic = question(true);
    anthropic["tools"] = json!([{"name": "weather", "input_schema": schema}]);
    let events = events(&text(Behaviour::default(), MESSAGES, anthropic).await);
    let arguments: String = events.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
    assert_eq!(arguments, r#"{"city":"example"}"#);
}

#[tokio::test]
async fn an_error_has_the_shape_of_its_format() {
    let behaviour = Behaviour::fault(Fault::Status(StatusCode::TOO_MANY_REQUESTS));
    for (path, pointer, expected) in
        [(CHAT, "/error/code", "rate_limit_exceeded"), (MESSAGES, "/error/type", "rate_limit_error")]
    {
        let response = asked(behaviour.clone(), path, question(true)).await.unwrap();
        let body: Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!((response.status().as_u16(), body.pointer(pointer).unwrap()), (429, &json!(expected)));
    }
}

#[tokio::test]
async fn a_provider_that_dies_breaks_off() {
    for stream in [true, false] {
        let behaviour = Behaviour::fault(Fault::DieAfter(100));
        assert!(asked(behaviour, CHAT, question(stream)).await.is_err(), "stream: {stream}");
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_is_seen() {
    for fault in [Fault::Stall, Fault::StallAfter(10)] {
        let provider = BuiltinProvider::start(0, Behaviour::fault(fault)).await.unwrap();
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
async fn it_says_what_it_saw() {
    let provider = BuiltinProvider::start(0, Behaviour::text("yes")).await.unwrap();
    let http = Http::new();
    let request =
        Request::post(format!("{}/v1/embeddings?a=b", provider.url())).body(Full::from("as it came")).unwrap();
    assert_eq!(http.send(request).await.unwrap().body(), "as it came");
    let last = provider.seen().last().unwrap();
    assert_eq!((last.uri.to_string().as_str(), &last.body[..]), ("/v1/embeddings?a=b", &b"as it came"[..]));
    provider.seen().wait_for(|counts| counts.finished == 1).await;
    let request = Request::get(format!("{}/_seen", provider.url())).body(Full::default()).unwrap();
    let counts: Counts = serde_json::from_slice(http.send(request).await.unwrap().body()).unwrap();
    assert_eq!(counts, Counts { requests: 1, finished: 1, cancelled: 0 });
}
